import { useState } from 'preact/hooks';
import { api, ask, askPage, type Instance, type Schemas } from '../api.ts';
import { useAction } from '../load.ts';
import { Badge, type Tone } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Form } from '../parts/form.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { sayDuration, Time } from '../parts/time.tsx';
import { type Needs, useNeeds } from '../who.ts';

type Poll = Schemas['Poll'];

const PAGE_SIZE = 100;
const REFRESH_MS = 3000;
const TONES: Readonly<Record<Poll['state'], Tone>> = { waiting: 'good', running: 'busy', stopped: 'quiet' };

interface Doing {
  readonly run: (resource: string) => void;
  readonly replay: (resource: string) => void;
  readonly needs: Needs;
}

const columnsOf = ({ run, replay, needs }: Doing): readonly Column<Poll>[] => [
  {
    title: 'Resource',
    cell: ({ resource, lastError }) => (
      <div class="stack tight">
        <span class="strong">{resource}</span>
        {lastError !== undefined && <span class="small fault">{lastError}</span>}
      </div>
    ),
  },
  {
    title: 'State',
    cell: ({ state, failures }) => (
      <span class="row">
        <Badge tone={TONES[state]}>{state}</Badge>
        {failures > 0 && <Badge tone="bad">{failures === 1 ? 'failed' : `failed ${failures} times`}</Badge>}
      </span>
    ),
  },
  {
    title: 'Lag',
    isNumber: true,
    cell: ({ lagSeconds }) => (lagSeconds === undefined ? '–' : sayDuration(lagSeconds * 1000)),
  },
  {
    title: 'Up to',
    isMinor: true,
    cell: ({ watermark, method }) => (
      <span title={method}>
        <Time at={watermark} />
      </span>
    ),
  },
  { title: 'Last run', isMinor: true, cell: ({ lastRunDate }) => <Time at={lastRunDate} /> },
  { title: 'Next run', isMinor: true, cell: ({ nextRunDate }) => <Time at={nextRunDate} /> },
  { title: 'Runs', isNumber: true, isMinor: true, cell: ({ runs }) => runs },
  { title: 'Calls', isNumber: true, isMinor: true, cell: ({ providerCalls }) => providerCalls },
  { title: 'Events', isNumber: true, isMinor: true, cell: ({ events }) => events },
  {
    title: 'Do',
    cell: ({ resource }) => (
      <span class="row">
        <button
          type="button"
          class="plain"
          {...needs('createElementInstances')}
          aria-label={`Run now: ${resource}`}
          onClick={() => run(resource)}
        >
          Run now
        </button>
        <button
          type="button"
          class="plain"
          {...needs('createElementInstances')}
          aria-label={`Replay… ${resource}`}
          onClick={() => replay(resource)}
        >
          Replay…
        </button>
      </span>
    ),
  },
];

/** Shows the objects that the instance is polled for, and the progress of each. */
export function Pollers({ instance: { id, eventsEnabled } }: { readonly instance: Instance }) {
  const [replayed, setReplayed] = useState<string>();
  const list = usePages(
    (nextPage, signal) =>
      askPage<Poll>(
        api.GET('/instances/{id}/polls', {
          signal,
          params: { path: { id }, query: { pageSize: PAGE_SIZE, ...(nextPage !== undefined && { nextPage }) } },
        }),
      ),
    [id],
    { everyMs: REFRESH_MS },
  );
  const { run, error } = useAction(async (resource: string) => {
    await ask(api.POST('/instances/{id}/polls/{resource}/run', { params: { path: { id, resource } } }));
    list.reload();
  });
  const columns = columnsOf({ run, replay: setReplayed, needs: useNeeds() });
  return (
    <>
      <ErrorNote error={error} />
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table label="Pollers" columns={columns} rows={rows} keyOf={({ resource }) => resource} />
          ) : (
            <Empty title="The instance has no pollers.">
              <p>
                {eventsEnabled
                  ? 'The provider sends webhooks, or the configuration names no objects to poll. '
                  : 'Events are off. '}
                <a href={`/console/instances/${id}/settings`}>Go to the settings</a>
              </p>
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
      {replayed !== undefined && (
        <ReplayDialog id={id} resource={replayed} onDone={list.reload} onClose={() => setReplayed(undefined)} />
      )}
    </>
  );
}

interface ReplayProps {
  readonly id: number;
  readonly resource: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function ReplayDialog({ id, resource, onDone, onClose }: ReplayProps) {
  const replay = async (form: FormData) => {
    const from = new Date(String(form.get('from')));
    await ask(
      api.POST('/instances/{id}/polls/{resource}/replay', {
        params: { path: { id, resource } },
        body: { from: from.toISOString() },
      }),
    );
    onDone();
    onClose();
  };
  return (
    <Dialog title={`Replay ${resource}`} onClose={onClose}>
      <Form action="Replay" onSubmit={replay} onCancel={onClose}>
        <p>
          The poller sends events for all changes since this time, including those already delivered. A poller that
          reads everything sends an event for every record.
        </p>
        <label>
          From (time zone of this browser)
          <input type="datetime-local" name="from" required defaultValue={yesterday()} />
        </label>
      </Form>
    </Dialog>
  );
}

const DAY_MS = 86_400_000;

/** Returns the time one day ago as a `datetime-local` field needs it: local, to the minute. */
function yesterday(): string {
  const at = new Date(Date.now() - DAY_MS);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
