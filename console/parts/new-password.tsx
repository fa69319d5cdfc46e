import { useState } from 'preact/hooks';
import { Field } from './form.tsx';

interface NewPasswordProps {
  readonly label: string;
  /** The user whose password it is, for managers of passwords. */
  readonly email: string;
  /** There where the user has a password, which must be given as well. */
  readonly hasPassword?: boolean;
}

/** Fields to choose a password, as members `password` and `currentPassword` of a form. The service says whether it is a good one. */
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
