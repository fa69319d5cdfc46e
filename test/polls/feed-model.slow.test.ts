import { expect } from 'chai';
import fc from 'fast-check';
import type { ObjectSpec } from '../../src/connector/contract.ts';
import type { ListRequest } from '../../src/resources/index.ts';
import { runs } from '../../suite/effort.ts';
import { type Death, usePolls } from './single-runs.ts';

/** Number of random histories. MODEL_RUNS sets it, and MODEL_SEED repeats a failure. */
const RUNS = Number(process.env.MODEL_RUNS ?? runs(200));
const START_MS = Date.UTC(2030, 0, 1);
const PAGE_SIZE = 3;
const RESOURCE = 'things';

interface Traits {
  /** Whether polls also request the records by the time of their change. */
  readonly hasList: boolean;
  /** Whether a later poll can continue at any page. */
  readonly hasPageTokens: boolean;
  /** Whether the feed has the time of a deletion. */
  readonly hasTimes: boolean;
}

type Step =
  | { readonly kind: 'create' }
  /** A silent change shows only in the feed. */
  | { readonly kind: 'update'; readonly which: number; readonly isSilent: boolean }
  | { readonly kind: 'remove' | 'restore'; readonly which: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | ({
      readonly kind: 'poll';
      /** Changes between the pages. */
      readonly during: readonly Exclude<Step, { readonly kind: 'poll' }>[];
    } & Death);

const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('create' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('update' as const), which: fc.nat(9), isSilent: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'restore'), which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, 5_000, 4_000_000) }) },
);
const poll = fc.record({
  kind: fc.constant('poll' as const),
  crash: fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const),
  atCommit: fc.nat(3),
  during: fc.array(change, { maxLength: 4 }),
});
const traits: fc.Arbitrary<Traits> = fc.record({
  hasList: fc.boolean(),
  hasPageTokens: fc.boolean(),
  hasTimes: fc.boolean(),
});

interface Thing {
  readonly id: string;
  readonly version: number;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** A provider whose feed has the last change of each thing behind a token. */
function createProvider({ hasList, hasPageTokens, hasTimes }: Traits, clock: { now: number }) {
  const things = new Map<string, Thing>();
  /** The last version of each thing, also of removed ones. */
  const known = new Map<string, Thing>();
  const log = new Map<string, { readonly position: number; readonly atMs: number }>();
  const removals = new Map<string, number>();
  let position = 0;
  let pending: readonly Exclude<Step, { readonly kind: 'poll' }>[] = [];

  function note(id: string): void {
    log.delete(id);
    log.set(id, { position: ++position, atMs: clock.now });
  }

  function put(id: string, isSilent = false): void {
    const [present, last] = [things.get(id), known.get(id)];
    const thing = {
      id,
      version: (last?.version ?? 0) + 1,
      createdMs: present?.createdMs ?? clock.now,
      updatedMs: isSilent && present !== undefined ? present.updatedMs : clock.now,
    };
    things.set(id, thing);
    known.set(id, thing);
    note(id);
  }

  function apply(step: Exclude<Step, { readonly kind: 'poll' }>): void {
    if (step.kind === 'wait') clock.now += step.ms;
    else if (step.kind === 'create') put(`t${known.size}`);
    else if (step.kind === 'restore') {
      const gone = [...known.keys()].filter((id) => !things.has(id));
      const id = gone[step.which % gone.length];
      if (id !== undefined) put(id);
    } else {
      const ids = [...things.keys()];
      const id = ids[step.which % ids.length];
      if (id === undefined) return;
      if (step.kind === 'update') put(id, step.isSilent);
      else {
        things.delete(id);
        removals.set(id, (removals.get(id) ?? 0) + 1);
        note(id);
      }
    }
  }

  function changeMeanwhile(): void {
    const [next, ...rest] = pending;
    pending = rest;
    if (next !== undefined) apply(next);
  }

  const toRow = ({ id, version, createdMs, updatedMs }: Thing) => ({
    id,
    version,
    changedWhen: new Date(updatedMs).toISOString(),
    createdWhen: new Date(createdMs).toISOString(),
  });

  function feed({ since, token, cursor }: { since: string; token?: string; cursor?: string }) {
    if (token === undefined) return { changes: [], token: String(position), providerCalls: 1 };
    const behind = [...log].filter(([, entry]) => entry.position > Number(cursor ?? token));
    const shown = behind.slice(0, PAGE_SIZE);
    const changes = shown.map(([id, { atMs }]) => {
      const thing = things.get(id);
      const at = new Date(atMs).toISOString();
      if (thing === undefined) return { id, action: 'deleted', ...(hasTimes && { at }) };
      const action = thing.createdMs >= Date.parse(since) ? 'created' : 'updated';
      return { id, action, at, record: toRow(thing) };
    });
    const isLast = behind.length <= PAGE_SIZE;
    const last = isLast ? position : (shown.at(-1)?.[1].position ?? position);
    changeMeanwhile();
    return {
      changes,
      ...(!isLast && { next: String(last) }),
      ...((isLast || hasPageTokens) && { token: String(last) }),
      providerCalls: 1,
    };
  }

  function list({ where = '', orderBy = '', nextPage, pageSize = PAGE_SIZE }: Partial<ListRequest>) {
    const since = Date.parse(/>= '([^']+)'/.exec(where)?.[1] ?? '1970-01-01T00:00:00Z');
    const sign = orderBy.endsWith('desc') ? -1 : 1;
    const rows = [...things.values()]
      .filter(({ updatedMs }) => updatedMs >= since)
      .sort((a, b) => sign * (a.updatedMs - b.updatedMs) || a.id.localeCompare(b.id));
    const offset = Number(nextPage ?? 0);
    const records = rows.slice(offset, offset + pageSize).map(toRow);
    const more = offset + pageSize < rows.length ? { nextPage: String(offset + pageSize) } : {};
    changeMeanwhile();
    return { records, ...more, pushdown: 'full' as const, providerCalls: 1 };
  }

