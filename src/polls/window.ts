import { MOST_SKEW_MS } from '../clock.ts';
import type { ListRequest } from '../resources/index.ts';
import type { Progress } from './poll-store.ts';
import { type EarlyEnd, EPOCH_MS, type PollRun, type Reading, type Unseen, versionKey } from './run.ts';

/** Whether a record was there before the first poll, as it is. */
type WasThere = (reading: Reading) => boolean;

/** Start of the period whose changes are read. */
interface Since {
  readonly sinceMs: number;
  readonly wasThere: WasThere;
  /** Progress of the poller until more has been read. */
  readonly before: Progress & { readonly watermark: Date };
  /** The pages come in the order of changes. */
  readonly isSorted: boolean;
}

/** Position at which the next page begins. */
interface PagePosition {
  readonly request: Partial<ListRequest>;
  readonly fromMs: number;
  /** The provider's pages are followed: nothing is complete then. */
  readonly hasFollowed: boolean;
}

interface WindowPage {
  readonly unseen: readonly Unseen<Reading>[];
  /** The time of the last row. */
  readonly lastMs: number | undefined;
  readonly newestMs: number;
  readonly nextPage: string | undefined;
}

/** Reads the changes since the watermark. */
export async function readWindow(run: PollRun): Promise<EarlyEnd | undefined> {
  const { plan, clock, options } = run;
  const startedMs = clock.now();
  const { watermarkMs, wasThere } = await beginning(run);
  const before = { ...run.progress(), kind: plan.kind, watermark: new Date(watermarkMs) };
  const sinceMs = Math.max(EPOCH_MS, watermarkMs - plan.overlapMs);
  const isSorted = plan.newest !== undefined && plan.since(sinceMs).orderBy !== undefined;
  let newestMs = plan.hasDates ? watermarkMs : Math.max(watermarkMs, startedMs - MOST_SKEW_MS);
  let isCertain = false;
  for (let pass = 1; pass <= options.mostPasses && !isCertain; pass++) {
    const read = await readPass(run, { before, sinceMs, wasThere, isSorted }, pass === 1);
    if (read.end !== undefined) return read.end;
    newestMs = Math.max(newestMs, read.newestMs);
    isCertain = read.isComplete || (pass > 1 && read.count === 0);
  }
  // Where rows kept moving, the next run reads them once more.
  const end = isCertain ? { ...before, watermark: new Date(newestMs) } : before;
  const { kind, watermark } = run.progress();
  if (run.isRemapped || kind !== end.kind || watermark?.getTime() !== end.watermark.getTime())
    await run.commit({ progress: end });
  await run.forgetSeen();
  return undefined;
}

/** Returns where the previous run ended. For the first run, also returns which records are older than it. */
async function beginning(run: PollRun): Promise<{ readonly watermarkMs: number; readonly wasThere: WasThere }> {
  const { plan, settings, clock } = run;
  const { kind, watermark } = run.progress();
  if (kind !== null) return { watermarkMs: watermark?.getTime() ?? EPOCH_MS, wasThere: () => false };
  if (settings.backfill) return { watermarkMs: EPOCH_MS, wasThere: () => false };
  // The clocks may differ, so changes during the first poll cannot be distinguished from existing records.
  if (plan.newest === undefined) return { watermarkMs: clock.now() - MOST_SKEW_MS, wasThere: () => true };
  const { records, nextPage } = await run.list(plan.newest);
  const shown = records.map(run.readRow);
  const newestMs = shown[0]?.updatedMs ?? EPOCH_MS;
  const watermarkMs = run.isCredible(newestMs) ? newestMs : clock.now() - MOST_SKEW_MS;
  // Those of the list are known one by one, and what is not on it is no newer than its last. At that time more records may change.
  const lastMs = shown.at(-1)?.updatedMs ?? newestMs;
  const untilMs = nextPage === undefined ? Number.NEGATIVE_INFINITY : lastMs;
  const known = new Set(shown.map(versionKey));
  return {
    watermarkMs,
    wasThere: (reading) => (reading.updatedMs ?? Number.NEGATIVE_INFINITY) <= untilMs || known.has(versionKey(reading)),
  };
}

