import { expect } from 'chai';
import type { NewEvent } from '../../src/events/model.ts';
import { readPollSettings } from '../../src/instances/polling/poll-settings.ts';
import { type EarlyEnd, MOST_WAITS, PollLost, type RunInput, type RunPorts } from '../../src/polls/run.ts';
import { runPoll } from '../../src/polls/run-poll.ts';
import type { ListRequest } from '../../src/resources/index.ts';
import type { TimedRateLimit } from '../../src/resources/rate-limits.ts';
import { THINGS } from './things.ts';

const START_MS = Date.UTC(2030, 0, 1);
const HOUR_MS = 3_600_000;
const OPTIONS = { mostPages: 100, mostListed: 1000, mostPasses: 4 };
const LOW: TimedRateLimit = { limit: 100, remaining: 20, resetSeconds: 300 };

interface Given {
  readonly objectName: 'notes' | 'mortals' | 'things';
  /** Pages of the list, with a new record each. */
  readonly pages: number;
  readonly waits?: number;
  /** What is told of the limit once so many calls were made. */
  readonly limitAfter?: (calls: number) => TimedRateLimit | undefined;
  readonly options?: typeof OPTIONS;
  readonly settings?: object;
  readonly onList?: () => void;
  readonly onStore?: () => void;
  /** The mapping in force when records are stored. */
  readonly mappingVersion?: string;
}

interface Outcome {
  readonly end: EarlyEnd | undefined;
  readonly lists: number;
  readonly events: readonly NewEvent[];
}

/** Runs a poll that ran before, over a list whose records are all of other moments. */
async function run({
  objectName,
  pages,
  waits = 0,
  limitAfter = () => undefined,
  options,
  settings: more,
  onList,
  onStore,
  mappingVersion,
}: Given): Promise<Outcome> {
  const settings = readPollSettings({ 'event.notification.enabled': true, 'event.objects': objectName, ...more });
  const [resource] = settings?.resources ?? [];
  const events: NewEvent[] = [];
  let lists = 0;
  const at = (page: number) => new Date(START_MS + page * HOUR_MS).toISOString();
  const ports = {
    store: {
      transaction: async (work: (via: unknown) => Promise<unknown>) => work(undefined),
      advance: async () => true,
      seen: async () => [],
      see: async () => undefined,
      forgetSeen: async () => undefined,
      seenRecords: async () => [],
      noteMissed: async () => undefined,
    },
    resources: {
      getObject: async () => Object(THINGS.objects)[objectName],
      mappingVersionOf: async () => mappingVersion,
      rateLimitOf: () => limitAfter(lists),
      listChanges: async () => ({ changes: [], providerCalls: 1 }),
      listRecords: async (target: unknown, { orderBy }: ListRequest) => {
        // A script that changed the filter could hide changes.
        expect(target).to.include({ keepsFilter: true });
        onList?.();
        const page = lists++ % pages;
        const record = { id: `r${page}`, updatedAt: at(page), createdAt: at(page) };
        const hasMore = page + 1 < pages;
        return {
          records: [record],
          pushdown: 'full',
          providerCalls: 1,
          ...(hasMore && { nextPage: `${orderBy} ${page + 1}` }),
        };
      },
    },
    prepare: async (found: readonly NewEvent[]) => ({
      insert: async () => {
        onStore?.();
        events.push(...found);
      },
      committed: () => undefined,
    }),
    clock: { now: () => START_MS + pages * HOUR_MS },
    options: options ?? OPTIONS,
  } as unknown as RunPorts;
  const kind = objectName === 'notes' ? 'snapshot' : 'window';
  const watermark = kind === 'window' ? new Date(START_MS - 1) : null;
  const poll = {
    accountId: 1,
    instanceId: 2,
    resource: objectName,
    kind,
    watermark,
    feedWatermark: new Date(START_MS),
    feedToken: null,
    feedTokenOf: null,
    mappingVersion: null,
    mappedObject: null,
    waits,
  };
  const input = {
    poll: { ...poll, intervalMs: 60_000, lastSuccessAt: null },
    ...{ instance: { connector: THINGS, config: {} }, settings, resource, signal: new AbortController().signal },
  } as unknown as RunInput;
  const end = await runPoll(ports, input, { events: 0, providerCalls: 0 });
  return { end, lists, events };
}

