import type { Clock } from '../clock.ts';
import type { DiscoveryContext, ObjectSpec, Objects, OffloadResult } from '../connector/contract.ts';
import { createOffload } from '../connector/offload/index.ts';
import { ConnectorError } from '../connector/validate.ts';
import { findObjectProblems } from '../connector/validate-objects.ts';
import { AppError, cutText, isAppError, suggestName, unknownName } from '../errors.ts';
import type { MappingInForce, MappingsInForce } from '../mappings/model.ts';
import type { ConnectedInstance, InstanceCall } from './call.ts';
import { createKeeper, type Weighed } from './keeper.ts';
import { type MappedObject, mapObject } from './mapped.ts';
import { findByAlias, findName, type MappedObjects } from './objects.ts';
import type { MappedScript } from './scripted-rows.ts';

const MIB = 1024 * 1024;

const KEPT = {
  /** A provider's fields change rarely. A new one appears after this time at the latest. */
  keepMs: 10 * 60_000,
  /** A description that cannot be used is not fetched again for every call. A changed configuration is tried at once. */
  keepFailureMs: 60_000,
  isLasting: (error: unknown) => isAppError(error, 'PROVIDER_PROTOCOL') || error instanceof ConnectorError,
};

/** One account uses a third at most. A service with 8 MB of OData metadata needs 5 MB. */
const OBJECTS_KEPT = { ...KEPT, maxWeight: 96 * MIB, maxWeightOfOwner: 32 * MIB };
const DESCRIPTIONS_KEPT = { ...KEPT, maxWeight: 64 * MIB, maxWeightOfOwner: 16 * MIB };

/** Estimated bytes. For 8 MB of metadata in the form of SAP S/4HANA they add up to 12.5 MB of descriptions; 11.6 MB were measured. */
const WEIGHT_OF = { object: 1000, field: 500 };

/** Access to the mappings of instances. */
export interface MappingPorts {
  /** Returns the mappings in force for an instance: the same value until one of them changes. */
  readonly inForce: (instance: ConnectedInstance) => Promise<MappingsInForce>;
  /** Returns the script of a mapping, ready to run for the account. Undefined where there is none. */
  readonly scriptOf: (mapping: MappingInForce, accountId: number) => MappedScript | undefined;
}

const NOTHING_MAPPED: MappedObjects = new Map();
/** The mappings in force where there are none. */
export const NO_MAPPINGS_IN_FORCE: MappingsInForce = { version: '', byName: new Map(), unmapped: [] };

/** A complete object of an instance. */
export interface FoundObject {
  readonly object: ObjectSpec;
  /** The same object, where a mapping in force makes it. */
  readonly mapped?: MappedObject;
}

/** Mapped objects of an object of a provider, by the mapping that makes them and by the account that its script runs for. */
type Mapped = WeakMap<MappingInForce, Map<number, MappedObject>>;

/**
 * Creates the catalog of the objects of instances. Objects are declared by the connector, or discovered from the provider and cached for a
 * while.
 */
