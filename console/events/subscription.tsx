import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, askPage } from '../api.ts';
import { useLoad } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Fact } from '../parts/fact.tsx';
import { withQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, listDeliveries, type Subscription } from './calls.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { type EndpointChanges, EndpointForm } from './endpoint-form.tsx';
import { EndpointTest } from './endpoint-test.tsx';
import { EventTypes } from './event-types.tsx';
import { Secret } from './secret.tsx';
import { EndpointState } from './states.tsx';
import { sayTally } from './subscriptions.tsx';
import { TestEvent } from './test-event.tsx';

const PATH = '/console/events/subscriptions';
const EVERY_MS = 2_000;
const MOST_SHOWN = 10;

/** Shows one subscription: its waiting deliveries, its secret, and new deliveries as they arrive. */
export function SubscriptionPage({ id }: { readonly id: number }) {
  // Read from the list, which has no secret, so that opening the page does not count as showing one.
  const loaded = useLoad(
    async (signal) => {
      const params = { query: { where: `id = ${id}`, pageSize: 1 } };
      return (await askPage(api.GET('/notifications/subscriptions', { signal, params }))).rows;
    },
    [id],
    { everyMs: EVERY_MS },
  );
  return (
    <Show loaded={loaded}>
      {([subscription]) =>
        subscription === undefined ? (
          <Empty title="This subscription does not exist.">
            <a href={PATH}>Go to the subscriptions</a>
          </Empty>
        ) : (
          <Shown subscription={subscription} reload={loaded.reload} />
        )
      }
    </Show>
  );
}

interface ShownProps {
  readonly subscription: Subscription;
  readonly reload: () => void;
}

function Shown({ subscription, reload }: ShownProps) {
  const { id, config, endpoint, name } = subscription;
  const [isTesting, setTesting] = useState(false);
  const stopTesting = () => setTesting(false);
  return (
    <div class="stack">
      <header class="row apart">
        <h2 class="break">{name ?? config.url}</h2>
        <div class="row">
          <button type="button" onClick={() => setTesting(true)}>
            Send a test event
          </button>
          <StateActions subscription={subscription} reload={reload} />
        </div>
      </header>
      <div class="columns">
        <div class="stack">
          <Facts subscription={subscription} />
          <Secret subscription={subscription} reload={reload} />
        </div>
        {endpoint === undefined ? (
          <EventTypes key={subscription.eventTypes.join()} subscription={subscription} reload={reload} />
        ) : (
          <Wish subscription={subscription} reload={reload} />
        )}
      </div>
      <Recent id={id} />
      {isTesting && endpoint === undefined && <TestEvent url={config.url} onClose={stopTesting} />}
      {isTesting && endpoint !== undefined && <EndpointTest id={id} onClose={stopTesting} />}
    </div>
  );
}

/**
 * The form with the filter of an endpoint. A refresh of the page does not overwrite what the user types, because the form keeps its first
 * values. A change of the endpoint starts a new form, so the text that confirms the change stands outside the form.
 */
function Wish({ subscription, reload }: ShownProps) {
  const { id, updatedDate } = subscription;
  const [savedDate, setSavedDate] = useState<string>();
  const save = async (body: EndpointChanges) => {
    const saved = await ask(api.PATCH('/notifications/subscriptions/{id}', { params: { path: { id } }, body }));
    setSavedDate(saved.updatedDate);
    reload();
  };
  return (
    <section class="card" aria-label="Endpoint" onInput={() => setSavedDate(undefined)}>
      <EndpointForm key={updatedDate} endpoint={subscription} onSubmit={save} />
      <p class="row end soft" role="status">
        {savedDate === updatedDate && 'Saved.'}
      </p>
    </section>
  );
}

