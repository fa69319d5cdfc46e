import type { ObjectSpec, Objects } from '../connector/contract.ts';
import { ConnectorError, findObjectProblems } from '../connector/validate.ts';
import { AppError, cutText, suggest } from '../errors.ts';
import type { InstanceCall } from './call.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import type { ConnectedInstance, ResourcePorts } from './ports.ts';

/** The objects of an instance: declared by its connector, or discovered from its provider and kept for a while. */
export interface Catalog {
  readonly getObjects: (call: InstanceCall) => Promise<Objects>;
  /** @throws AppError NOT_FOUND with the nearest name */
  readonly getObject: (call: InstanceCall, name: string) => Promise<ObjectSpec>;
}

/** A provider's fields change rarely; a new one is there at the latest after this time. */
const KEEP_MS = 10 * 60_000;

export function createCatalog({ now }: Pick<ResourcePorts, 'now'>): Catalog {
  const discoveries = createKeeper<ConnectedInstance, Objects>(now, KEEP_MS);
  // By instance first: two instances may share an outline, but never what their providers say about it.
  const descriptions = new WeakMap<ConnectedInstance, Keeper<ObjectSpec, ObjectSpec>>();

  function getObjects(call: InstanceCall): Promise<Objects> {
    const { connector } = call.instance;
    if (typeof connector.objects !== 'function') return Promise.resolve(connector.objects);
    return discoveries.get(call.instance, call.signal, () => discover(call));
  }

  function descriptionsOf(instance: ConnectedInstance): Keeper<ObjectSpec, ObjectSpec> {
    const known = descriptions.get(instance);
    if (known !== undefined) return known;
    const keeper = createKeeper<ObjectSpec, ObjectSpec>(now, KEEP_MS);
    descriptions.set(instance, keeper);
    return keeper;
  }

  async function getObject(call: InstanceCall, name: string): Promise<ObjectSpec> {
    const objects = await getObjects(call);
    const object = Object.hasOwn(objects, name) ? objects[name] : undefined;
    if (object === undefined) return unknownObject(call, name, Object.keys(objects));
    if (object.describe === undefined) return object;
    return descriptionsOf(call.instance).get(object, call.signal, () => describe(call, name, object));
  }

  return { getObjects, getObject };
}

async function discover(call: InstanceCall): Promise<Objects> {
  const { connector } = call.instance;
  if (typeof connector.objects !== 'function') return connector.objects;
  const find = connector.objects;
  const objects = await call.execute({ run: (context) => find(context) }, undefined);
  assertUsable(call, objects);
  return objects;
}

/** The whole of an object that was discovered as an outline. */
async function describe(call: InstanceCall, name: string, outline: ObjectSpec): Promise<ObjectSpec> {
  const complete = outline.describe;
  if (complete === undefined) return outline;
  const object = await call.execute({ run: (context) => complete(context) }, undefined);
  assertUsable(call, { [name]: object });
  return object;
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
    { details: [{ path: 'objectName', message: `Unknown object '${shown}'.`, ...nearest }] },
  );
}