describe('a run of a poll', () => {
  it('stores nothing of records that another mapping than its own has made', async () => {
    let stored = 0;
    const onStore = () => void stored++;
    await run({ objectName: 'things', pages: 1, onStore });
    expect(stored).to.equal(1);
    const lost: unknown = await run({ objectName: 'things', pages: 1, onStore, mappingVersion: 'another' }).catch(
      (caught: unknown) => caught,
    );
    expect(lost).to.be.instanceOf(PollLost);
    expect(stored).to.equal(1);
  });

  it('ends with an error at a list that never ends', async () => {
    let listed = 0;
    const onList = () => void listed++;
    const options = { ...OPTIONS, mostListed: 20 };
    const error: unknown = await run({
      objectName: 'notes',
      pages: Number.POSITIVE_INFINITY,
      options,
      onList,
    }).catch((caught: unknown) => caught);
    expect(error).to.include({ code: 'PROVIDER_PROTOCOL' });
    expect(listed).to.equal(21);
  });
});

describe('a run of a poll where little is left of the limit of the provider', () => {
  const low = () => LOW;
  const lowAfter = (count: number) => (calls: number) => (calls >= count ? LOW : undefined);

  for (const objectName of ['notes', 'mortals', 'things'] as const) {
    it(`does not begin, of ${objectName}`, async () => {
      const { end, lists } = await run({ objectName, pages: 5, limitAfter: low });
      expect([end, lists]).to.deep.equal([{ afterMs: 300_000, isWait: true }, 0]);
    });

    it(`begins when it has waited often enough, of ${objectName}`, async () => {
      const { lists, events } = await run({ objectName, pages: 5, limitAfter: low, waits: MOST_WAITS });
      expect([lists > 0, events.length > 0]).to.deep.equal([true, true]);
    });
  }

  const url = "/things?where=updatedAt >= '${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}'";
  const byUrl = { 'event.poller.configuration': { things: { url } } };
  for (const [what, given, passes] of [
    ['a snapshot', { objectName: 'notes' }, 1],
    // Everything is read once more until nothing new turns up, and here all of it is new each time.
    ['a list in no order', { objectName: 'things', settings: byUrl }, OPTIONS.mostPasses],
  ] as const) {
    it(`is left alone after the first page of ${what}, and read whole when it has waited`, async () => {
      const first = await run({ ...given, pages: 5, limitAfter: lowAfter(1) });
      expect([first.end, first.lists]).to.deep.equal([{ afterMs: 300_000, isWait: true }, 1]);
      const last = await run({ ...given, pages: 5, limitAfter: lowAfter(1), waits: MOST_WAITS });
      expect([last.end, last.lists]).to.deep.equal([undefined, 5 * passes]);
      expect(last.events.length).to.be.at.least(5);
    });
  }

  it('is read to its end where it cannot be gone on with later and has begun', async () => {
    const { end, lists } = await run({ objectName: 'notes', pages: 5, limitAfter: lowAfter(2) });
    expect([end, lists]).to.deep.equal([undefined, 5]);
  });

  it('is read to its end where that is on the first page', async () => {
    const { end, events } = await run({ objectName: 'notes', pages: 1, limitAfter: lowAfter(1) });
    expect([end, events.length]).to.deep.equal([undefined, 1]);
  });

  it('is cut at a page where the next run goes on from there, which is no wait', async () => {
    const { end, lists } = await run({ objectName: 'things', pages: 5, limitAfter: lowAfter(1) });
    expect([end, lists]).to.deep.equal([{ afterMs: 300_000, isWait: false }, 1]);
  });

  it('waits an hour at most', async () => {
    const { end } = await run({ objectName: 'notes', pages: 1, limitAfter: () => ({ ...LOW, resetSeconds: 86_400 }) });
    expect(end).to.deep.equal({ afterMs: HOUR_MS, isWait: true });
  });

  it('begins where more than a quarter is left, or nothing is told of how much', async () => {
    for (const told of [
      { ...LOW, remaining: 26 },
      { limit: 100, resetSeconds: 300 },
      { remaining: 0, resetSeconds: 300 },
    ]) {
      const { end, lists } = await run({ objectName: 'notes', pages: 2, limitAfter: () => told });
      expect([end, lists], JSON.stringify(told)).to.deep.equal([undefined, 2]);
    }
  });
});
