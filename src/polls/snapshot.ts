import type { RecordList } from '../resources/index.ts';
import type { Progress, SeenVersion } from './poll-store.ts';
import { type EarlyEnd, hourOf, type PollRun, type Reading, type Unseen } from './run.ts';

/**
 * Whole lists in a row, at most one in an hour, that must not show a record before it is forgotten. One proves nothing: rows move while several
 * pages are read, and a provider may hide for a while what it shows otherwise. So none of them makes a deletion known either.
 */
const MOST_MISSED = 6;
/** Records of one statement. */
const SWEPT_AT_ONCE = 5_000;

/** Reads all records and compares them with the stored state. */
export async function readSnapshot(run: PollRun): Promise<EarlyEnd | undefined> {
  const { plan, clock, begun } = run;
  const end: Progress = { ...run.progress(), kind: 'snapshot' };
  // Another mapping changes all records at once, which is no news.
  const isSilent = run.isRemapped || (begun.kind === null && !run.settings.backfill);
  const listed = isSweepDue(run) ? new Set<string>() : undefined;
  const query = plan.since(clock.now());
  let isWhole = true;
  let nextPage: string | undefined;
  do {
    const page: RecordList = await run.list({ ...query, nextPage });
    const isFirst = nextPage === undefined;
    nextPage = page.nextPage;
    isWhole &&= page.cutBy !== 'result-window';
    const readings = page.records.map(run.readRow);
    for (const { recordKey } of readings) listed?.add(nameOf(recordKey));
    const unseen = await run.findUnseen(readings);
    const isBegun = nextPage === undefined && (begun.kind === null || run.isRemapped);
    if (unseen.length > 0 || isBegun) {
      await run.commit({
        progress: nextPage === undefined ? end : run.progress(),
        events: isSilent ? [] : unseen.map((reading) => toEvent(run, reading)),
        seen: unseen.map(run.seenOf),
        replaces: true,
      });
    }
    // It begins anew with each run: it is left alone before it has begun, or read whole.
    const early = isFirst && nextPage !== undefined ? run.endEarly(false) : undefined;
    if (early !== undefined) return early;
  } while (nextPage !== undefined);
  if (isWhole && listed !== undefined) await noteMissed(run, listed);
  return undefined;
}

function toEvent({ plan, eventOf }: PollRun, { row, id, updatedMs, wasThere }: Unseen<Reading>) {
  const isCreated = plan.isCreated(row) !== false && !wasThere;
  return eventOf({ id, action: isCreated ? 'created' : 'updated', updatedMs, record: row });
}

function isSweepDue({ poll, clock }: PollRun): boolean {
  return poll.lastSuccessAt === null || hourOf(clock.now()) > hourOf(poll.lastSuccessAt.getTime());
}

function nameOf(recordKey: Buffer): string {
  return recordKey.toString('latin1');
}

/** Counts for each record that was seen whether the list shows it, and forgets what it has not shown for long. */
async function noteMissed(run: PollRun, listed: ReadonlySet<string>): Promise<void> {
  const { poll, store, plan } = run;
  // Changes that the feed repeats must not become events again.
  const { feedWatermark } = run.progress();
  const before = plan.hasFeed ? new Date(run.keptFrom(feedWatermark?.getTime() ?? 0)) : undefined;
  let after: SeenVersion['recordKey'] | undefined = Buffer.alloc(0);
  while (after !== undefined) {
    const records = await store.seenRecords(poll, { after, before, limit: SWEPT_AT_ONCE });
    const [shown, missed] = [[] as Buffer[], [] as Buffer[]];
    for (const { recordKey, missed: times } of records) {
      if (!listed.has(nameOf(recordKey))) missed.push(recordKey);
      else if (times > 0) shown.push(recordKey);
    }
    if (shown.length + missed.length > 0) {
      await run.fenced(run.progress(), (via) => store.noteMissed(via, poll, { shown, missed, most: MOST_MISSED }));
    }
    after = records.length < SWEPT_AT_ONCE ? undefined : records.at(-1)?.recordKey;
  }
}
