import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, askPage } from '../api.ts';
import { useLoad } from '../load.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, type Subscription } from './calls.ts';
import { EndpointForm, withoutNulls } from './endpoint-form.tsx';
import { EndpointState } from './states.tsx';
import { sayTally } from './subscriptions.tsx';

const PATH = '/console/events/endpoints';
const EVERY_MS = 5_000;
const MOST_LISTED = 1_000;

const COLUMNS: readonly Column<Subscription>[] = [
  { title: 'Name', cell: ({ name, id }) => name ?? `Endpoint ${id}` },
  { title: 'URL', cell: ({ config }) => <span class="break">{config.url}</span> },
  { title: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
  {
    title: 'Wants',
    isMinor: true,
    cell: (endpoint) => (
      <span class="clip even" title={wishOf(endpoint)}>
        {wishOf(endpoint)}
      </span>
    ),
  },
  { title: 'Queued', isNumber: true, cell: ({ queued }) => sayTally(queued) },
  { title: 'Retrying', isNumber: true, cell: ({ retrying }) => sayTally(retrying) },
];

function wishOf({ eventTypes, where }: Subscription): string {
  return where === undefined ? eventTypes.join(', ') : `${eventTypes.join(', ')} where ${where}`;
}

/** The endpoints of the account: receivers that choose their events. */
export function EndpointList() {
  const needs = useNeeds();
  const [isCreating, setCreating] = useState(false);
  const loaded = useLoad(
    async (signal) => {
      const params = { query: { where: 'endpoint = TRUE', pageSize: MOST_LISTED } };
      return (await askPage(api.GET('/notifications/subscriptions', { signal, params }))).rows;
    },
    [],
    { everyMs: EVERY_MS },
  );
  return (
    <div class="stack">
      <div class="row apart">
        <p class="soft">An endpoint receives the events of all instances that its filter accepts.</p>
        <button type="button" class="main" {...needs(CHANGING)} onClick={() => setCreating(true)}>
          New endpoint…
        </button>
      </div>
      <Show loaded={loaded}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There are no endpoints yet." />
          ) : (
            <Table
              label="Endpoints"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `${PATH}/${id}`}
            />
          )
        }
      </Show>
      {isCreating && <NewEndpoint onClose={() => setCreating(false)} />}
    </div>
  );
}

function NewEndpoint({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  return (
    <Dialog title="New endpoint" onClose={onClose}>
      <EndpointForm
        endpoint={undefined}
        onCancel={onClose}
        onSubmit={async (changes) => {
          const { id } = await ask(api.POST('/notifications/subscriptions', { body: withoutNulls(changes) }));
          route(`${PATH}/${id}`);
        }}
      />
    </Dialog>
  );
}
