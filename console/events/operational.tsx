import { api, askPage, type Schemas } from '../api.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type Notification = Schemas['Notification'];

const PAGE_SIZE = 50;
const EVERY_MS = 10_000;

const TONES: Readonly<Record<string, Tone>> = {
  'subscription.deactivated': 'bad',
  'subscription.reactivated': 'good',
  'delivery.exhausted': 'bad',
  'instance.credentials.refused': 'bad',
  'instance.webhook.failed': 'warn',
  'poll.failing': 'bad',
  'poll.recovered': 'good',
  'poll.restarted': 'warn',
  'formula.instance.failing': 'warn',
  'formula.instance.deactivated': 'bad',
  'email.pending': 'warn',
};

/** The pages to which the members of a notification lead, by the name of the member. */
export const PAGES: Readonly<Record<string, { readonly what: string; readonly path: string }>> = {
  subscriptionId: { what: 'subscription', path: '/console/events/subscriptions' },
  deliveryId: { what: 'delivery', path: '/console/events/deliveries' },
  instanceId: { what: 'instance', path: '/console/instances' },
};

const COLUMNS: readonly Column<Notification>[] = [
  { title: 'When', cell: ({ createdDate }) => <Time at={createdDate} /> },
  { title: 'What', cell: ({ type }) => <Badge tone={TONES[type] ?? 'quiet'}>{type}</Badge> },
  { title: 'About', cell: ({ data }) => <About data={data} /> },
];

/** Shows notifications about the account's own deliveries and instances. */
export function OperationalEvents() {
  const list = usePages(
    (nextPage, signal) => {
      const query = { newestFirst: true, pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) };
      return askPage(api.GET('/notifications', { signal, params: { query } }));
    },
    [],
    { everyMs: EVERY_MS },
  );
  return (
    <div class="stack">
      <p class="soft">
        Problems with deliveries and instances of the account. If the account has the setting{' '}
        <code>notification.operational.callback.url</code>, the service also sends them to its URL.
      </p>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="There are no operational events." />
          ) : (
            <Table label="Operational events" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

/** Shows what a notification is about, with links to the pages. */
function About({ data }: Pick<Notification, 'data'>) {
  return (
    <div class="row">
      {Object.entries(data).map(([name, value]) => {
        const page = PAGES[name];
        return page === undefined ? (
          <span key={name} class="break">
            <span class="soft">{name}</span> {typeof value === 'object' ? JSON.stringify(value) : String(value)}
          </span>
        ) : (
          <a key={name} href={`${page.path}/${value}`}>
            {page.what} {String(value)}
          </a>
        );
      })}
    </div>
  );
}
