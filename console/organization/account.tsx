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
import { sayLacking, useMay, useWho } from '../who.ts';

type Account = Schemas['Account'];

interface AccountProps {
  readonly account: Account;
  readonly onChanged: () => void;
}

/** Shows one account, with the actions on it. */
export function AccountDetail({ id }: { readonly id: string }) {
  const loaded = useLoad((signal) => ask(api.GET('/accounts/{id}', { signal, params: { path: { id } } })), [id]);
  return (
    <Show loaded={loaded}>
      {(account) => (
        <div class="stack">
          <header class="row apart">
            <h2 class="row">
              <span class="break">{account.name}</span> <AccountState account={account} />
            </h2>
            <AccountActions account={account} onChanged={loaded.reload} />
          </header>
          <div class="columns">
            <AccountForm account={account} onChanged={loaded.reload} />
            <dl class="facts card">
              <Fact name="Id">
                <code>{account.id}</code>
              </Fact>
              <Fact name="External id">
                <code>{account.externalId}</code>
              </Fact>
              <Fact name="Created">
                <Time at={account.createdDate} />
              </Fact>
              <Fact name="Users">
                <a href={withQuery('/console/organization/users', { account: String(account.id) })}>
                  Users of the account
                </a>
              </Fact>
            </dl>
          </div>
        </div>
      )}
    </Show>
  );
}

function AccountForm({ account: { id, name, externalId, description }, onChanged }: AccountProps) {
  const mayRename = useMay()('manageOrganization');
  const save = async (form: FormData) => {
    const body = {
      name: readText(form, 'name'),
      description: readText(form, 'description'),
      ...(mayRename && { externalId: readText(form, 'externalId') }),
    };
    await ask(api.PATCH('/accounts/{id}', { params: { path: { id: String(id) } }, body }));
    onChanged();
  };
  return (
    <section class="card" aria-label="Names of the account">
      <Form action="Save" done="Saved" onSubmit={save}>
        <Field label="Name" name="name" value={name} required maxLength={255} />
        <Field
          label="External id"
          name="externalId"
          value={externalId}
          required
          maxLength={255}
          disabled={!mayRename}
          title={mayRename ? undefined : sayLacking('manageOrganization')}
          hint="Programs that use the external id need the new one immediately."
        />
        <Field label="Description" name="description" value={description} maxLength={4000} />
      </Form>
    </section>
  );
}

function AccountActions({ account, onChanged }: AccountProps) {
  const { account: current, session, workIn } = useWho();
  const [asked, setAsked] = useState<'active' | 'delete'>();
  const { route } = useLocation();
  const mayManage = useMay()('manageOrganization');
  const { id, name, active, defaultAccount } = account;
  const path = { id: String(id) };
  const close = () => setAsked(undefined);
  const setActive = async () => {
    await ask(api.PATCH('/accounts/{id}', { params: { path }, body: { active: !active } }));
    onChanged();
  };
  const remove = async () => {
    await ask(api.DELETE('/accounts/{id}', { params: { path } }));
    if (id === current.id) workIn(undefined);
    else route('/console/organization/accounts');
  };
  return (
    <div class="row">
      {mayManage && id !== current.id && (
        <button type="button" onClick={() => workIn(id === session.account.id ? undefined : { id, name })}>
          Work in this account
        </button>
      )}
      <button type="button" onClick={() => setAsked('active')}>
        {active ? 'Deactivate' : 'Activate'}
      </button>
      {mayManage && (
        <button
          type="button"
          class="danger"
          disabled={defaultAccount}
          title={defaultAccount ? 'The default account cannot be deleted.' : undefined}
          onClick={() => setAsked('delete')}
        >
          Delete
        </button>
      )}
      {asked === 'active' && (
        <Confirm
          title={`${active ? 'Deactivate' : 'Activate'} ${name}?`}
          action={active ? 'Deactivate the account' : 'Activate the account'}
          onConfirm={setActive}
          onClose={close}
        >
          {active ? (
            <p>
              Its polls stop immediately. The service still refreshes tokens, accepts webhooks, delivers events and
              accepts calls. Changes that happen meanwhile become events when the account is active again.
            </p>
          ) : (
            <p>Its polls resume at their positions. Changes that happened meanwhile become events.</p>
          )}
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm title={`Delete ${name}?`} action="Delete the account" onConfirm={remove} onClose={close}>
          <ul class="points">
            <li>
              Deleted immediately: its users and their secrets, the tokens of its instances, its polls and its OAuth
              proxies.
            </li>
            <li>Deleted soon after: its instances with their credentials, its settings and subscriptions.</li>
            <li>
              The service still sends deliveries that are due, and drops queued ones. It keeps the history for the
              retention period.
            </li>
          </ul>
          <p class="strong">You cannot undo this.</p>
        </Confirm>
      )}
    </div>
  );
}

export function AccountState({ account: { active, defaultAccount } }: { readonly account: Account }) {
  return (
    <span class="row">
      {active ? <Badge tone="good">active</Badge> : <Badge tone="warn">inactive</Badge>}
      {defaultAccount && <Badge tone="quiet">default</Badge>}
    </span>
  );
}
