import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { createPoolShares } from '../../src/db/pool-shares.ts';
import type { RecordReading } from '../../src/events/endpoints/choose.ts';
import type { EndpointInput } from '../../src/events/endpoints/endpoint.ts';
import { createEndpoints } from '../../src/events/endpoints/endpoints.ts';
import type { RecordTypes } from '../../src/events/endpoints/event-where.ts';
import type { BodyFormat, EventSource, NewEvent } from '../../src/events/model.ts';
import { createSubscriptions } from '../../src/events/subscriptions/subscriptions.ts';
import { silentLog } from '../support/database.ts';
import { attemptsOf, deliveries, emptyTables } from '../support/event-rows.ts';
import { ACCOUNT_ID, plainSource, quickSchedules, useEngines } from '../support/events.ts';
import { createLocalNotifier } from '../support/notifier.ts';
import { until } from '../support/until.ts';

const TYPES = ['deals.created', 'deals.updated', 'deals.deleted', 'leads.created'] as const;
const ELEMENTS = ['odata', 'shop'] as const;
const HUBS = ['general', 'crm'] as const;
const TAGS = ['a', 'b', 'c'] as const;
const STAGES = ['Won', 'Lost', null] as const;
const INSTANCES = [1, 2, 3] as const;
const FORMATS = ['standard', 'elements', 'cloudevents'] as const;
/** The types of a record's fields, by what is known about its object. */
const TYPES_OF = {
  described: { stage: { type: 'string' }, amount: { type: 'number' }, code: { type: 'number' } },
  /** No object describes it: literals decide. */
  undescribed: undefined,
  /** The description cannot be read now. */
  unreadable: 'unknown',
} as const satisfies Record<string, RecordTypes | 'unknown' | undefined>;

/** A predicate, and what it means: undefined where only the record would tell, and there is none. */
interface Meant {
  readonly where: string;
  readonly holds: (event: Sketch, source: EventSource) => boolean | undefined;
}

interface Sketch {
  readonly type: (typeof TYPES)[number];
  readonly instanceId: number;
  /** The record of the event; undefined: it has none. */
  readonly object: { readonly stage: string | null; readonly amount: number; readonly code: string } | undefined;
  /** What the provider would return. Undefined: it cannot be read. */
  readonly readable: Sketch['object'];
  readonly types: keyof typeof TYPES_OF;
}

/** Returns the record of an event, if filters can judge it. */
const recordOf = ({ type, object, readable, types }: Sketch) =>
  types === 'unreadable' ? undefined : (object ?? (type === 'deals.deleted' ? undefined : readable));

const predicate: fc.Arbitrary<Meant> = fc.oneof(
  fc
    .constantFrom(...TYPES)
    .map((type) => ({ where: `type = '${type}'`, holds: (event) => event.type === type }) as Meant),
  fc
    .constantFrom('deals', 'leads')
    .map((name) => ({ where: `objectName = '${name}'`, holds: (event) => event.type.startsWith(`${name}.`) }) as Meant),
  fc
    .constantFrom(...ELEMENTS)
    .map((key) => ({ where: `elementKey = '${key}'`, holds: (_, source) => source.elementKey === key }) as Meant),
  fc
    .constantFrom(...INSTANCES)
    .map((id) => ({ where: `instance.id >= ${id}`, holds: (event) => event.instanceId >= id }) as Meant),
  fc
    .constantFrom(...TAGS)
    .map((tag) => ({ where: `instance.tags = '${tag}'`, holds: (_, source) => source.tags.includes(tag) }) as Meant),
  fc
    .constantFrom(...TAGS)
    .map((tag) => ({ where: `instance.tags != '${tag}'`, holds: (_, source) => !source.tags.includes(tag) }) as Meant),
  fc.constantFrom('Won', 'Lost').map(
    (stage) =>
      ({
        where: `object.stage = '${stage}'`,
        holds: (event) => {
          const record = recordOf(event);
          return record && record.stage === stage;
        },
      }) as Meant,
  ),
  fc.integer({ min: 0, max: 3 }).map(
    (amount) =>
      ({
        where: `object.amount > ${amount}`,
        holds: (event) => {
          const record = recordOf(event);
          return record && record.amount > amount;
        },
      }) as Meant,
  ),
  fc.constantFrom('1', '01').map(
    (code) =>
      ({
        where: `object.code = '${code}'`,
        holds: (event) => {
          const record = recordOf(event);
          if (record === undefined) return undefined;
          return event.types === 'described' ? Number(record.code) === 1 : record.code === code;
        },
      }) as Meant,
  ),
  fc.constant({
    where: 'object.stage IS NULL',
    holds: (event) => {
      const record = recordOf(event);
      return record && record.stage === null;
    },
  } as Meant),
);

