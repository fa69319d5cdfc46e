import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useLoad } from '../load.ts';
import { useQuery, withQuery } from '../parts/query.ts';
import { Empty, ErrorNote, Skeleton } from '../parts/show.tsx';
import { listDeliveries, useSubscriptions } from './calls.ts';
import { DeliveryPanel } from './delivery.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { Filters, useWhere } from './filters.tsx';
import { NO_ROWS, takeIn } from './live-rows.ts';
import { TestEvent } from './test-event.tsx';

const PATH = '/console/events/live';
const EVERY_MS = 2_000;
const MOST_SHOWN = 50;

/** Shows the newest deliveries as they arrive. While the user reads, nothing moves. */
export function Live({ id }: { readonly id: number | undefined }) {
  const { route } = useLocation();
  const { query } = useQuery();
  const where = useWhere();
  const subscriptions = useSubscriptions();
  const [isPaused, setPaused] = useState(false);
  const [isTesting, setTesting] = useState(false);
  const { rows, reading, error, isEmpty, show, reload } = useLiveRows(where, { isPaused, isHeld: id !== undefined });
  return (
    <div class="stack">
      <Filters subscriptions={subscriptions.value ?? []} />
      <div class="row apart">
        <div class="row" role="status">
          <span class="soft">
            {isPaused ? 'Paused' : `The newest ${MOST_SHOWN}, live`}
            {rows.keptBack > 0 && ` · ${rows.keptBack === MOST_SHOWN ? 'many' : rows.keptBack} new`}
          </span>
          {rows.keptBack > 0 && (
            <button type="button" class="plain" onClick={show}>
              Show them
            </button>
          )}
        </div>
        <div class="row">
          <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </button>
          <button type="button" onClick={() => setTesting(true)}>
            Send a test event
          </button>
        </div>
      </div>
      <ErrorNote error={error} retry={reload} />
      {rows.shown.length > 0 && (
        <div {...reading}>
          <DeliveryTable
            label="Newest deliveries"
            rows={rows.shown}
            linkOf={(row) => withQuery(`${PATH}/${row.id}`, query)}
            markOf={(row) => (rows.fresh.has(row.id) ? 'fresh' : undefined)}
          />
        </div>
      )}
      {isEmpty && <NothingYet where={where} />}
      {!isEmpty && rows.shown.length === 0 && error === undefined && <Skeleton />}
      {id !== undefined && <DeliveryPanel key={id} id={id} path={PATH} onClose={() => route(withQuery(PATH, query))} />}
      {isTesting && <TestEvent onClose={() => setTesting(false)} />}
    </div>
  );
}

function NothingYet({ where }: { readonly where: string }) {
  if (where !== '') return <Empty title="No delivery matches yet. New deliveries appear here." />;
  return (
    <Empty title="There are no deliveries yet.">
      <p>
        Turn on events in the configuration of an <a href="/console/instances">instance</a>, then send a test event.
      </p>
    </Empty>
  );
}

/** Requests the newest deliveries repeatedly. @param isHeld whether the user is reading a row */
function useLiveRows(where: string, { isPaused, isHeld }: { readonly isPaused: boolean; readonly isHeld: boolean }) {
  const [rows, setRows] = useState(NO_ROWS);
  const area = useRef<HTMLDivElement>(null);
  const isInside = useRef(false);
  const loaded = useLoad((signal) => listDeliveries({ where, pageSize: MOST_SHOWN }, signal), [where], {
    everyMs: isPaused ? undefined : EVERY_MS,
  });
  const newest = loaded.value?.rows;
  useEffect(() => {
    const isScrolled = (area.current?.getBoundingClientRect().top ?? 0) < 0;
    if (newest === undefined) setRows(NO_ROWS);
    else setRows((last) => takeIn(last, newest, isHeld || isInside.current || isScrolled));
  }, [newest]);
  const enter = () => {
    isInside.current = true;
  };
  const leave = () => {
    isInside.current = area.current?.contains(document.activeElement) === true;
  };
  return {
    rows,
    error: loaded.error,
    isEmpty: newest?.length === 0 && rows.shown.length === 0,
    reload: loaded.reload,
    show: () => newest !== undefined && setRows((last) => takeIn(last, newest, false)),
    reading: { ref: area, onPointerEnter: enter, onPointerLeave: leave, onFocusIn: enter, onFocusOut: leave },
  };
}