  const date = { type: 'datetime', nullable: false, sortable: true, filter: { '>=': 'exact' } } as const;
  const run = async () => ({ changes: [] });
  const object: ObjectSpec = {
    fields: { id: { type: 'string' }, version: { type: 'integer' }, changedWhen: date, createdWhen: date },
    changes: {
      ...(hasList && { updated: 'changedWhen', created: 'createdWhen', overlapSeconds: 30 }),
      feed: { run },
    },
  };
  return {
    ...{ object, feed, list, apply, things, removals },
    plan: (changes: typeof pending) => {
      pending = changes;
    },
  };
}

describe('feeds with tokens at random', function () {
  this.timeout(RUNS * 2_000 + 20_000);
  const polls = usePolls();

  before(() =>
    polls.knex.raw('create table feed_event (number serial, run bigint, id text, version int, action text)'),
  );

  async function check(given: Traits, steps: readonly Step[]): Promise<void> {
    const clock = { now: START_MS };
    const added = await polls.add(RESOURCE, clock.now);
    const run = added.instanceId;
    const provider = createProvider(given, clock);

    async function pollOnce({ during, ...death }: Extract<Step, { kind: 'poll' }>) {
      clock.now += 10;
      const claimed = await added.claim(clock.now);
      provider.plan(during);
      return added.run({
        ...{ poll: claimed, nowMs: clock.now, death, pageSize: PAGE_SIZE },
        resources: {
          getObject: async () => provider.object,
          listChanges: async (_: unknown, input: Parameters<typeof provider.feed>[0]) => provider.feed(input),
          listRecords: async (_: unknown, request: Partial<ListRequest>) => provider.list(request),
        },
        insert: async (via, events) => {
          for (const { objectId, object, type } of events) {
            const row = { run, id: objectId, version: Object(object).version ?? null, action: type.split('.')[1] };
            await via('feed_event' as 'event').insert(row as never);
          }
        },
      });
    }

    const calm = { kind: 'poll', crash: undefined, atCommit: 0, during: [] } as const;
    // What exists before the first poll is no news.
    await pollOnce(calm);
    for (const each of steps) {
      if (each.kind === 'poll') await pollOnce(each);
      else provider.apply(each);
    }
    for (let number = 0; number < 3; number++) {
      clock.now += 25_000;
      await pollOnce(calm);
    }
    expect(await pollOnce(calm), 'a calm poll').to.include({ events: 0 });

    const { rows: events } = await polls.knex.raw<{
      rows: { readonly id: string; readonly version: number | null; readonly action: string }[];
    }>('select id, version, action from feed_event where run = ? order by number', [run]);
    const names = events.flatMap(({ id, version }) => (version === null ? [] : [`${id} ${version}`]));
    expect(names, 'accepted twice').to.have.length(new Set(names).size);
    for (const [id, count] of provider.removals) {
      const deleted = events.filter((event) => event.id === id && event.action === 'deleted');
      // Where the thing was restored before the next poll, the feed does not have the removal.
      expect(deleted.length, `deletions of ${id}`).to.be.at.most(count);
    }
    const lastOf = (id: string) => events.findLast((event) => event.id === id);
    for (const { id, version } of provider.things.values()) {
      expect(lastOf(id), `the last event of ${id}`).to.include({ version });
    }
    for (const id of provider.removals.keys()) {
      if (!provider.things.has(id)) expect(lastOf(id), `the last event of ${id}`).to.include({ action: 'deleted' });
    }
    const created = events.filter(({ action }) => action === 'created').map(({ id }) => id);
    expect(created, 'created twice').to.have.length(new Set(created).size);
    await added.remove();
  }

  it('accept each change once and in the right order, however the day goes', async () => {
    const seed = process.env.MODEL_SEED;
    const steps = fc.array(fc.oneof({ weight: 2, arbitrary: change }, { weight: 1, arbitrary: poll }), {
      minLength: 5,
      maxLength: 40,
    });
    await fc.assert(fc.asyncProperty(traits, steps, check), {
      numRuns: RUNS,
      endOnFailure: false,
      ...(seed !== undefined && { seed: Number(seed) }),
    });
  });
});
