import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { Field, Form } from '../parts/form.tsx';
import { useWho } from '../who.ts';

/** The password of the console. Whether it is a good one the service says: nothing is guessed here. */
export function Password() {
  const { session, renew } = useWho();
  const [isShown, setShown] = useState(false);
  const { hasPassword, email } = session.user;
  const type = isShown ? 'text' : 'password';
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
        For the log-in to the console: it is no secret of the API. All your other sessions end when it is set.
      </p>
      <Form
        action={hasPassword ? 'Change the password' : 'Set the password'}
        done="The password is set; your other sessions have ended."
        onSubmit={save}
      >
        {/* For managers of passwords. */}
        <input type="hidden" name="username" autocomplete="username" value={email} />
        {hasPassword && (
          <Field
            label="Current password"
            name="currentPassword"
            type={type}
            required
            maxLength={1024}
            autocomplete="current-password"
          />
        )}
        <Field
          label="New password"
          name="password"
          type={type}
          required
          maxLength={1024}
          autocomplete="new-password"
          hint="12 to 256 characters of any kind. Common passwords are refused, also with a little added, and those made of your own name or e-mail address."
        />
        <label class="inline">
          <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
          Show what I type
        </label>
      </Form>
    </section>
  );
}
