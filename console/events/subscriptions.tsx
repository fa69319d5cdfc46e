import { api, askPage } from '../api.ts';
import { sayNumber } from '../parts/number.ts';
import { Pager, usePages } from '../parts/pages.tsx';
import { useQuery, withQuery } from '../parts/query.ts';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import type { Subscription } from './calls.ts';
import { SubscriptionState } from './states.tsx';

const PATH = '/console/events/subscriptions';
const PAGE_SIZE = 50;
const EVERY_MS = 5_000;
/** Maximum number up to which the service counts. */
const MOST_TALLIED = 10_000;

const STATES = ['active', 'deactivated'] as const;

const COLUMNS: readonly Column<Subscription>[] = [
  { title: 'Callback URL', cell: ({ config }) => <span class="break">{config.url}</span> },
  { title: 'State', cell: (subscription) => <SubscriptionState subscription={subscription} /> },
  { title: 'Since', isMinor: true, cell: ({ stateChangedDate }) => <Time at={stateChangedDate} /> },
  { title: 'Queued', isNumber: true, cell: ({ queued }) => sayTally(queued) },
  { title: 'Retrying', isNumber: true, cell: ({ retrying }) => sayTally(retrying) },
  {
    title: 'Event types',
    isMinor: true,
    cell: ({ eventTypes }) => (
      <span class="clip even" title={eventTypes.join(', ')}>
        {eventTypes.join(', ')}
      </span>
    ),
  },
];

/** Lists the subscriptions of the account. */
export function SubscriptionList() {
  const { query } = useQuery();
  const state = STATES.find((each) => each === query.state);
  const list = usePages(
    (nextPage, signal) => {
      const where = ['endpoint = FALSE', ...(state === undefined ? [] : [`state = '${state}'`])].join(' AND ');
      const params = { query: { pageSize: PAGE_SIZE, where, ...(nextPage && { nextPage }) } };
      return askPage(api.GET('/notifications/subscriptions', { signal, params }));
    },
    [state],
    { everyMs: EVERY_MS },
  );
  return (
    <div class="stack">
      <nav class="chips" aria-label="States of subscriptions">
        {[undefined, ...STATES].map((each) => (
          <a key={each} href={withQuery(PATH, { state: each })} aria-current={each === state ? 'true' : undefined}>
            {each ?? 'all'}
          </a>
        ))}
      </nav>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <NoSubscriptions isNarrowed={state !== undefined} />
          ) : (
            <Table
              label="Subscriptions"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `${PATH}/${id}`}
            />
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

export function sayTally(count: number): string {
  return count >= MOST_TALLIED ? `${sayNumber(count)}+` : sayNumber(count);
}

function NoSubscriptions({ isNarrowed }: { readonly isNarrowed: boolean }) {
  if (isNarrowed) {
    return (
      <Empty title="No subscription has this state.">
        <a href={PATH}>Show all subscriptions</a>
      </Empty>
    );
  }
  return (
    <Empty title="There are no subscriptions yet.">
      <p>
        The service creates one for each callback URL. Turn on events in the configuration of an{' '}
        <a href="/console/instances">instance</a>.
      </p>
    </Empty>
  );
}
