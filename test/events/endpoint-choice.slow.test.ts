import { expect } from 'chai';
import fc from 'fast-check';
import { compileWish, createChoice, type EndpointWish } from '../../src/events/endpoints/choose.ts';
import type { EventSource, NewEvent } from '../../src/events/model.ts';
import { attemptsOf, deliveries } from '../support/event-rows.ts';
import { ACCOUNT_ID, plainSource, quickSchedules, useEngines } from '../support/events.ts';
import { status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

const TYPES = ['deals.created', 'deals.updated', 'deals.deleted', 'leads.created'] as const;
const ELEMENTS = ['odata', 'shop'] as const;
const HUBS = ['general', 'crm'] as const;
const TAGS = ['a', 'b', 'c'] as const;
const STAGES = ['Won', 'Lost', null] as const;
const INSTANCES = [1, 2, 3] as const;

/** A predicate, and what it means: undefined where only the record would tell, and there is none. */
interface Meant {
  readonly where: string;
  readonly holds: (event: Sketch, source: EventSource) => boolean | undefined;
}

interface Sketch {
  readonly type: (typeof TYPES)[number];
  readonly instanceId: number;
  /** The record of the event; undefined: it has none. */
  readonly object: { readonly stage: string | null; readonly amount: number } | undefined;
  /** What the provider would return. Undefined: it cannot be read. */
  readonly readable: Sketch['object'];
}

const recordOf = ({ type, object, readable }: Sketch) => object ?? (type === 'deals.deleted' ? undefined : readable);

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
  fc.option(fc.subarray([...items], { minLength: 1 }), { nil: undefined, freq: 1 });

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
});

const record = fc.record({ stage: fc.constantFrom(...STAGES), amount: fc.integer({ min: 0, max: 4 }) });
const event: fc.Arbitrary<Sketch> = fc.record({
  type: fc.constantFrom(...TYPES),
  instanceId: fc.constantFrom(...INSTANCES),
  object: fc.option(record, { nil: undefined }),
  readable: fc.option(record, { nil: undefined }),
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

  it('get what they want once each, beside the callback URL, and nothing else', async () => {
    let round = 0;
    await fc.assert(
      fc.asyncProperty(world, async ({ endpoints, events, sources }) => {
        const at = `/model-${round++}`;
        const engine = await bench.start({
          options: { schedules: quickSchedules(1) },
          findEndpoints: async () => choice,
        });
        for (const id of INSTANCES) {
          const { hasUrl, ...given } = sources[id - 1] ?? sources[0];
          engine.sources.set(id, given);
          bench.receiver.answer(`${at}/callback-${id}`, status(204));
          if (hasUrl) engine.urls.set(id, `${bench.receiver.url}${at}/callback-${id}`);
        }
        const wanting = [];
        for (const [index, { filter: wish, ordered, ...rest }] of endpoints.entries()) {
          const path = `${at}/endpoint-${index}`;
          bench.receiver.answer(path, status(204));
          const url = bench.receiver.url + path;
          const [{ id = 0 } = {}] = await bench
            .knex('subscription')
            .insert({ account_id: ACCOUNT_ID, url, secrets: 'sealed', is_endpoint: true })
            .returning('id');
          const host = new URL(url).host;
          const wanted: EndpointWish = { ...rest, where: wish?.where };
          wanting.push({ receiver: { subscriptionId: id, host, ordered }, ...compileWish(wanted, () => undefined) });
        }
        let reads = 0;
        const readables = new Map(events.map((sketch, index) => [String(index), sketch]));
        const choice =
          wanting.length === 0
            ? undefined
            : createChoice(wanting, async ({ objectId = '', type }: NewEvent) => {
                reads++;
                return type.endsWith('.deleted') ? undefined : readables.get(objectId)?.readable;
              });

        const sourceOf = (id: number) => ({ ...plainSource(ACCOUNT_ID, id), ...(sources[id - 1] ?? sources[0]) });
        const expected: string[] = [];
        let asking = 0;
        for (const [index, sketch] of events.entries()) {
          const of = sourceOf(sketch.instanceId);
          if (sources[sketch.instanceId - 1]?.hasUrl === true) expected.push(`callback-${sketch.instanceId} ${index}`);
          for (const [place, { filter: wish, ...rest }] of endpoints.entries()) {
            if (!admits(rest, sketch, of)) continue;
            const verdict = wish === undefined ? true : wish.holds(sketch, of);
            if (verdict !== false)
              expected.push(`endpoint-${place} ${index}${verdict === undefined ? ' unfiltered' : ''}`);
          }
          const isAsked = endpoints.some(
            ({ filter: wish, ...rest }) =>
              admits(rest, sketch, of) &&
              sketch.object === undefined &&
              wish?.holds({ ...sketch, readable: undefined }, of) === undefined &&
              wish !== undefined,
          );
          if (isAsked) asking++;
        }

        const { eventIds } = await engine.events.accept(events.map(toEvent));
        await until(async () => (await deliveries(bench.knex)).length === 0);
        const received = bench.receiver.requests
          .filter(({ url }) => url.startsWith(`${at}/`))
          .map(({ url, body }) => {
            const { data } = JSON.parse(body);
            return `${url.slice(at.length + 1)} ${data.objectId}${data.unfiltered === true ? ' unfiltered' : ''}`;
          });
        expect(received.toSorted()).to.deep.equal(expected.toSorted());
        expect(reads, 'reads of records').to.equal(asking);
        const wantedEvents = new Set(expected.map((entry) => entry.split(' ')[1]));
        expect(eventIds.map((id) => id !== undefined)).to.deep.equal(
          events.map((_, index) => wantedEvents.has(String(index))),
        );
        expect(await bench.knex('event').select('id')).to.have.length(wantedEvents.size);
        expect(await attemptsOf(bench.knex)).to.have.length(expected.length);
        await engine.events.stop(100);
        await bench.knex.raw(
          'truncate delivery, delivery_attempt, event, event_owner, endpoint_rate, endpoint, subscription',
        );
      }),
      { numRuns: 60 },
    );
  });
});

function admits(
  { eventTypes, instances, elementKeys, hubs, tags }: Omit<EndpointWish, 'where'>,
  { type, instanceId }: Sketch,
  of: EventSource,
): boolean {
  return (
    eventTypes.some((each) => each === '*' || each === type || (each === 'deals.*' && type.startsWith('deals.'))) &&
    (instances === undefined || instances.includes(instanceId)) &&
    (elementKeys === undefined || elementKeys.includes(of.elementKey)) &&
    (hubs === undefined || hubs.includes(of.hub)) &&
    (tags === undefined || of.tags.some((tag) => tags.includes(tag)))
  );
}

function toEvent({ type, instanceId, object }: Sketch, index: number): NewEvent {
  const [objectName = ''] = type.split('.');
  return { accountId: ACCOUNT_ID, instanceId, type, objectName, objectId: String(index), object };
}
