import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { parseJson } from '../../src/numbers/exact-json.ts';
import { api, ask, type Schemas } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fact } from '../parts/fact.tsx';
import { useQuery, withQuery } from '../parts/query.ts';
import { ErrorNote, Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import { AttemptTable } from './attempts.tsx';
import { CHANGING, listDeliveries } from './calls.ts';
import { RetryLine } from './retries.tsx';
import { planRetries, type RetryPlan } from './retry-plan.ts';
import { DeliveryState } from './states.tsx';

type Detail = Schemas['DeliveryDetail'];
type Settings = Schemas['AccountSettings'];

const EVERY_MS = 2_000;

interface DeliveryPanelProps {
  readonly id: number;
  /** Of the list that it stands beside. */
  readonly path: string;
  readonly onClose: () => void;
}

/** One delivery: what is sent, what came of each attempt, and when it is tried again. */
export function DeliveryPanel({ id, path, onClose }: DeliveryPanelProps) {
  const loaded = useDelivery(id);
  return (
    <Dialog title={`Delivery ${id}`} onClose={onClose} isSide>
      <Show loaded={loaded} lines={12}>
        {({ delivery, settings, payload }) => (
          <>
            <Actions delivery={delivery} path={path} onRemoved={onClose} />
            <Facts delivery={delivery} />
            <h3>Attempts</h3>
            <Attempts delivery={delivery} plan={planOf(delivery, settings)} />
            <div class="row apart">
              <h3>Payload</h3>
              {payload !== undefined && <Copy text={payload} what="the payload" />}
            </div>
            {payload === undefined ? (
              <p class="soft">The event is no longer kept.</p>
            ) : (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
              <pre tabIndex={0}>{payload}</pre>
            )}
          </>
        )}
      </Show>
    </Dialog>
  );
}

/** Asked for again when something became of the delivery, which is looked at without its payload. */
function useDelivery(id: number) {
  const loaded = useLoad((signal) => readDelivery(id, signal), [id]);
  const shown = loaded.value?.delivery;
  const isOver = shown === undefined || shown.status === 'delivered';
  const now = useLoad(
    async (signal) => (await listDeliveries({ where: `id = ${id}`, pageSize: 1 }, signal)).rows[0],
    [id],
    { everyMs: isOver ? undefined : EVERY_MS },
  ).value;
  const isOld = shown !== undefined && now !== undefined && stateOf(shown) !== stateOf(now);
  const seen = now && stateOf(now);
  const { reload } = loaded;
  useEffect(() => {
    if (isOld) reload();
  }, [isOld, seen, reload]);
  return loaded;
}

function stateOf({ status, attempts, nextAttemptDate }: Schemas['Delivery']): string {
  return [status, attempts, nextAttemptDate].join();
}

async function readDelivery(id: number, signal: AbortSignal) {
  const params = { path: { id } };
  const [text, settings] = await Promise.all([
    ask(api.GET('/notifications/subscriptions/deliveries/{id}', { signal, params, parseAs: 'text' })),
    ask(api.GET('/accounts/settings', { signal })),
  ]);
  const delivery: Detail = JSON.parse(text);
  // Numbers of the payload stand there with all their digits.
  const { event }: { readonly event?: unknown } = Object(parseJson(text));
  const payload = delivery.event.data === undefined ? undefined : JSON.stringify(event, null, 2);
  return { delivery, settings, payload };
}

function planOf({ status, nextAttemptDate, attemptHistory }: Detail, settings: Settings): RetryPlan | undefined {
  if (status !== 'retrying' || nextAttemptDate === undefined) return undefined;
  if (settings['notification.webhook.failure.policy'] === 'queue') return undefined;
  return planRetries({
    attempts: attemptHistory,
    nextAttemptMs: Date.parse(nextAttemptDate),
    retryCount: settings['notification.webhook.retry.count'] === 9 ? 9 : 5,
  });
}

function Attempts({ delivery, plan }: { readonly delivery: Detail; readonly plan: RetryPlan | undefined }) {
  const { attemptHistory: attempts, status } = delivery;
  if (attempts.length === 0) {
    const why = status === 'queued' ? 'None was made: it waits to be read or released.' : 'None was made yet.';
    return <p class="soft">{why}</p>;
  }
  return (
    <>
      <RetryLine attempts={attempts} plan={plan} />
      {status === 'queued' && <p class="soft small">Nothing is planned: it waits to be read or released.</p>}
      <AttemptTable attempts={attempts} planned={plan?.planned ?? []} />
    </>
  );
}

function Facts({ delivery }: { readonly delivery: Detail }) {
  const { event, status, config, subscriptionId, instance, createdDate, updatedDate, nextAttemptDate } = delivery;
  return (
    <dl class="facts">
      <Fact name="State">
        <DeliveryState status={status} />
      </Fact>
      <Fact name="Event">
        {event.type} · <code>{event.id}</code> <Copy text={event.id} what="the id of the event" />
      </Fact>
      <Fact name="Receiver">
        <a href={`/console/events/subscriptions/${subscriptionId}`}>{config.url}</a>
      </Fact>
      {instance !== undefined && (
        <Fact name="Instance">
          <a href={`/console/instances/${instance.id}`}>#{instance.id}</a>
        </Fact>
      )}
      <Fact name="Created">
        <Time at={createdDate} />
      </Fact>
      <Fact name="Changed">
        <Time at={updatedDate} />
      </Fact>
      {nextAttemptDate !== undefined && (
        <Fact name="Next attempt">
          <Time at={nextAttemptDate} />
        </Fact>
      )}
    </dl>
  );
}

interface ActionsProps {
  readonly delivery: Detail;
  readonly path: string;
  readonly onRemoved: () => void;
}

function Actions({ delivery: { id, status }, path, onRemoved }: ActionsProps) {
  const needs = useNeeds();
  const { route } = useLocation();
  const { query } = useQuery();
  const [isAsked, setAsked] = useState(false);
  const params = { path: { id } };
  const { run, isRunning, error } = useAction(async () => {
    const again = await ask(api.POST('/notifications/subscriptions/deliveries/{id}/redelivery', { params }));
    route(withQuery(`${path}/${again.id}`, query));
  });
  return (
    <>
      <div class="row">
        <button type="button" {...needs(CHANGING)} {...(isRunning && { disabled: true })} onClick={() => run()}>
          Send again
        </button>
        {status === 'queued' && (
          <button type="button" class="danger" {...needs(CHANGING)} onClick={() => setAsked(true)}>
            Acknowledge…
          </button>
        )}
      </div>
      <ErrorNote error={error} />
      {isAsked && (
        <Confirm
          title={`Acknowledge delivery ${id}`}
          action="Acknowledge"
          onConfirm={async () => {
            await ask(api.DELETE('/notifications/subscriptions/deliveries/{id}', { params }));
            onRemoved();
          }}
          onClose={() => setAsked(false)}
        >
          <p>It is removed and will not be delivered. Do this once you have read and kept its event.</p>
        </Confirm>
      )}
    </>
  );
}