function joined(word: 'AND' | 'OR', [left, right]: readonly [Meant, Meant]): Meant {
  const decisive = word === 'OR';
  return {
    where: `(${left.where} ${word} ${right.where})`,
    holds: (event, source) => {
      const sides = [left.holds(event, source), right.holds(event, source)];
      if (sides.includes(decisive)) return decisive;
      return sides.includes(undefined) ? undefined : !decisive;
    },
  };
}

const filter: fc.Arbitrary<Meant> = fc.oneof(
  predicate,
  fc.tuple(predicate, predicate).map((sides) => joined('AND', sides)),
  fc.tuple(predicate, predicate).map((sides) => joined('OR', sides)),
  fc
    .tuple(
      fc.tuple(predicate, predicate).map((sides) => joined('OR', sides)),
      predicate,
    )
    .map((sides) => joined('AND', sides)),
);

const subset = <Item>(items: readonly Item[]) =>
  fc.option(fc.subarray([...items], { minLength: 1 }), { nil: undefined, freq: 2 });

const endpoint = fc.record({
  eventTypes: fc.oneof(
    { weight: 2, arbitrary: fc.constant(['*']) },
    fc.subarray(['deals.*', 'leads.created'], { minLength: 1 }),
  ),
  filter: fc.option(filter, { nil: undefined }),
  instances: subset(INSTANCES),
  elementKeys: subset(ELEMENTS),
  hubs: subset(HUBS),
  tags: subset(TAGS),
  ordered: fc.boolean(),
  format: fc.constantFrom(...FORMATS),
  state: fc.oneof(
    { weight: 4, arbitrary: fc.constant('on' as const) },
    fc.constantFrom('inactive' as const, 'deactivated' as const),
  ),
  /** Whether the first push to it fails. */
  fails: fc.boolean(),
});

const record = fc.record({
  stage: fc.constantFrom(...STAGES),
  amount: fc.integer({ min: 0, max: 4 }),
  code: fc.constantFrom('1', '01', '2'),
});
const event: fc.Arbitrary<Sketch> = fc.record({
  type: fc.constantFrom(...TYPES),
  instanceId: fc.constantFrom(...INSTANCES),
  object: fc.option(record, { nil: undefined }),
  readable: fc.option(record, { nil: undefined }),
  types: fc.constantFrom('described', 'described', 'undescribed', 'unreadable'),
});

const source = fc.record({
  elementKey: fc.constantFrom(...ELEMENTS),
  hub: fc.constantFrom(...HUBS),
  tags: fc.subarray([...TAGS]),
  hasUrl: fc.boolean(),
});

const world = fc.record({
  endpoints: fc.array(endpoint, { maxLength: 6 }),
  events: fc.array(event, { minLength: 1, maxLength: 12 }),
  sources: fc.tuple(source, source, source),
});

