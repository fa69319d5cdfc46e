import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, type Schemas } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';
import { sayNumber } from '../parts/number.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery, withQuery } from '../parts/query.ts';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, DELIVERY_STATUSES, type DeliveryStatus, listDeliveries, useSubscriptions } from './calls.ts';
import { DeliveryPanel } from './delivery.tsx';
import { withStatus } from './delivery-filter.ts';
import { DeliveryTable } from './delivery-table.tsx';
import { Filters, useWhere } from './filters.tsx';
import { QueueDialog } from './queue.tsx';
import { Redelivery } from './redelivery.tsx';

type Counts = Schemas['DeliveryCounts'];

const PATH = '/console/events/deliveries';
const PAGE_SIZE = 50;
const COUNT_EVERY_MS = 5_000;
/** Maximum count per state, as in the service. */
const MOST_COUNTED = 100_000;

/** Lists all deliveries, newest first, with actions on the deliveries that match the filter. */
export function DeliveryList({ id }: { readonly id: number | undefined }) {
  const needs = useNeeds();
  const { route } = useLocation();
  const { query } = useQuery();
  const where = useWhere();
  const [opened, setOpened] = useState<'redelivery' | 'release' | 'acknowledge'>();
  const subscriptions = useSubscriptions();
  const status = DELIVERY_STATUSES.find((each) => each === query.status);
  const selected = withStatus(where, status);
  const list = usePages(
    (nextPage, signal) => listDeliveries({ where: selected, pageSize: PAGE_SIZE, nextPage }, signal),
    [selected],
  );
  const counts = useLoad((signal) => countDeliveries(where, signal), [where], { everyMs: COUNT_EVERY_MS });
  const refresh = () => {
    list.reload();
    counts.reload();
    subscriptions.reload();
  };
  const close = () => {
    setOpened(undefined);
    refresh();
  };
  const known = subscriptions.value ?? [];
  return (
    <div class="stack">
      <Filters subscriptions={known} hasTime />
      <div class="row apart">
        <StateChips counts={counts} status={status} />
        <div class="row">
          <button type="button" onClick={refresh}>
            Refresh
          </button>
          <button type="button" {...needs(CHANGING)} onClick={() => setOpened('redelivery')}>
            Send again…
          </button>
          <button type="button" {...needs(CHANGING)} onClick={() => setOpened('release')}>
            Release…
          </button>
          <button type="button" {...needs(CHANGING)} onClick={() => setOpened('acknowledge')}>
            Acknowledge…
          </button>
        </div>
      </div>
      <ErrorNote error={list.error === undefined ? counts.error : undefined} retry={counts.reload} />
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <NoDeliveries isNarrowed={selected !== undefined} />
          ) : (
            <DeliveryTable label="Deliveries" rows={rows} linkOf={(row) => withQuery(`${PATH}/${row.id}`, query)} />
          )
        }
      </Show>
      <Pager {...list} />
      {id !== undefined && (
        <DeliveryPanel key={id} id={id} path={PATH} onClose={() => route(withQuery(PATH, query))} onChange={refresh} />
      )}
      {opened === 'redelivery' && <Redelivery subscriptions={known} choices={query} status={status} onClose={close} />}
      {(opened === 'release' || opened === 'acknowledge') && (
        <QueueDialog act={opened} subscription={query.subscription} onClose={close} />
      )}
    </div>
  );
}

function countDeliveries(where: string, signal: AbortSignal): Promise<Counts> {
  const params = { query: where === '' ? {} : { where } };
  return ask(api.GET('/notifications/subscriptions/deliveries/counts', { signal, params }));
}

interface StateChipsProps {
  readonly counts: Loaded<Counts>;
  readonly status: DeliveryStatus | undefined;
}

/** Shows the number of deliveries in each state, and narrows the list to one state. */
function StateChips({ counts: { value }, status }: StateChipsProps) {
  const { query } = useQuery();
  const numbers = value && DELIVERY_STATUSES.map((each) => value[each]);
  return (
    <nav class="chips" aria-label="States of deliveries">
      <a
        href={withQuery(PATH, { ...query, status: undefined })}
        aria-current={status === undefined ? 'true' : undefined}
      >
        all <span class="number soft">{numbers === undefined ? '' : sayCount(numbers.reduce((a, b) => a + b, 0))}</span>
      </a>
      {DELIVERY_STATUSES.map((each) => (
        <a
          key={each}
          href={withQuery(PATH, { ...query, status: each })}
          aria-current={status === each ? 'true' : undefined}
        >
          {each} <span class="number soft">{value === undefined ? '' : sayCount(value[each])}</span>
        </a>
      ))}
    </nav>
  );
}

function sayCount(count: number): string {
  return count >= MOST_COUNTED ? `${sayNumber(count)}+` : sayNumber(count);
}

function NoDeliveries({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed) {
    return (
      <Empty title="No delivery matches the filters.">
        <a href={PATH}>Show all deliveries</a>
      </Empty>
    );
  }
  return (
    <Empty title="There are no deliveries yet.">
      <a href="/console/events/live">Send a test event</a>
    </Empty>
  );
}
