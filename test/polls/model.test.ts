import { expect } from 'chai';
import fc from 'fast-check';
import type { ObjectSpec } from '../../src/connector/contract.ts';
import { runs } from '../../suite/effort.ts';
import { type Death, usePolls } from './single-runs.ts';

/** Runs of `npm test`; MODEL_RUNS for more, with MODEL_SEED for those of a failure. */
const RUNS = Number(process.env.MODEL_RUNS ?? runs(200));
const START_MS = Date.UTC(2030, 0, 1);
const OVERLAP_SECONDS = 30;
const PAGE_SIZE = 3;
const RESOURCE = 'things';

interface Thing {
  readonly id: string;
  readonly version: number;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Commits of a provider may be seen later than their time says. */
  readonly visibleMs: number;
}

interface Traits {
  /** Whether the provider sorts by the time of the change. */
  readonly sorts: boolean;
  /** Milliseconds that its times tell apart. */
  readonly stepMs: 1 | 1000 | 60_000;
  readonly hasDates: boolean;
  /** Its clock is so much ahead. */
  readonly skewMs: number;
  readonly backfill: boolean;
}

type Step =
  | { readonly kind: 'create' | 'update'; readonly which: number; readonly lateMs: number; readonly aheadMs: number }
  | { readonly kind: 'remove' | 'restore'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | ({
      readonly kind: 'poll';
      readonly during: readonly number[];
      /** Meanwhile the provider does not show one of the things. */
      readonly hides: number | undefined;
    } & Death);

const traits: fc.Arbitrary<Traits> = fc.record({
  sorts: fc.boolean(),
  stepMs: fc.constantFrom(1, 1000, 60_000),
  hasDates: fc.boolean(),
  skewMs: fc.constantFrom(0, 0, 5 * 60_000, -5 * 60_000),
  backfill: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  ...(
    [
      ['create', 3],
      ['update', 4],
    ] as const
  ).map(([kind, weight]) => ({
    weight,
    arbitrary: fc.record({
      kind: fc.constant(kind),
      which: fc.nat(9),
      lateMs: fc.constantFrom(0, 0, 0, 20_000),
      aheadMs: fc.constantFrom(0, 0, 0, 0, 0, 0, 36_000_000),
    }),
  })),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore' as const), which: fc.nat(9) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 400, 5_000, 90_000, 4_000_000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      crash: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const),
      atCommit: fc.nat(3),
      during: fc.array(fc.nat(11), { maxLength: 4 }),
      hides: fc.option(fc.nat(9), { freq: 2, nil: undefined }),
    }),
  },
);

interface Oddities {
  /** It is seen so much later than its time says. */
  readonly lateMs: number;
  /** Its time is wrong, and so much too late. */
  readonly aheadMs: number;
  readonly isNew: boolean;
}

/** Of what happens while a list is read: these add a thing, and those take one away. */
const [LEAST_NEW, LEAST_REMOVED] = [8, 10];

function pick(ids: readonly string[], which: number): string | undefined {
  return ids[which % ids.length];
}

