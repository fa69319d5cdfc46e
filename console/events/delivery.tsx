import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { parseJson } from '../../src/numbers/exact-json.ts';
import { api, ask, type Schemas } from '../api.ts';
import { pathOfJob } from '../bulk/paths.ts';
import { pathOf } from '../explore/address.ts';
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
import { CHANGING, type Delivery, type DeliveryStatus, listDeliveries } from './calls.ts';
import { PAGES } from './operational.tsx';
import { RequestHeaders } from './request-headers.tsx';
import { RetryLine } from './retries.tsx';
import { planRetries, type RetryPlan } from './retry-plan.ts';
import { DeliveryState } from './states.tsx';

type Detail = Schemas['DeliveryDetail'];
type Settings = Schemas['AccountSettings'];

/** Milliseconds between two requests for a delivery, by its status. Undefined for a delivered one, which never changes. */
const EVERY_MS: Readonly<Record<DeliveryStatus, number | undefined>> = {
  delivering: 1_000,
  retrying: 2_000,
  queued: 5_000,
  delivered: undefined,
};
const MOST_SIBLINGS = 10;

interface DeliveryPanelProps {
  readonly id: number;
  /** Path of the list that the panel is shown beside. */
  readonly path: string;
  readonly onClose: () => void;
  /** Reloads the list after the delivery has changed, or another delivery of its event was created. */
  readonly onChange?: () => void;
}

