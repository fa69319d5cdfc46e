import { api, askPage, type Instance, type Schemas } from '../api.ts';
import { EventName } from '../parts/event-name.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type Event = Schemas['InstanceEvent'];

const PAGE_SIZE = 50;
const REFRESH_MS = 5000;

const COLUMNS: readonly Column<Event>[] = [
  { title: 'Event', cell: ({ type, record }) => <EventName type={type} record={record} /> },
  { title: 'Happened', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { title: 'Accepted', isMinor: true, cell: ({ createdDate }) => <Time at={createdDate} /> },
  { title: 'Id', isMinor: true, cell: ({ id }) => <code>{id}</code> },
  {
    title: 'Data',
    cell: ({ data }) => (
      <details>
        <summary>{Object.keys(data).slice(0, 4).join(', ') || 'none'}</summary>
        <pre>{JSON.stringify(data, null, 2)}</pre>
      </details>
    ),
  },
];

/** Lists the events of the instance, as its receiver gets them. */
export function InstanceEvents({ instance: { id, eventsEnabled } }: { readonly instance: Instance }) {
  const list = usePages(
    (nextPage, signal) =>
      askPage<Event>(
        api.GET('/instances/{id}/events', {
          signal,
          params: { path: { id }, query: { pageSize: PAGE_SIZE, ...(nextPage !== undefined && { nextPage }) } },
        }),
      ),
    [id],
    { everyMs: REFRESH_MS },
  );
  return (
    <>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table label="Events" columns={COLUMNS} rows={rows} keyOf={(event) => event.id} />
          ) : (
            <Empty title="There are no events yet.">
              {eventsEnabled ? (
                <p>An event appears when something changes at the provider.</p>
              ) : (
                <p>
                  Events are off. <a href={`/console/instances/${id}/settings`}>Turn on events in the settings</a>
                </p>
              )}
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
    </>
  );
}
