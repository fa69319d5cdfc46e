import { api, ask } from '../api.ts';
import { Form } from '../parts/form.tsx';
import { NewPassword } from '../parts/new-password.tsx';
import { useWho } from '../who.ts';

/** Changes the password for the console. The service decides whether the password is strong enough; the page does not guess. */
export function Password() {
  const { session, renew } = useWho();
  const { hasPassword, email } = session.user;
  const save = async (form: FormData) => {
    const body = {
      password: String(form.get('password')),
      ...(hasPassword && { currentPassword: String(form.get('currentPassword')) }),
    };
    await ask(api.PUT('/users/me/password', { body }));
    await renew();
  };
  return (
    <section class="card stack tight" aria-label="Password">
      <h2>{hasPassword ? 'Change the password' : 'Set a password'}</h2>
      <p class="soft">
        The password is for the log-in to the console only, not for the API. When you set it, all your other sessions
        end.
      </p>
      <Form
        action={hasPassword ? 'Change the password' : 'Set the password'}
        done="The password is set. Your other sessions have ended."
        onSubmit={save}
      >
        <NewPassword label="New password" email={email} hasPassword={hasPassword} />
      </Form>
    </section>
  );
}
