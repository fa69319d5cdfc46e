import type { Clock } from '../clock.ts';
import type { DiscoveryContext, ObjectSpec, Objects, OffloadResult } from '../connector/contract.ts';
import { createOffload } from '../connector/offload/index.ts';
import { ConnectorError } from '../connector/validate.ts';
import { findObjectProblems } from '../connector/validate-objects.ts';
import { AppError, cutText, isAppError, suggest } from '../errors.ts';
import type { ConnectedInstance, InstanceCall } from './call.ts';
import { createKeeper, type Weighed } from './keeper.ts';
import { findName } from './objects.ts';

const MIB = 1024 * 1024;

const KEPT = {
  /** A provider's fields change rarely; a new one is there at the latest after this time. */
  keepMs: 10 * 60_000,
  /** What cannot be used is not fetched and read again for every call. New settings are tried at once. */
  keepFailureMs: 60_000,
  isLasting: (error: unknown) => isAppError(error, 'PROVIDER_PROTOCOL') || error instanceof ConnectorError,
};

/** One account fills a third at most; a service with 8 MB of OData metadata takes 5 MB. */
const OBJECTS_KEPT = { ...KEPT, maxWeight: 96 * MIB, maxWeightOfOwner: 32 * MIB };
const DESCRIPTIONS_KEPT = { ...KEPT, maxWeight: 64 * MIB, maxWeightOfOwner: 16 * MIB };

/** Bytes. For the service of `scripts/bench/metadata.ts` they add up to 12.5 MB of descriptions; measured are 11.6 MB. */
const WEIGHT_OF = { object: 1000, field: 500 };

/** The objects of an instance: declared by its connector, or discovered from its provider and kept for a while. */
export function createCatalog(clock: Clock) {
  const offload = createOffload(clock);
  const keepObjects = createKeeper<Objects>(clock, OBJECTS_KEPT);
  const keepDescription = createKeeper<ObjectSpec>(clock, DESCRIPTIONS_KEPT);
  const numberOf = createNumbering<ObjectSpec>();

  async function getObjects(call: InstanceCall): Promise<Objects> {
    const { connector, accountId: owner } = call.instance;
    const find = connector.objects;
    if (typeof find !== 'function') return find;
    const look = () => discover(call, find, (objects) => objects);
    return keepObjects(keyOf(call.instance), { owner, signal: call.signal, find: look });
  }

  /** The whole of an object, or of a child, that may be an outline. */
  async function complete(call: InstanceCall, name: string, object: ObjectSpec): Promise<ObjectSpec> {
    const { describe } = object;
    if (describe === undefined) return object;
    const look = () => discover(call, describe, (whole) => ({ [name]: whole }));
    // Two instances may share an outline, but never what their providers say about it.
    const key = `${keyOf(call.instance)}:${numberOf(object)}`;
    return keepDescription(key, { owner: call.instance.accountId, signal: call.signal, find: look });
  }

  /** @throws AppError NOT_FOUND with the nearest name */
  async function getObject(call: InstanceCall, name: string): Promise<ObjectSpec> {
    const objects = await getObjects(call);
    const own = findName(objects, name);
    const object = own === undefined ? undefined : objects[own];
    if (own === undefined || object === undefined) return unknownObject(call, name, Object.keys(objects));
    return object.describe === undefined ? object : complete(call, own, object);
  }

  /** What is found weighs what its objects do, and the data that came out of threads, which connectors keep. */
  async function discover<Found>(
    call: InstanceCall,
    find: (context: DiscoveryContext) => Promise<Found>,
    objectsIn: (found: Found) => Objects,
  ): Promise<Weighed<Found>> {
    let offloadedBytes = 0;
    const found = await call.discover((context) =>
      find({
        ...context,
        offload: async (module, text) => {
          const job = { owner: call.instance.accountId, module, text, signal: context.signal };
          const { value, bytes } = await offload(job);
          offloadedBytes += bytes;
          // A copy of what the module returns, whose type the caller names.
          return value as OffloadResult<never>;
        },
      }),
    );
    const objects = objectsIn(found);
    assertUsable(call, objects);
    return { found, weight: offloadedBytes + sumOf(Object.values(objects), weightOf) };
  }

  return { getObjects, getObject, complete };
}

/** By value: an instance is the same however it was loaded, and another with other settings. */
function keyOf({ accountId, id, settingsVersion }: ConnectedInstance): string {
  return `${accountId}:${id}:${settingsVersion}`;
}

/** Numbers outlines: two of a service may have one name, as children of two objects, and those of a later discovery may say something else. */
function createNumbering<Thing extends object>(): (thing: Thing) => number {
  const numbers = new WeakMap<Thing, number>();
  let last = 0;
  return (thing) => {
    const number = numbers.get(thing) ?? ++last;
    numbers.set(thing, number);
    return number;
  };
}

function weightOf({ fields, children = {}, outline }: ObjectSpec): number {
  const names = Object.keys(fields).length * WEIGHT_OF.field + (outline?.children.length ?? 0) * 8;
  return WEIGHT_OF.object + names + sumOf(Object.values(children), weightOf);
}

function sumOf<Each>(list: readonly Each[], measure: (each: Each) => number): number {
  return list.reduce((sum, each) => sum + measure(each), 0);
}

function assertUsable({ instance }: InstanceCall, objects: Objects): void {
  const problems = findObjectProblems(objects);
  if (problems.length > 0) throw new ConnectorError(problems.map((problem) => `${instance.connector.key}: ${problem}`));
}

function unknownObject(call: InstanceCall, name: string, names: readonly string[]): never {
  const { hint, nearest } = suggest(name, names);
  const shown = cutText(name);
  throw new AppError(
    'NOT_FOUND',
    `${call.instance.connector.name} has no object '${shown}'.${hint} GET /objects lists them all.`,
    { details: [{ path: '/path/objectName', message: `Unknown object '${shown}'.`, ...nearest }] },
  );
}
