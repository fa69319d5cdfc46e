import { useState } from 'preact/hooks';
import { api, askPage, type Schemas } from '../api.ts';
import type { PageProps } from '../navigation.ts';
import { Badge } from '../parts/badge.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Search } from '../parts/search.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { containing } from '../where-text.ts';
import { useMay } from '../who.ts';
import { AddUser } from './add-user.tsx';
import { Invitations } from './invitations.tsx';
import { useAccountNames } from './names.ts';
import { UserDetail, UserState } from './user.tsx';

type User = Schemas['User'];

const PATH = '/console/organization/users';
const PAGE_SIZE = 50;
const SEARCHED = ['email', 'firstName', 'lastName', 'externalId'];

/** Lists the users whom the user can see, or shows the one that the path names. */
export function Users({ below }: PageProps) {
  return below === undefined ? <UserList /> : <UserDetail key={below} id={below} />;
}

function UserList() {
  const may = useMay();
  const {
    query: { q = '', account = '' },
    change,
  } = useQuery();
  const [isAdding, setAdding] = useState(false);
  const [isInviting, setInviting] = useState(false);
  const mayAdd = may('addOrganizationUsers', 'addAccountUsers');
  const where = [containing(SEARCHED, q), /^\d+$/.test(account) ? `accountId = ${account}` : undefined]
    .filter((part) => part !== undefined)
    .map((part) => `(${part})`)
    .join(' AND ');
  const list = usePages(
    (nextPage, signal) => {
      const query = { pageSize: PAGE_SIZE, ...(where && { where }), ...(nextPage && { nextPage }) };
      return askPage(api.GET('/users', { signal, params: { query } }));
    },
    [where],
  );
  const accounts = useAccountNames((list.value?.rows ?? []).map(({ accountId }) => accountId));
  const columns: readonly Column<User>[] = [
    { title: 'E-mail', cell: ({ email }) => email },
    { title: 'Name', isMinor: true, cell: ({ fullName }) => fullName },
    { title: 'Roles', cell: ({ roles }) => <RoleBadges roles={roles} /> },
    { title: 'State', cell: ({ active }) => <UserState active={active} /> },
    { title: 'Account', isMinor: true, cell: ({ accountId }) => accounts.get(accountId) ?? accountId },
    { title: 'Last log-in', isMinor: true, cell: ({ lastLoginDate }) => <Time at={lastLoginDate} /> },
  ];
  return (
    <>
      <div class="row">
        <div class="grow">
          <Search label="Search users" value={q} onSettled={(words) => change({ q: words })} />
        </div>
        {mayAdd && (
          <>
            <button type="button" onClick={() => setAdding(true)}>
              Add a user
            </button>
            <button type="button" class="main" onClick={() => setInviting(true)}>
              Invite a teammate
            </button>
          </>
        )}
      </div>
      {account !== '' && (
        <p class="row">
          Only users of the account {accounts.get(Number(account)) ?? account}
          <button type="button" class="plain" onClick={() => change({ account: '' })}>
            Show all
          </button>
        </p>
      )}
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title={q === '' ? 'The account has no users yet.' : 'No user matches in name or e-mail address.'}>
              {q === '' && 'Invite one. The link in the invitation lets the user choose a password.'}
            </Empty>
          ) : (
            <Table
              label="Users"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `${PATH}/${id}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
      {mayAdd && <Invitations isInviting={isInviting} onClose={() => setInviting(false)} />}
      {isAdding && <AddUser accountId={account} onAdded={list.reload} onClose={() => setAdding(false)} />}
    </>
  );
}

function RoleBadges({ roles }: Pick<User, 'roles'>) {
  return (
    <span class="row">
      {roles.map((role) => (
        <Badge key={role} tone="quiet">
          {role}
        </Badge>
      ))}
    </span>
  );
}
