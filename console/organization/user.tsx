import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Fact } from '../parts/fact.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { withQuery } from '../parts/query.ts';
import { Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { useMay, useRefusal, useWho } from '../who.ts';
import { useAccountNames } from './names.ts';
import { type UserProps, UserRoles } from './user-roles.tsx';

type User = Schemas['User'];

const EDIT = ['editOrganizationUsers', 'editAccountUsers'];
const DELETE = ['deleteOrganizationUsers', 'deleteAccountUsers'];

/** Shows one user, with the actions on the user. */
export function UserDetail({ id }: { readonly id: string }) {
  const loaded = useLoad(
    (signal) => ask(api.GET('/users/{emailOrId}', { signal, params: { path: { emailOrId: id } } })),
    [id],
  );
  return (
    <Show loaded={loaded}>
      {(user) => (
        <div class="stack">
          <header class="row apart">
            <h2 class="row">
              <span class="break">{user.fullName}</span> <UserState active={user.active} />
            </h2>
            <UserActions user={user} onChanged={loaded.reload} />
          </header>
          <div class="columns">
            <UserForm user={user} onChanged={loaded.reload} />
            <div class="stack">
              <UserRoles user={user} onChanged={loaded.reload} />
              <UserFacts user={user} />
            </div>
          </div>
        </div>
      )}
    </Show>
  );
}

function UserFacts({ user }: { readonly user: User }) {
  const accounts = useAccountNames([user.accountId]);
  const mayReadLog = useMay()('viewOrganizationLogs', 'viewAccountLogs');
  return (
    <dl class="facts card">
      <Fact name="Id">
        <code>{user.id}</code>
      </Fact>
      <Fact name="Account">{accounts.get(user.accountId) ?? user.accountId}</Fact>
      <Fact name="Added">
        <Time at={user.createdDate} />
      </Fact>
      <Fact name="Last log-in">
        <Time at={user.lastLoginDate} />
      </Fact>
      {mayReadLog && (
        <Fact name="Changes">
          <a href={withQuery('/console/organization/audit', { user: user.email })}>Audit log of the user</a>
        </Fact>
      )}
    </dl>
  );
}

function UserForm({ user, onChanged }: UserProps) {
  const refusal = useRefusal(EDIT);
  const save = async (form: FormData) => {
    const externalId = readText(form, 'externalId');
    const body = {
      email: readText(form, 'email'),
      firstName: readText(form, 'firstName'),
      lastName: readText(form, 'lastName'),
      externalId: externalId === '' ? null : externalId,
    };
    await ask(api.PATCH('/users/{emailOrId}', { params: { path: { emailOrId: String(user.id) } }, body }));
    onChanged();
  };
  const same = { disabled: refusal !== undefined, title: refusal, maxLength: 255 };
  return (
    <section class="card" aria-label="Names of the user">
      <Form action="Save" done="Saved" onSubmit={save} refusal={refusal}>
        <Field {...same} label="E-mail address" name="email" type="email" value={user.email} required maxLength={320} />
        <Field {...same} label="First name" name="firstName" value={user.firstName} required />
        <Field {...same} label="Last name" name="lastName" value={user.lastName} required />
        <Field
          {...same}
          label="External id"
          name="externalId"
          value={user.externalId ?? ''}
          hint="Id of the user in your own system."
        />
      </Form>
    </section>
  );
}

function UserActions({ user, onChanged }: UserProps) {
  const { session } = useWho();
  const { route } = useLocation();
  const [asked, setAsked] = useState<'active' | 'delete'>();
  const oneself =
    user.id === session.user.id ? 'This is your own user. Ask another administrator to change it.' : undefined;
  const editRefusal = useRefusal(EDIT) ?? oneself;
  const deleteRefusal = useRefusal(DELETE) ?? oneself;
  const params = { path: { emailOrId: String(user.id) } };
  const close = () => setAsked(undefined);
  const setActive = async () => {
    await ask(api.PATCH('/users/{emailOrId}', { params, body: { active: !user.active } }));
    onChanged();
  };
  const remove = async () => {
    await ask(api.DELETE('/users/{emailOrId}', { params }));
    route('/console/organization/users');
  };
  return (
    <div class="row">
      <button type="button" disabled={editRefusal !== undefined} title={editRefusal} onClick={() => setAsked('active')}>
        {user.active ? 'Deactivate' : 'Activate'}
      </button>
      <button
        type="button"
        class="danger"
        disabled={deleteRefusal !== undefined}
        title={deleteRefusal}
        onClick={() => setAsked('delete')}
      >
        Delete
      </button>
      {asked === 'active' && (
        <Confirm
          title={`${user.active ? 'Deactivate' : 'Activate'} ${user.fullName}?`}
          action={user.active ? 'Deactivate the user' : 'Activate the user'}
          onConfirm={setActive}
          onClose={close}
        >
          <p>
            {user.active
              ? 'The secrets of the user stop working immediately, also in programs, and all sessions of the user end.'
              : 'The secrets and the password of the user work again.'}
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm title={`Delete ${user.fullName}?`} action="Delete the user" onConfirm={remove} onClose={close}>
          <p>
            The secrets of the user stop working immediately, also in programs. The e-mail address can be used again.
            Everything that the user created stays, with the name of the user. You cannot undo this.
          </p>
        </Confirm>
      )}
    </div>
  );
}

export function UserState({ active }: Pick<User, 'active'>) {
  return active ? <Badge tone="good">active</Badge> : <Badge tone="warn">inactive</Badge>;
}