describe('endpoints, by a model', () => {
  const bench = useEngines();

  it('get what they want once each, in its form and order, beside the callback URL, and nothing else', async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        await play(`/model-${round++}`, given);
        await emptyTables(bench.knex);
      }),
      { numRuns: 60 },
    );
  });

  /** Creates the services of subscriptions and endpoints as the service does, over a given reading of records. */
  function createServices(openRecords: () => RecordReading) {
    const platform = {
      ...{ knex: bench.knex, shares: createPoolShares({ knex: bench.knex, poolSize: 4 }), log: silentLog },
      keyring: createKeyring(`model:${Buffer.alloc(32, 3).toString('base64')}`),
      ...{ notifier: createLocalNotifier(), random: { bytes: randomBytes }, clock: SYSTEM_CLOCK },
      egress: { check: async () => {} },
    };
    const subscriptions = createSubscriptions(platform);
    const endpoints = createEndpoints(
      platform,
      {
        subscriptions,
        knownObjects: async () => [],
        elements: { keys: () => ELEMENTS, hubs: () => HUBS },
        hasInstance: async () => true,
        openRecords,
      },
      { maxPerAccount: 10 },
    );
    return { subscriptions, endpoints };
  }

  async function play(at: string, { endpoints: wishes, events, sources }: World): Promise<void> {
    let reads = 0;
    const sketchOf = (event: NewEvent) => events[Number(event.objectId)];
    const records: RecordReading = {
      record: async (event) => {
        reads++;
        return event.type.endsWith('.deleted') ? undefined : sketchOf(event)?.readable;
      },
      types: async (event) => TYPES_OF[sketchOf(event)?.types ?? 'unreadable'],
    };
    const { subscriptions, endpoints } = createServices(() => records);
    const engine = await bench.start({
      options: { schedules: quickSchedules(2) },
      subscriptions,
      findEndpoints: endpoints.find,
    });
    const received: { readonly path: string; readonly entry: string }[] = [];
    const receive = (path: string, format: BodyFormat, fails: boolean) => {
      let failures = fails ? 1 : 0;
      bench.receiver.answer(path, (response, { headers }) => {
        const isFailure = failures-- > 0;
        const body = bench.receiver.requests.findLast(({ headers: of }) => of === headers)?.body ?? '';
        if (!isFailure) received.push({ path, entry: entryOf(path.slice(at.length + 1), format, body, headers) });
        response.writeHead(isFailure ? 500 : 204).end();
      });
      return bench.receiver.url + path;
    };
    for (const id of INSTANCES) {
      const { hasUrl, ...source } = sources[id - 1] ?? sources[0];
      engine.sources.set(id, source);
      if (hasUrl) engine.urls.set(id, receive(`${at}/callback-${id}`, 'standard', false));
    }
    const ids: number[] = [];
    for (const [index, { filter: wish, state, fails, ...rest }] of wishes.entries()) {
      const url = receive(`${at}/endpoint-${index}`, rest.format, fails);
      const input: EndpointInput = { ...rest, where: wish?.where, active: state !== 'inactive' };
      const id = await endpoints.create(ACCOUNT_ID, { ...input, url });
      ids.push(id);
      if (state === 'deactivated') await subscriptions.deactivate(bench.knex, ACCOUNT_ID, id, 'by the model');
    }

    const expected: string[] = [];
    const queued: string[] = [];
    const wantedEvents = new Set<number>();
    let asking = 0;
    for (const [index, sketch] of events.entries()) {
      const of = { ...plainSource(ACCOUNT_ID, sketch.instanceId), ...(sources[sketch.instanceId - 1] ?? sources[0]) };
      if (sources[sketch.instanceId - 1]?.hasUrl === true) {
        expected.push(`callback-${sketch.instanceId} standard ${index}`);
        wantedEvents.add(index);
      }
      const active = wishes.flatMap((wish, place) => (wish.state === 'inactive' ? [] : [{ ...wish, place }]));
      for (const { filter: wish, place, format, state, ...rest } of active) {
        if (!admits(rest, sketch, of)) continue;
        const verdict = wish === undefined ? true : wish.holds(sketch, of);
        if (verdict === false) continue;
        wantedEvents.add(index);
        if (state === 'deactivated') queued.push(`${ids[place]} ${index} ${verdict === undefined}`);
        else expected.push(`endpoint-${place} ${format} ${index}${verdict === undefined ? ' unfiltered' : ''}`);
      }
      const isAsked = active.some(
        ({ filter: wish, ...rest }) =>
          admits(rest, sketch, of) &&
          sketch.object === undefined &&
          wish !== undefined &&
          wish.holds({ ...sketch, readable: undefined }, of) === undefined,
      );
      if (isAsked) asking++;
    }

    const middle = events.length >> 1;
    const all = events.map(toEvent);
    const { eventIds: first } = await engine.events.accept(all.slice(0, middle));
    const { eventIds: second } = await engine.events.accept(all.slice(middle));
    const open = async () => (await deliveries(bench.knex)).filter(({ state }) => state !== 'queued');
    await until(async () => (await open()).length === 0);
    expect(received.map(({ entry }) => entry).toSorted(), 'received').to.deep.equal(expected.toSorted());
    for (const [place, { ordered }] of wishes.entries()) {
      const isOf = (entry: string) => entry.startsWith(`endpoint-${place} `);
      const arrived = received.map(({ entry }) => entry).filter(isOf);
      if (ordered) expect(arrived, `order of endpoint ${place}`).to.deep.equal(expected.filter(isOf));
    }
    expect(reads, 'reads of records').to.equal(asking);
    expect(
      [...first, ...second].map((id) => id !== undefined),
      'events with an id',
    ).to.deep.equal(events.map((_, index) => wantedEvents.has(index)));
    const payloads = await bench.knex('event').select('id', 'payload');
    expect(payloads, 'stored events').to.have.length(wantedEvents.size);
    const indexOf = new Map(payloads.map(({ id, payload }) => [id, JSON.parse(payload).data.objectId]));
    const waiting = (await deliveries(bench.knex)).map(
      (row) => `${row.subscription_id} ${indexOf.get(row.event_id)} ${row.unfiltered}`,
    );
    expect(waiting.toSorted(), 'queued').to.deep.equal(queued.toSorted());
    const delivered = (await attemptsOf(bench.knex)).filter((attempt) => attempt.delivered);
    expect(delivered, 'attempts').to.have.length(expected.length);
    await engine.events.stop(100);
  }
});

