import { useState } from 'preact/hooks';
import { api, ask } from '../api.ts';
import { useAction } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, type Subscription } from './calls.ts';

/** The text in place of a hidden secret. */
const MASK = '••••••••••••••••';

interface SecretProps {
  readonly subscription: Subscription;
  readonly reload: () => void;
}

/** Shows the signing secret, which is requested only after a click. */
export function Secret({ subscription: { id, previousSecretExpiresAt }, reload }: SecretProps) {
  const needs = useNeeds();
  const [secret, setSecret] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  const params = { path: { id } };
  const { run, isRunning, error } = useAction(async () => {
    setSecret((await ask(api.GET('/notifications/subscriptions/{id}', { params }))).secret);
  });
  const rotate = async () => {
    const body = { rotateSecret: true } as const;
    setSecret((await ask(api.PATCH('/notifications/subscriptions/{id}', { params, body }))).secret);
    reload();
  };
  return (
    <section class="card stack tight" aria-label="Signing secret">
      <h3>Signing secret</h3>
      <p class="row">
        <code class="break" data-secret>
          {secret ?? MASK}
        </code>
      </p>
      <div class="row">
        {secret === undefined ? (
          <button type="button" {...needs(CHANGING)} {...(isRunning && { disabled: true })} onClick={() => run()}>
            Reveal
          </button>
        ) : (
          <>
            <Copy text={secret} what="the secret" label="Copy the secret" />
            <button type="button" onClick={() => setSecret(undefined)}>
              Hide
            </button>
          </>
        )}
        <button type="button" {...needs(CHANGING)} onClick={() => setAsked(true)}>
          Rotate…
        </button>
      </div>
      <ErrorNote error={error} />
      <p class="small soft">
        {previousSecretExpiresAt === undefined ? (
          'The service signs deliveries with it, as Standard Webhooks defines. The audit log records that you revealed it.'
        ) : (
          <>
            The previous secret is also valid. It expires <Time at={previousSecretExpiresAt} />. Until then, deliveries
            have a signature of each secret.
          </>
        )}
      </p>
      {isAsked && (
        <Confirm title="Rotate the secret" action="Rotate" onConfirm={rotate} onClose={() => setAsked(false)}>
          <p>
            The service creates a new secret. The current one stays valid for 24 hours. Until then, deliveries have a
            signature of each, so receivers can change at any time.
          </p>
          {previousSecretExpiresAt !== undefined && (
            <p class="note warn">
              The secret was rotated less than 24 hours ago. If you rotate it again, the oldest one expires immediately.
            </p>
          )}
          <p>If a secret has leaked, rotate twice.</p>
        </Confirm>
      )}
    </section>
  );
}
