import { useState } from 'preact/hooks';
import { api, ask, askPage } from '../api.ts';
import { OrganizationSecrets } from '../organization/secrets.tsx';
import { Fact } from '../parts/fact.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { OwnedSecrets } from '../parts/owned-secrets.tsx';
import { Time } from '../parts/time.tsx';
import { useMay, useWho } from '../who.ts';
import { Password } from './password.tsx';
import { UseOfApi } from './use-of-api.tsx';

/** Shows the logged-in user: names, password, and the secrets for programs. */
export function Profile() {
  const maySeeOrganizations = useMay()('modifySecurity');
  const [user, setUser] = useState<string>();
  const [organization, setOrganization] = useState<string>();
  return (
    <div class="stack">
      <h1>Profile</h1>
      <div class="columns">
        <Names />
        <Password />
      </div>
      <OwnedSecrets
        title="Your secret"
        what="your secret"
        list={async () => (await askPage(api.GET('/users/me/secrets'))).rows}
        rotate={(overlapSeconds) => ask(api.POST('/users/me/secrets', { body: { overlapSeconds } }))}
        onShown={setUser}
      >
        Programs that call the API as you send this secret. It is shown only to you.
      </OwnedSecrets>
      {maySeeOrganizations && <OrganizationSecrets onShown={setOrganization} />}
      <UseOfApi user={user} organization={organization} />
    </div>
  );
}

function Names() {
  const { session, renew } = useWho();
  const { user, account, roles, expiresDate } = session;
  const save = async (form: FormData) => {
    const body = {
      email: readText(form, 'email'),
      firstName: readText(form, 'firstName'),
      lastName: readText(form, 'lastName'),
    };
    await ask(api.PATCH('/users/me', { body }));
    await renew();
  };
  return (
    <section class="card stack" aria-label="Your names">
      <Form action="Save" done="Saved" onSubmit={save}>
        <Field
          label="E-mail address"
          name="email"
          type="email"
          value={user.email}
          required
          maxLength={320}
          autocomplete="email"
        />
        <Field
          label="First name"
          name="firstName"
          value={user.firstName}
          required
          maxLength={255}
          autocomplete="given-name"
        />
        <Field
          label="Last name"
          name="lastName"
          value={user.lastName}
          required
          maxLength={255}
          autocomplete="family-name"
        />
      </Form>
      <dl class="facts small">
        <Fact name="Account">{account.name}</Fact>
        <Fact name="Roles">{roles.join(', ') || 'none'}</Fact>
        <Fact name="Session">
          ends <Time at={expiresDate} />, or after 30 minutes without a request
        </Fact>
      </dl>
    </section>
  );
}
