import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Form, readText } from '../parts/form.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { Time } from '../parts/time.tsx';
import { useWho } from '../who.ts';
import { RoleChoice } from './add-user.tsx';

type CreatedInvitation = Schemas['CreatedInvitation'];

interface InviteProps {
  readonly onInvited: () => void;
  readonly onClose: () => void;
}

const LIFETIMES = [
  [604_800, 'in a week'],
  [86_400, 'in a day'],
  [2_592_000, 'in 30 days'],
] as const;

/** Asks for the person to invite, and then shows the link, which the API returns only once. */
export function Invite({ onInvited, onClose }: InviteProps) {
  const [made, setMade] = useState<CreatedInvitation>();
  const { account } = useWho();
  const invite = async (form: FormData) => {
    const body = {
      email: readText(form, 'email'),
      roles: form.getAll('roles').map(String),
      expiresIn: Number(form.get('expiresIn')),
    };
    setMade(await ask(api.POST('/organizations/me/invitations', { body })));
    onInvited();
  };
  if (made !== undefined) return <NewLink invitation={made} onClose={onClose} />;
  return (
    <Dialog title="Invite a teammate" onClose={onClose}>
      <p class="soft">
        You get a link for one person, who chooses a name and a password, and works in the account {account.name}.
      </p>
      <Form action="Create the link" onSubmit={invite} onCancel={onClose}>
        <Field label="E-mail address" name="email" type="email" required maxLength={320} autocomplete="off" />
        <RoleChoice />
        <label>
          The link expires
          <select name="expiresIn">
            {LIFETIMES.map(([seconds, says]) => (
              <option key={seconds} value={seconds}>
                {says}
              </option>
            ))}
          </select>
        </label>
      </Form>
    </Dialog>
  );
}

function NewLink({ invitation, onClose }: { readonly invitation: CreatedInvitation; readonly onClose: () => void }) {
  const { email, url, expiresDate } = invitation;
  return (
    <ShownOnce title={`The link for ${email}`} text={url} what="the link of the invitation" onClose={onClose}>
      Send this link to {email} yourself. It is shown only now, works once, and expires <Time at={expiresDate} />.
    </ShownOnce>
  );
}