function Facts({ subscription }: { readonly subscription: Subscription }) {
  const { id, reason, queued, retrying, createdDate, stateChangedDate } = subscription;
  const waiting = (status: string) => withQuery('/console/events/deliveries', { subscription: String(id), status });
  return (
    <section class="card stack tight" aria-label="State">
      <h3>State</h3>
      <dl class="facts">
        <Fact name="State">
          <EndpointState endpoint={subscription} /> since <Time at={stateChangedDate} />
        </Fact>
        {reason !== undefined && <Fact name="Reason">{reason}</Fact>}
        <Fact name="Queued">
          <a href={waiting('queued')}>{sayTally(queued)}</a>
        </Fact>
        <Fact name="Retrying">
          <a href={waiting('retrying')}>{sayTally(retrying)}</a>
        </Fact>
        <Fact name="Created">
          <Time at={createdDate} />
        </Fact>
      </dl>
    </section>
  );
}

function Recent({ id }: { readonly id: number }) {
  const loaded = useLoad(
    async (signal) => (await listDeliveries({ where: `subscriptionId = ${id}`, pageSize: MOST_SHOWN }, signal)).rows,
    [id],
    { everyMs: EVERY_MS },
  );
  return (
    <section class="stack tight" aria-label="Newest deliveries of the subscription">
      <div class="row apart">
        <h3>Newest deliveries</h3>
        <a href={withQuery('/console/events/deliveries', { subscription: String(id) })}>All deliveries</a>
      </div>
      <Show loaded={loaded}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="The subscription has no deliveries yet. Send a test event to check whether the receiver responds." />
          ) : (
            <DeliveryTable
              label="Newest deliveries"
              rows={rows}
              isOfOneReceiver
              linkOf={(row) => withQuery(`/console/events/deliveries/${row.id}`, { subscription: String(id) })}
            />
          )
        }
      </Show>
    </section>
  );
}

/** Actions that change whether the subscription gets events. Each asks for confirmation and states its effect. */
function StateActions({ subscription, reload }: ShownProps) {
  const needs = useNeeds();
  const { id, state, queued, retrying, endpoint: isEndpoint = false } = subscription;
  const { route } = useLocation();
  const [asked, setAsked] = useState<'stop' | 'resume' | 'delete'>();
  const close = () => setAsked(undefined);
  const params = { path: { id } };
  const setState = async (next: Subscription['state']) => {
    await ask(api.PATCH('/notifications/subscriptions/{id}', { params, body: { state: next } }));
    reload();
  };
  return (
    <>
      {state === 'active' ? (
        <button type="button" {...needs(CHANGING)} onClick={() => setAsked('stop')}>
          Deactivate…
        </button>
      ) : (
        <button type="button" class="main" {...needs(CHANGING)} onClick={() => setAsked('resume')}>
          Resume and release…
        </button>
      )}
      <button type="button" class="danger" {...needs(CHANGING)} onClick={() => setAsked('delete')}>
        Delete…
      </button>
      {asked === 'stop' && (
        <Confirm title="Deactivate" action="Deactivate" onConfirm={() => setState('deactivated')} onClose={close}>
          <p>
            The service stops sending. Deliveries that wait ({sayTally(retrying)} retrying) and later ones are queued.
          </p>
        </Confirm>
      )}
      {asked === 'resume' && (
        <Confirm
          title="Resume and release"
          action="Release"
          onConfirm={() => setState('active')}
          onClose={close}
          isHarmless
        >
          <p>
            The service activates the subscription and sends its queued deliveries ({sayTally(queued)}), the oldest
            first, with a new schedule of retries.
          </p>
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={isEndpoint ? 'Delete the endpoint' : 'Delete the subscription'}
          action="Delete"
          onConfirm={async () => {
            await ask(api.DELETE('/notifications/subscriptions/{id}', { params }));
            route(isEndpoint ? '/console/events/endpoints' : PATH);
          }}
          onClose={close}
        >
          <p>
            The service removes the {isEndpoint ? 'endpoint' : 'subscription'} with its secret, its queued deliveries (
            {sayTally(queued)}) and those that wait for a retry ({sayTally(retrying)}).{' '}
            {!isEndpoint &&
              'You can delete it only if no instance and no setting sends events to its URL. If the URL is used again, the service creates a new subscription with another secret.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