/** Shows one delivery: its content, the outcome of each attempt, and the time of the next one. */
export function DeliveryPanel({ id, path, onClose, onChange }: DeliveryPanelProps) {
  const { isGone, ...loaded } = useDelivery(id, onChange);
  return (
    <Dialog title={`Delivery ${id}`} onClose={onClose} isSide>
      <Show loaded={loaded} lines={12}>
        {({ delivery, settings, payload }) => (
          <>
            {isGone && (
              <p role="status">
                The delivery was acknowledged, or its retention period is over. This page shows its last state.
              </p>
            )}
            {!isGone && <Actions delivery={delivery} path={path} onRemoved={onClose} onSentAgain={onChange} />}
            <Facts delivery={delivery} />
            <Siblings delivery={delivery} path={path} />
            <h3>Attempts</h3>
            <Attempts delivery={delivery} plan={planOf(delivery, settings)} />
            <RequestHeaders attempts={delivery.attemptHistory} />
            <div class="row apart">
              <h3>Payload</h3>
              {payload !== undefined && <Copy text={payload} what="the payload" />}
            </div>
            {payload === undefined ? (
              <p class="soft">The service has deleted the event.</p>
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

/** Requests the delivery, without its payload, until it is delivered or deleted, and again with it after a change. */
function useDelivery(id: number, onChange: (() => void) | undefined) {
  const loaded = useLoad((signal) => readDelivery(id, signal), [id]);
  const shown = loaded.value?.delivery;
  const [isGone, setGone] = useState(false);
  const looked = useLoad(
    async (signal) => (await listDeliveries({ where: `id = ${id}`, pageSize: 1 }, signal)).rows,
    [id],
    { everyMs: isGone || shown === undefined ? undefined : EVERY_MS[shown.status] },
  ).value;
  const now = looked?.[0];
  const hasGone = looked?.length === 0;
  const isOld = shown !== undefined && now !== undefined && stateOf(shown) !== stateOf(now);
  const seen = now && stateOf(now);
  const { reload } = loaded;
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    if (hasGone) setGone(true);
    if (isOld) reload();
    if (hasGone || isOld) latest.current?.();
  }, [hasGone, isOld, seen, reload]);
  return { ...loaded, isGone };
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
  // The payload is parsed so that its numbers keep all their digits.
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
    const why =
      status === 'queued'
        ? 'There were no attempts: the delivery waits to be read or released.'
        : 'There were no attempts yet.';
    return <p class="soft">{why}</p>;
  }
  return (
    <>
      <RetryLine attempts={attempts} plan={plan} />
      {status === 'queued' && (
        <p class="soft small">No attempt is planned: the delivery waits to be read or released.</p>
      )}
      <AttemptTable attempts={attempts} planned={plan?.planned ?? []} />
    </>
  );
}

/** Links to the other deliveries of the same event: to other receivers, or redeliveries. */
function Siblings({ delivery: { id, event, status }, path }: { readonly delivery: Detail; readonly path: string }) {
  const { query } = useQuery();
  const { value: others = [] } = useLoad(
    async (signal): Promise<readonly Delivery[]> => {
      const { rows } = await listDeliveries({ where: `event.id = '${event.id}'`, pageSize: MOST_SIBLINGS }, signal);
      return rows.filter((row) => row.id !== id);
    },
    [id, event.id, status],
  );
  if (others.length === 0) return null;
  return (
    <nav class="row small" aria-label="Other deliveries of this event">
      <span class="soft">Also sent as</span>
      {others.map((other) => (
        <span key={other.id} class="row">
          <a href={withQuery(`${path}/${other.id}`, query)}>delivery {other.id}</a>
          <DeliveryState status={other.status} />
        </span>
      ))}
    </nav>
  );
}

function Facts({ delivery }: { readonly delivery: Detail }) {
  const { event, status, config, subscriptionId, instance, record } = delivery;
  const { createdDate, updatedDate, nextAttemptDate } = delivery;
  return (
    <dl class="facts">
      <Fact name="State">
        <DeliveryState status={status} />
      </Fact>
      <Fact name="Event">
        {event.type} · <code>{event.id}</code> <Copy text={event.id} what="the id of the event" />
      </Fact>
      {record !== undefined && (
        <Fact name="Record">
          <RecordLink record={record} instanceId={instance?.id} isGone={event.type.endsWith('.deleted')} />
        </Fact>
      )}
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

interface RecordLinkProps {
  readonly record: Schemas['EventRecord'];
  readonly instanceId: number | undefined;
  /** Whether the record was deleted at the provider. */
  readonly isGone: boolean;
}

/** Shows the record by its name, with a link to its page or to the records of its object. A deleted record has no link. */
function RecordLink({ record, instanceId, isGone }: RecordLinkProps) {
  const { objectName, id, name } = record;
  const label = (
    <>
      {name ?? objectName} {id !== undefined && <code>{id}</code>}
    </>
  );
  const page = instanceId === undefined ? ownPage(record) : pageOnInstance(record, instanceId);
  return (
    <>
      {page === undefined || isGone ? label : <a href={page}>{label}</a>}{' '}
      {name !== undefined && <span class="soft">{objectName}</span>}
    </>
  );
}

function ownPage({ objectName, id }: RecordLinkProps['record']): string | undefined {
  const page = PAGES[`${objectName}Id`];
  return page === undefined || id === undefined ? undefined : `${page.path}/${id}`;
}

function pageOnInstance({ objectName, id }: RecordLinkProps['record'], instanceId: number): string | undefined {
  if (id === undefined) return undefined;
  return objectName === 'bulk' ? pathOfJob(Number(id), instanceId) : pathOf(instanceId, objectName);
}

interface ActionsProps {
  readonly delivery: Detail;
  readonly path: string;
  readonly onRemoved: () => void;
  readonly onSentAgain: (() => void) | undefined;
}

function Actions({ delivery: { id, status }, path, onRemoved, onSentAgain }: ActionsProps) {
  const needs = useNeeds();
  const { route } = useLocation();
  const { query } = useQuery();
  const [isAsked, setAsked] = useState(false);
  const params = { path: { id } };
  const { run, isRunning, error } = useAction(async () => {
    const again = await ask(api.POST('/notifications/subscriptions/deliveries/{id}/redelivery', { params }));
    route(withQuery(`${path}/${again.id}`, query));
    onSentAgain?.();
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
          <p>The service removes the delivery and does not send it. Acknowledge it after you have stored its event.</p>
        </Confirm>
      )}
    </>
  );
}