type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

/** Describes a received body by what only its format has. */
function entryOf(name: string, format: BodyFormat, body: string, headers: NodeJS.Dict<string | string[]>): string {
  const parsed = JSON.parse(body);
  const type = headers['content-type'];
  if (format === 'elements') {
    const { message } = parsed;
    expect([parsed.topic, type, headers['elements-webhook-id'] !== undefined]).to.deep.equal([
      'event',
      'application/json',
      true,
    ]);
    return `${name} elements ${message.events[0].objectId}${message.unfiltered === true ? ' unfiltered' : ''}`;
  }
  const isCloudEvent = parsed.specversion === '1.0' && type === 'application/cloudevents+json';
  const { objectId, unfiltered } = parsed.data;
  return `${name} ${isCloudEvent ? 'cloudevents' : 'standard'} ${objectId}${unfiltered === true ? ' unfiltered' : ''}`;
}

function admits(
  { eventTypes = ['*'], instances, elementKeys, hubs, tags }: EndpointInput,
  { type, instanceId }: Sketch,
  of: EventSource,
): boolean {
  return (
    eventTypes.some((each) => each === '*' || each === type || (each === 'deals.*' && type.startsWith('deals.'))) &&
    (instances == null || instances.includes(instanceId)) &&
    (elementKeys == null || elementKeys.includes(of.elementKey)) &&
    (hubs == null || hubs.includes(of.hub)) &&
    (tags == null || of.tags.some((tag) => tags.includes(tag)))
  );
}

function toEvent({ type, instanceId, object }: Sketch, index: number): NewEvent {
  const [objectName = ''] = type.split('.');
  return { accountId: ACCOUNT_ID, instanceId, type, objectName, objectId: String(index), object };
}
