import { useState } from 'preact/hooks';
import { api, ask, askPage, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { useMay, useWho } from '../who.ts';
import { useAccountNames } from './names.ts';
import { ROLES, refusalOf } from './roles-of-users.ts';

type CreatedUser = Schemas['CreatedUser'];

interface AddUserProps {
  /** Id of the account that is chosen at first. Empty for the account that the user works in. */
  readonly accountId: string;
  readonly onAdded: () => void;
  readonly onClose: () => void;
}

/** Asks for the data of a user, and then shows the secret, which later only the user can see. */
export function AddUser({ accountId, onAdded, onClose }: AddUserProps) {
  const [added, setAdded] = useState<CreatedUser>();
  const isForAll = useMay()('addOrganizationUsers');
  const { account } = useWho();
  const add = async (form: FormData) => {
    const body = {
      email: readText(form, 'email'),
      firstName: readText(form, 'firstName'),
      lastName: readText(form, 'lastName'),
      active: true,
      roles: form.getAll('roles').map(String),
    };
    const id = isForAll ? Number(form.get('accountId')) : account.id;
    setAdded(
      await ask(
        isForAll
          ? api.POST('/organizations/users', { body: { ...body, accountId: id } })
          : api.POST('/accounts/{id}/users', { params: { path: { id: String(id) } }, body }),
      ),
    );
    onAdded();
  };
  if (added !== undefined) return <NewSecret user={added} onClose={onClose} />;
  return (
    <Dialog title="Add a user" onClose={onClose}>
      <Form action="Add the user" onSubmit={add} onCancel={onClose}>
        <Field label="E-mail address" name="email" type="email" required maxLength={320} autocomplete="off" />
        <Field label="First name" name="firstName" required maxLength={255} autocomplete="off" />
        <Field label="Last name" name="lastName" required maxLength={255} autocomplete="off" />
        {isForAll && <AccountChoice first={accountId === '' ? account.id : Number(accountId)} />}
        <RoleChoice />
      </Form>
    </Dialog>
  );
}

function AccountChoice({ first }: { readonly first: number }) {
  const { value } = useLoad((signal) => askPage(api.GET('/accounts', { signal, params: { query: {} } })), []);
  const names = useAccountNames([first]);
  const rows = value?.rows ?? [];
  const isListed = rows.some(({ id }) => id === first);
  return (
    <div class="field">
      <label>
        Account
        <select name="accountId" key={rows.length}>
          {!isListed && <option value={first}>{names.get(first) ?? `Account ${first}`}</option>}
          {rows.map(({ id, name, externalId }) => (
            <option key={id} value={id} selected={id === first}>
              {name} ({externalId})
            </option>
          ))}
        </select>
      </label>
      {value?.nextPage !== undefined && (
        <p class="small soft">There are more accounts. For another account, open its page and add the user there.</p>
      )}
    </div>
  );
}

/** A choice of roles. Roles that the user cannot grant are disabled. */
export function RoleChoice() {
  const { session } = useWho();
  return (
    <fieldset class="stack tight plain">
      <legend>Roles</legend>
      {ROLES.map(({ key, title, says }) => {
        const refusal = refusalOf(key, session.roles);
        return (
          <label key={key} class="inline" title={refusal}>
            <input
              type="checkbox"
              name="roles"
              value={key}
              defaultChecked={key === 'default-user'}
              disabled={refusal !== undefined}
            />
            <span>
              {title} <span class="soft small">{says}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

function NewSecret({ user, onClose }: { readonly user: CreatedUser; readonly onClose: () => void }) {
  return (
    <ShownOnce title={`${user.fullName} was added`} text={user.secret} what="the secret of the user" onClose={onClose}>
      This is the secret of the user. It is shown only now. Send it to {user.email} in a safe way. With it and the
      secret of the organization, the user logs in, and can set a password in the profile. For people, use an invitation
      instead: it needs no secret.
    </ShownOnce>
  );
}
