import { useEffect, useState } from 'preact/hooks';
import { api, ask, type Session } from './api.ts';
import { useLoad } from './load.ts';
import { Field, Form, readText } from './parts/form.tsx';
import { NewPassword } from './parts/new-password.tsx';
import { Show } from './parts/show.tsx';
import { Time } from './parts/time.tsx';

export const INVITATION_PATH = '/console/invitation';

/**
 * The page behind the link in an invitation. The invited user chooses a name and a password, and is then logged in. The key follows the `#`
 * of the address, which browsers send to no server.
 */
export function Invitation({ onDone }: { readonly onDone: (session: Session) => void }) {
  const [token, setToken] = useState(readToken);
  useEffect(() => {
    const readAgain = () => setToken(readToken());
    addEventListener('hashchange', readAgain);
    return () => removeEventListener('hashchange', readAgain);
  }, []);
  const loaded = useLoad((signal) => ask(api.POST('/console/invitation', { signal, body: { token } })), [token]);
  const accept = async (form: FormData) => {
    const password = String(form.get('password'));
    const chosen = { firstName: readText(form, 'firstName'), lastName: readText(form, 'lastName'), password };
    const { email, organizationId } = await ask(
      api.POST('/console/invitation/acceptance', { body: { token, ...chosen } }),
    );
    onDone(await ask(api.POST('/console/session', { body: { email, password, organizationId } })));
  };
  return (
    <main class="centered">
      <section class="card stack" aria-label="Invitation">
        <h1>Join Causeway</h1>
        <Show loaded={loaded}>
          {({ email, organizationName, accountName, inviterName, expiresDate }) => (
            <>
              <p>
                {inviterName} invites you to the account <strong>{accountName}</strong> of{' '}
                <strong>{organizationName}</strong>. You log in as <strong class="break">{email}</strong>.
              </p>
              <Form action="Join" onSubmit={accept}>
                <Field label="First name" name="firstName" required maxLength={255} autocomplete="given-name" />
                <Field label="Last name" name="lastName" required maxLength={255} autocomplete="family-name" />
                <NewPassword label="Password" email={email} />
              </Form>
              <p class="small soft">
                The link works once. It expires <Time at={expiresDate} />.
              </p>
            </>
          )}
        </Show>
        <p class="small soft">
          Already a user? <a href="/console">Log in</a>
        </p>
      </section>
    </main>
  );
}

function readToken(): string {
  return location.hash.slice(1);
}