/**
 * Reads everything from a time on, page by page, each of which is committed before the next. One page is one moment of the provider; between
 * several of them rows move, and what a row that leaves lets move forward is passed over. Where the pages come in the order of changes, each
 * begins at the time of the last row of the one before, so that rows that moved are met again. Elsewhere, and where more than a page changed
 * at one time, the provider's pages are followed: then nothing is complete before everything was read once more and nothing new was found.
 */
async function readPass(run: PollRun, since: Since, isFirstPass: boolean) {
  const { isSorted, sinceMs } = since;
  let position: PagePosition = { request: run.plan.since(sinceMs), fromMs: sinceMs, hasFollowed: false };
  const found = { count: 0, newestMs: Number.NEGATIVE_INFINITY };
  for (;;) {
    const page = await readPage(run, position.request, since);
    found.count += page.unseen.length;
    found.newestMs = Math.max(found.newestMs, page.newestMs);
    await commitPage(run, page, position, since);
    if (page.nextPage === undefined) return { ...found, isComplete: !position.hasFollowed, end: undefined };
    // A list without an order begins again with each run, so it is either not begun or read to its end.
    const mayEnd = isSorted || (isFirstPass && !position.hasFollowed);
    const end = mayEnd ? run.endEarly(isSorted) : undefined;
    if (end !== undefined) return { ...found, isComplete: false, end };
    position = nextPosition(run, { ...page, nextPage: page.nextPage }, position, since);
  }
}

async function readPage(run: PollRun, request: Partial<ListRequest>, { sinceMs }: Since): Promise<WindowPage> {
  const { plan } = run;
  const page = await run.list(request);
  const readings = page.records
    .map(run.readRow)
    .filter(({ updatedMs }) => !plan.filterByUpdated || updatedMs === undefined || updatedMs >= sinceMs);
  const times = readings.map(({ updatedMs = Number.NEGATIVE_INFINITY }) => updatedMs);
  return {
    unseen: await run.findUnseen(readings),
    lastMs: readings.at(-1)?.updatedMs,
    newestMs: Math.max(Number.NEGATIVE_INFINITY, ...times.filter(run.isCredible)),
    nextPage: page.nextPage,
  };
}

async function commitPage(
  run: PollRun,
  page: WindowPage,
  position: PagePosition,
  { before, isSorted, wasThere }: Since,
) {
  const { unseen, lastMs, nextPage } = page;
  if (unseen.length === 0 && !(isSorted && nextPage !== undefined)) return;
  const reachedMs = position.hasFollowed ? position.fromMs : lastMs;
  const isReached =
    isSorted && reachedMs !== undefined && reachedMs > before.watermark.getTime() && run.isCredible(reachedMs);
  const next = isReached ? { ...before, watermark: new Date(reachedMs) } : before;
  // The first commit also says that the poller has begun: before it, a first poll begins anew.
  const mayAdvance = run.progress().kind !== null || isSorted || nextPage === undefined;
  await run.commit({
    progress: mayAdvance ? next : run.progress(),
    events: unseen
      .filter((reading) => !wasThere(reading) && !isOnlyRemapped(run, reading))
      .map((reading) => toEvent(run, reading)),
    seen: unseen.map(run.seenOf),
  });
}

/** A record that was read before, and that only another mapping shows differently. */
function isOnlyRemapped({ isRemapped, begun }: PollRun, { wasThere, updatedMs }: Unseen<Reading>): boolean {
  const reachedMs = begun.watermark?.getTime() ?? Number.NEGATIVE_INFINITY;
  return isRemapped && wasThere && (updatedMs ?? Number.POSITIVE_INFINITY) <= reachedMs;
}

function toEvent(run: PollRun, { row, id, updatedMs, wasThere }: Unseen<Reading>) {
  const isCreated = run.plan.isCreated(row) === true && !wasThere;
  return run.eventOf({ id, action: isCreated ? 'created' : 'updated', updatedMs, record: row });
}

function nextPosition(
  { plan }: PollRun,
  { lastMs, nextPage }: Pick<WindowPage, 'lastMs'> & { readonly nextPage: string },
  { request, fromMs, hasFollowed }: PagePosition,
  { isSorted }: Since,
): PagePosition {
  if (isSorted && !hasFollowed && lastMs !== undefined && lastMs > fromMs) {
    return { request: plan.since(lastMs), fromMs: lastMs, hasFollowed: false };
  }
  return { request: { ...request, nextPage }, fromMs, hasFollowed: true };
}