/** A provider whose lists move while they are read. */
function createProvider({ sorts, stepMs, hasDates, skewMs }: Traits, clock: { readonly now: () => number }) {
  const things = new Map<string, Thing>();
  /** Each as it was last, also those that are gone. */
  const known = new Map<string, Thing>();
  /** Changes that happen before the next pages. */
  let pending: (() => void)[] = [];
  let hidden: string | undefined;
  const floor = (ms: number) => Math.floor((ms + skewMs) / stepMs) * stepMs;

  function put(id: string, { lateMs = 0, aheadMs = 0 }: Partial<Oddities> = {}): void {
    const before = things.get(id);
    const updatedMs = floor(clock.now()) + aheadMs;
    const thing = {
      id,
      version: (known.get(id)?.version ?? 0) + 1,
      createdMs: before?.createdMs ?? updatedMs,
      updatedMs,
      // What is there already does not disappear.
      visibleMs: before === undefined ? clock.now() + lateMs : clock.now(),
    };
    things.set(id, thing);
    known.set(id, thing);
  }

  function change(which: number, { isNew = false, ...oddities }: Partial<Oddities> = {}): void {
    const id = isNew ? undefined : pick([...things.keys()], which);
    put(id ?? `t${known.size}`, oddities);
  }

  function remove(which: number): void {
    const id = pick([...things.keys()], which);
    if (id !== undefined) things.delete(id);
  }

  /** It comes again, as another than it was. */
  function restore(which: number): void {
    const id = pick(
      [...known.keys()].filter((each) => !things.has(each)),
      which,
    );
    if (id !== undefined) put(id);
  }

  const date = {
    type: 'datetime',
    nullable: false,
    ...(sorts && { sortable: true }),
    filter: { '>=': 'exact' },
  } as const;
  const dates = { changedWhen: date, createdWhen: date };
  const object: ObjectSpec = {
    fields: { id: { type: 'string', nullable: false }, version: { type: 'integer' }, ...(hasDates && dates) },
    ...(hasDates && { changes: { updated: 'changedWhen', created: 'createdWhen', overlapSeconds: OVERLAP_SECONDS } }),
  };

  function list({
    where = '',
    orderBy = '',
    nextPage,
    pageSize = PAGE_SIZE,
  }: {
    where?: string;
    orderBy?: string;
    nextPage?: string;
    pageSize?: number;
  }) {
    const since = Date.parse(/>= '([^']+)'/.exec(where)?.[1] ?? '1970-01-01T00:00:00Z');
    const sign = orderBy.endsWith('desc') ? -1 : 1;
    const rows = [...things.values()]
      .filter(({ id, updatedMs, visibleMs }) => updatedMs >= since && visibleMs <= clock.now() && id !== hidden)
      // Unsorted: those that changed last come first, so that rows move away from who reads on.
      .sort(
        (a, b) =>
          (orderBy === '' ? b.updatedMs - a.updatedMs : sign * (a.updatedMs - b.updatedMs)) || a.id.localeCompare(b.id),
      );
    const offset = Number(nextPage ?? 0);
    const records = rows.slice(offset, offset + pageSize).map(({ id, version, createdMs, updatedMs }) => ({
      id,
      version,
      ...(hasDates && {
        changedWhen: new Date(updatedMs).toISOString(),
        createdWhen: new Date(createdMs).toISOString(),
      }),
    }));
    const more = offset + pageSize < rows.length ? { nextPage: String(offset + pageSize) } : {};
    const [next, ...rest] = pending;
    pending = rest;
    next?.();
    return { records, ...more, pushdown: 'full' as const, providerCalls: 1 };
  }

  return {
    object,
    list,
    change,
    remove,
    restore,
    things,
    plan: (changes: readonly (() => void)[], hides: number | undefined) => {
      pending = [...changes];
      // Whoever asks for what changed since a time does not ask again.
      hidden = hides === undefined || hasDates ? undefined : pick([...things.keys()], hides);
    },
  };
}

/** Found at random, and lost by a version that took for known whatever is older than the newest record: that one has a time to come. */
const CHANGED_IN_FIRST_POLL: [Traits, Step[]] = [
  { sorts: true, stepMs: 1, hasDates: true, skewMs: 0, backfill: false },
  [
    { kind: 'create', which: 0, lateMs: 0, aheadMs: 36_000_000 },
    { kind: 'create', which: 0, lateMs: 0, aheadMs: 0 },
    { kind: 'create', which: 0, lateMs: 0, aheadMs: 0 },
    { kind: 'poll', crash: undefined, atCommit: 0, during: [0], hides: undefined },
    { kind: 'poll', crash: undefined, atCommit: 0, during: [], hides: undefined },
  ],
];

