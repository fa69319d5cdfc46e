import { useState } from 'preact/hooks';
import { Field } from './form.tsx';

interface NewPasswordProps {
  readonly label: string;
  /** E-mail address of the user who gets the password, for password managers. */
  readonly email: string;
  /** Whether the user has a password already, which the form then asks for. */
  readonly hasPassword?: boolean;
}

/**
 * Fields to choose a password, as the members `password` and `currentPassword` of a form. The service checks whether the password is strong
 * enough.
 */
export function NewPassword({ label, email, hasPassword = false }: NewPasswordProps) {
  const [isShown, setShown] = useState(false);
  const type = isShown ? 'text' : 'password';
  return (
    <>
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
        label={label}
        name="password"
        type={type}
        required
        maxLength={1024}
        autocomplete="new-password"
        hint="12 to 256 characters of any kind. Common passwords are rejected, also with small additions, and passwords that contain your name or e-mail address."
      />
      <label class="inline">
        <input type="checkbox" checked={isShown} onChange={({ currentTarget }) => setShown(currentTarget.checked)} />
        Show what I type
      </label>
    </>
  );
}
