import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { Badge } from './badge.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Hidden } from './hidden.tsx';
import { OverlapField } from './overlap-field.tsx';
import { ErrorNote } from './show.tsx';
import { type Column, Table } from './table.tsx';
import { Time } from './time.tsx';

type Secret = Schemas['Secret'];

export interface OwnedSecretsProps {
  readonly title: string;
  /** The secret in words, as part of a sentence: `your secret`. */
  readonly what: string;
  readonly list: () => Promise<readonly Secret[]>;
  readonly rotate: (overlapSeconds: number) => Promise<unknown>;
  /** Receives the current secret when the user has shown it. */
  readonly onShown?: (secret: string | undefined) => void;
  /** Text about the purpose of the secret. */
  readonly children: ComponentChildren;
}

/**
 * Shows and rotates secrets of the API. Secrets are requested only after a click, because the audit log records each time that one is
 * shown.
 */
export function OwnedSecrets({ title, what, list, rotate, onShown, children }: OwnedSecretsProps) {
  const [secrets, setSecrets] = useState<readonly Secret[]>();
  const [isRotating, setRotating] = useState(false);
  const show = async () => {
    const found = await list();
    setSecrets(found);
    onShown?.(found[0]?.secret);
  };
  const { run, isRunning, error } = useAction(show);
  return (
    <section class="card stack tight" aria-label={title}>
      <header class="row apart">
        <h2>{title}</h2>
        <span class="row">
          {secrets === undefined && (
            <button type="button" disabled={isRunning} onClick={() => run()}>
              Show
            </button>
          )}
          <button type="button" onClick={() => setRotating(true)}>
            Rotate
          </button>
        </span>
      </header>
      <p class="soft">{children} The audit log records each time you show or rotate a secret.</p>
      <ErrorNote error={error} />
      {secrets !== undefined && (
        <Table label={`${title}: valid secrets`} columns={columnsFor(what)} rows={secrets} keyOf={({ id }) => id} />
      )}
      {isRotating && <Rotation what={what} rotate={rotate} onRotated={show} onClose={() => setRotating(false)} />}
    </section>
  );
}

function columnsFor(what: string): readonly Column<Secret>[] {
  return [
    {
      title: 'Secret',
      cell: ({ secret }) =>
        secret === undefined ? (
          <span class="soft">
            from a release that did not store secrets. Rotate it to get a secret that can be shown
          </span>
        ) : (
          <Hidden text={secret} what={what} />
        ),
    },
    {
      title: 'Ends',
      cell: ({ expiresDate }) =>
        expiresDate === undefined ? <Badge tone="good">current</Badge> : <Time at={expiresDate} />,
    },
    { title: 'Made', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
  ];
}

interface RotationProps extends Pick<OwnedSecretsProps, 'what' | 'rotate'> {
  readonly onRotated: () => Promise<void>;
  readonly onClose: () => void;
}

function Rotation({ what, rotate, onRotated, onClose }: RotationProps) {
  const submit = async (form: FormData) => {
    await rotate(Number(form.get('overlap')));
    await onRotated();
    onClose();
  };
  return (
    <Dialog title={`Rotate ${what}`} onClose={onClose}>
      <p>
        The service creates and shows a new secret. Earlier secrets stay valid for a while, so calls keep working until
        your programs use the new one.
      </p>
      <Form action="Rotate" onSubmit={submit} onCancel={onClose}>
        <OverlapField />
      </Form>
    </Dialog>
  );
}