describe('pollers and providers at random', function () {
  this.timeout(RUNS * 2_000 + 20_000);
  const polls = usePolls();

  before(() => polls.knex.raw('create table model_event (run bigint, id text, version int, action text)'));

  async function check(given: Traits, steps: readonly Step[]): Promise<void> {
    let nowMs = START_MS;
    const clock = { now: () => nowMs };
    const added = await polls.add(RESOURCE, nowMs, { 'event.poller.backfill': given.backfill });
    const run = added.instanceId;
    const provider = createProvider(given, clock);
    let baseline: Map<string, number> | undefined;

    async function poll({ during, hides, ...death }: Extract<Step, { kind: 'poll' }>): Promise<void> {
      nowMs += 10;
      const claimed = await added.claim(nowMs);
      // More than a page of records of the time of the newest one cannot be told from those that change at that time while the first poll reads.
      const isTold = claimed.kind !== null || given.stepMs === 1;
      provider.plan(
        (isTold ? during : []).map((which) => () => {
          if (which >= LEAST_REMOVED) provider.remove(which);
          else provider.change(which, { isNew: which >= LEAST_NEW });
        }),
        hides,
      );
      const remember = () => {
        baseline = new Map([...provider.things.values()].map(({ id, version }) => [id, version]));
      };
      const isFirst = claimed.kind === null;
      if (isFirst) remember();
      await added.run({
        ...{ poll: claimed, nowMs, death, pageSize: PAGE_SIZE },
        resources: {
          getObject: async () => provider.object,
          listRecords: async (_target: unknown, request: object) => provider.list(request),
        },
        insert: async (via, events) => {
          for (const { objectId, object, type } of events) {
            const row = { run, id: objectId, version: Object(object).version, action: type.split('.')[1] };
            await via('model_event' as 'event').insert(row as never);
          }
        },
      });
      // Where the newest record cannot be asked for, the first poll begins when it has read all.
      if (isFirst && !(given.sorts && given.hasDates)) remember();
    }

    for (const each of steps) {
      if (each.kind === 'wait') nowMs += each.ms;
      else if (each.kind === 'poll') await poll(each);
      else if (each.kind === 'remove') provider.remove(each.which);
      else if (each.kind === 'restore') provider.restore(each.which);
      else provider.change(each.which, { ...each, isNew: each.kind === 'create' });
    }
    const calm = { kind: 'poll', crash: undefined, atCommit: 0, during: [], hides: undefined } as const;
    for (let number = 0; number < (given.hasDates ? 3 : 7); number++) {
      nowMs += 25_000;
      await poll(calm);
    }

    const { rows } = await polls.knex.raw<{
      rows: { id: string; version: number; action: string; count: number }[];
    }>('select id, version, count(*)::int as count from model_event where run = ? group by id, version', [run]);
    const twice = rows.filter(({ count }) => count > 1);
    expect(twice, 'accepted twice').to.deep.equal([]);
    const missing = [...provider.things.values()].filter(({ id, version }) => {
      const wasThere = !given.backfill && (baseline?.get(id) ?? 0) >= version;
      return !wasThere && !rows.some((row) => row.id === id && row.version === version);
    });
    expect(missing, 'never accepted').to.deep.equal([]);
    if (!given.hasDates) {
      const seen = polls.knex('poll_seen').where({ account_id: 1, instance_id: run }).count();
      expect(await seen, 'remembered').to.deep.equal([{ count: provider.things.size }]);
    }
    await added.remove();
  }

  it('accept each change once, however the day goes', async () => {
    const seed = process.env.MODEL_SEED;
    await fc.assert(fc.asyncProperty(traits, fc.array(step, { minLength: 5, maxLength: 40 }), check), {
      numRuns: RUNS,
      endOnFailure: false,
      examples: [CHANGED_IN_FIRST_POLL],
      ...(seed !== undefined && { seed: Number(seed) }),
    });
  });
});
