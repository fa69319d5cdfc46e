import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, askPage, type Schemas } from '../api.ts';
import type { PageProps } from '../navigation.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery } from '../parts/query.ts';
import { Search } from '../parts/search.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { containing } from '../where-text.ts';
import { useMay } from '../who.ts';
import { AccountDetail, AccountState } from './account.tsx';

type Account = Schemas['Account'];

const PATH = '/console/organization/accounts';
const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Account>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'External id', cell: ({ externalId }) => <code>{externalId}</code> },
  { title: 'State', cell: (account) => <AccountState account={account} /> },
  { title: 'Description', isMinor: true, cell: ({ description }) => description },
  { title: 'Created', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
];

/** Lists the accounts of the organization, or shows the one that the path names. */
export function Accounts({ below }: PageProps) {
  return below === undefined ? <AccountList /> : <AccountDetail key={below} id={below} />;
}

function AccountList() {
  const may = useMay();
  const {
    query: { q = '' },
    change,
  } = useQuery();
  const [isAdding, setAdding] = useState(false);
  const where = containing(['name', 'externalId', 'description'], q);
  const list = usePages(
    (nextPage, signal) => {
      const query = { pageSize: PAGE_SIZE, ...(where && { where }), ...(nextPage && { nextPage }) };
      return askPage(api.GET('/accounts', { signal, params: { query } }));
    },
    [where],
  );
  return (
    <>
      <div class="row">
        <div class="grow">
          <Search label="Search accounts" value={q} onSettled={(words) => change({ q: words })} />
        </div>
        {may('manageOrganization') && (
          <button type="button" class="main" onClick={() => setAdding(true)}>
            Add an account
          </button>
        )}
      </div>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No account matches in its name, external id or description." />
          ) : (
            <Table
              label="Accounts"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `${PATH}/${id}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
      {isAdding && <AddAccount onClose={() => setAdding(false)} />}
    </>
  );
}

function AddAccount({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const add = async (form: FormData) => {
    const given = (['name', 'description'] as const)
      .map((key) => [key, readText(form, key)] as const)
      .filter(([, text]) => text !== '');
    const body = { externalId: readText(form, 'externalId'), ...Object.fromEntries(given) };
    const { id } = await ask(api.POST('/accounts', { body }));
    onClose();
    route(`${PATH}/${id}`);
  };
  return (
    <Dialog title="Add an account" onClose={onClose}>
      <p class="soft">An account has its own instances, users, events and settings. No other account sees them.</p>
      <Form action="Add the account" onSubmit={add} onCancel={onClose}>
        <Field
          label="External id"
          name="externalId"
          required
          maxLength={255}
          hint="Your own unique id of the account, such as the id of a customer."
        />
        <Field label="Name" name="name" maxLength={255} hint="The external id by default." />
        <Field label="Description" name="description" maxLength={4000} />
      </Form>
    </Dialog>
  );
}