export function createCatalog(clock: Clock, { inForce, scriptOf }: MappingPorts) {
  const offload = createOffload(clock);
  const keepObjects = createKeeper<Objects>(clock, OBJECTS_KEPT);
  const keepDescription = createKeeper<ObjectSpec>(clock, DESCRIPTIONS_KEPT);
  const numberOf = createNumbering<ObjectSpec>();
  const mappedOf = new WeakMap<ObjectSpec, Mapped>();

  async function getObjects(call: InstanceCall, isFresh?: true): Promise<Objects> {
    const { connector, accountId: owner } = call.instance;
    const find = connector.objects;
    if (typeof find !== 'function') return find;
    const look = () => discover(call, find, (objects) => objects);
    return keepObjects(keyOf(call.instance), { owner, signal: call.signal, find: look, isFresh });
  }

  /** Completes an object or a child, which may be an outline. */
  async function complete(call: InstanceCall, name: string, object: ObjectSpec): Promise<ObjectSpec> {
    const { describe } = object;
    if (describe === undefined) return object;
    const look = () => discover(call, describe, (whole) => ({ [name]: whole }));
    // Two instances may share an outline, but never the description by their providers.
    const key = `${keyOf(call.instance)}:${numberOf(object)}`;
    return keepDescription(key, { owner: call.instance.accountId, signal: call.signal, find: look });
  }

  /**
   * Returns a complete object: a mapped one where a mapping in force has the name.
   * @throws AppError NOT_FOUND that names the nearest name
   */
  async function getObject(call: InstanceCall, name: string): Promise<FoundObject> {
    const { byName, unmapped } = await inForce(call.instance);
    const mapping = byName.get(name);
    const vendorName = mapping?.vendorName ?? name;
    const objects = await getObjects(call);
    const own = Object.hasOwn(objects, vendorName) ? vendorName : findByAlias(objects, vendorName);
    const found = own === undefined ? undefined : objects[own];
    if (own === undefined || found === undefined) {
      if (mapping !== undefined) throw unknownObject(call, vendorName, Object.keys(objects));
      if (unmapped.includes(name)) throw notMapped(call, name);
      throw unknownObject(call, name, [...Object.keys(objects), ...byName.keys()]);
    }
    const vendor = found.describe === undefined ? found : await complete(call, own, found);
    if (mapping === undefined) return { object: vendor };
    const mapped = mapOnce(vendor, mapping, call.instance.accountId);
    return { object: mapped, mapped };
  }

  /**
   * Returns the mapped object of a mapping, from memory if it exists. Accounts share it, unless it has a script, which runs for one
   * account.
   */
  function mapOnce(vendor: ObjectSpec, mapping: MappingInForce, accountId: number): MappedObject {
    const byMapping = mappedOf.get(vendor) ?? new WeakMap();
    mappedOf.set(vendor, byMapping);
    const byOwner = byMapping.get(mapping) ?? new Map();
    byMapping.set(mapping, byOwner);
    const owner = mapping.script === undefined ? 0 : accountId;
    const mapped = byOwner.get(owner) ?? mapObject(vendor, mapping, scriptOf(mapping, accountId));
    byOwner.set(owner, mapped);
    return mapped;
  }

  /** Returns the objects of the provider, and the mapped ones of those that the instance has. */
  async function listObjects(
    call: InstanceCall,
  ): Promise<{ readonly objects: Objects; readonly mapped: MappedObjects }> {
    const [objects, { byName }] = await Promise.all([getObjects(call), inForce(call.instance)]);
    if (byName.size === 0) return { objects, mapped: NOTHING_MAPPED };
    const found = [...byName].flatMap(([name, mapping]) => {
      const own = findName(objects, mapping.vendorName);
      const vendor = own === undefined ? undefined : objects[own];
      if (vendor === undefined) return [];
      // An outline is not completed for a list: there may be hundreds, each a call to the provider.
      const object =
        vendor.describe === undefined
          ? mapOnce(vendor, mapping, call.instance.accountId)
          : { ...vendor, label: name, idField: undefined, inForce: mapping };
      return [[name, object] as const];
    });
    return { objects, mapped: new Map(found) };
  }

  /** Runs a discovery and checks its result. Its weight is that of its objects plus the data from threads, which connectors keep. */
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

  return {
    listObjects,
    getObject,
    complete,
    /** Reads the objects of the provider anew. The result replaces the cached one. */
    readAgain: (call: InstanceCall) => getObjects(call, true),
    /** Drops the cached objects of an instance, so that the next call reads them anew. */
    forget: ({ accountId, id }: Pick<ConnectedInstance, 'accountId' | 'id'>): void => {
      keepObjects.forget(accountId, `${accountId}:${id}:`);
      keepDescription.forget(accountId, `${accountId}:${id}:`);
    },
  };
}

/** A key by value: an instance is the same however it was loaded, and another one with another configuration. */
function keyOf({ accountId, id, settingsVersion }: ConnectedInstance): string {
  return `${accountId}:${id}:${settingsVersion}`;
}

/**
 * Numbers outlines. Two outlines of a service may have the same name, as children of two objects, and those of a later discovery may
 * differ.
 */
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

function notMapped({ instance }: InstanceCall, name: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `There is a definition '${cutText(name)}', but no transformation maps it on ${instance.connector.name}. Add one with POST /instances/${instance.id}/transformations/${cutText(name)}, or for all instances of the element.`,
    { details: [{ path: '/path/objectName', message: `'${cutText(name)}' is not mapped on this element.` }] },
  );
}

function unknownObject(call: InstanceCall, name: string, names: readonly string[]): AppError {
  return new AppError(
    'NOT_FOUND',
    `${call.instance.connector.name} has no object '${cutText(name)}'.${suggestName(name, names)} GET /objects lists them all.`,
    { details: [{ path: '/path/objectName', ...unknownName('object', name, names) }] },
  );
}
