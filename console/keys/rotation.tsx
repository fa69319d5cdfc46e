import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { OverlapField } from '../parts/overlap-field.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import type { AccessKey } from './access-key.ts';
import { AgentConfiguration } from './agent-configuration.tsx';

interface RotationProps {
  readonly accessKey: AccessKey;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

/** Asks how long earlier secrets of a key stay valid, and then shows the new one, which the API returns only once. */
export function Rotation({ accessKey: { id, name }, onRotated, onClose }: RotationProps) {
  const [made, setMade] = useState<string>();
  const rotate = async (form: FormData) => {
    const body = { overlapSeconds: Number(form.get('overlap')) };
    const { key } = await ask(api.POST('/keys/{id}/rotate', { params: { path: { id } }, body }));
    setMade(key);
    onRotated();
  };
  if (made !== undefined) return <NewKey name={name} text={made} onClose={onClose} />;
  return (
    <Dialog title={`Rotate ${name}`} onClose={onClose}>
      <p>The key gets a new secret. Its name and its scope stay.</p>
      <Form action="Rotate" onSubmit={rotate} onCancel={onClose}>
        <OverlapField />
      </Form>
    </Dialog>
  );
}

interface NewKeyProps {
  readonly name: string;
  readonly text: string;
  readonly onClose: () => void;
}

/** Shows a new secret. */
export function NewKey({ name, text, onClose }: NewKeyProps) {
  return (
    <ShownOnce
      title={`The key ${name}`}
      text={text}
      what="the key"
      onClose={onClose}
      uses={<AgentConfiguration accessKey={text} />}
    >
      Store the key now: it is not shown again. Programs send it as <code>Authorization: Bearer ck_…</code>, or read it
      from <code>CAUSEWAY_KEY</code>.
    </ShownOnce>
  );
}
