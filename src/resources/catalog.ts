import type { ObjectSpec, Objects } from '../connector/contract.ts';
import { ConnectorError, findObjectProblems } from '../connector/validate.ts';
import { AppError, nearestName, suggestName } from '../errors.ts';
import type { InstanceCall } from './call.ts';
import type { ConnectedInstance, ResourcePorts } from './ports.ts';

/** The objects of an instance: declared by its connector, or discovered from its provider and kept for a while. */
export interface Catalog {
  readonly getObjects: (call: InstanceCall) => Promise<Objects>;
  /** @throws AppError NOT_FOUND with the nearest name */
  readonly getObject: (call: InstanceCall, name: string) => Promise<ObjectSpec>;
}

/** A provider's fields change rarely; a new one is there at the latest after this time. */
const KEEP_MS = 10 * 60_000;

interface Discovery {
  readonly objects: Promise<Objects>;
  readonly startedAtMs: number;
  /** Of the caller who began it. */
  readonly signal: AbortSignal;
}

export function createCatalog({ now }: Pick<ResourcePorts, 'now'>): Catalog {
  const discoveries = new WeakMap<ConnectedInstance, Discovery>();

  function getObjects(call: InstanceCall): Promise<Objects> {
    const { connector } = call.instance;
    if (typeof connector.objects !== 'function') return Promise.resolve(connector.objects);
    const kept = discoveries.get(call.instance);
    if (kept !== undefined && now() - kept.startedAtMs < KEEP_MS) return share(kept, call);
    const discovery = { objects: discover(call), startedAtMs: now(), signal: call.signal };
    discoveries.set(call.instance, discovery);
    // A failed discovery is not kept: the next call tries again. The failure itself goes to whoever awaits `objects`.
    discovery.objects.catch(() => {
      if (discoveries.get(call.instance) === discovery) discoveries.delete(call.instance);
    });
    return discovery.objects;
  }

  /** When the caller who began it hangs up, the others go on with one of their own. */
  async function share(discovery: Discovery, call: InstanceCall): Promise<Objects> {
    try {
      return await discovery.objects;
    } catch (error) {
      if (discovery.signal.aborted && !call.signal.aborted) return getObjects(call);
      throw error;
    }
  }

  async function getObject(call: InstanceCall, name: string): Promise<ObjectSpec> {
    const objects = await getObjects(call);
    const object = Object.hasOwn(objects, name) ? objects[name] : undefined;
    return object ?? unknownObject(call, name, Object.keys(objects));
  }

  return { getObjects, getObject };
}

async function discover(call: InstanceCall): Promise<Objects> {
  const { connector } = call.instance;
  if (typeof connector.objects !== 'function') return connector.objects;
  const find = connector.objects;
  const objects = await call.execute({ run: (context) => find(context) }, undefined);
  const problems = findObjectProblems(objects);
  if (problems.length > 0) throw new ConnectorError(problems.map((problem) => `${connector.key}: ${problem}`));
  return objects;
}

function unknownObject(call: InstanceCall, name: string, names: readonly string[]): never {
  const nearest = nearestName(name, names);
  throw new AppError(
    'NOT_FOUND',
    `${call.instance.connector.name} has no object '${name}'.${suggestName(name, names)} GET /objects lists them all.`,
    {
      details: [
        { path: 'objectName', message: `Unknown object '${name}'.`, ...(nearest !== undefined && { nearest }) },
      ],
    },
  );
}
