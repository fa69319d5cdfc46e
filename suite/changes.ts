import type { ChangeAction, ObjectSpec } from '#connector';
import type { NewEvent } from '../src/events/model.ts';
import { eventsOf } from '../src/resources/objects.ts';
import { createFollower } from './follower.ts';
import { type ServedSimulator, serveSimulator } from './served.ts';
import type { Subject } from './subject.ts';

/**
 * Polls the objects that declare their changes, on a simulator that changes records.
 * @returns the changes that were not found or found twice, and the events without a change
 */
export async function followChanges(subject: Subject): Promise<readonly string[]> {
  const { createSimulator, effort, target } = subject;
  const { connector, objects } = target;
  const unknown = (connector.polls ?? []).filter((name) => !Object.hasOwn(objects, name));
  const faults = unknown.map((name) => `the connector polls '${name}', but has no such object`);
  const declared = Object.entries(objects).filter(([, { changes }]) => changes !== undefined);
  if (createSimulator === undefined || declared.length === 0) return faults;
  const provider = await serveSimulator(connector.key, createSimulator);
  try {
    let count = 0;
    for (const [name, object] of declared) {
      if (count >= effort.followed) break;
      const table = await findTable(provider, [name, object.native ?? name]);
      if (table === undefined) continue;
      count++;
      faults.push(...(await follow(subject, { provider, name, object, table })));
    }
    const names = declared.map(([name]) => name).join(', ');
    return count > 0
      ? faults
      : [...faults, `The simulator cannot change the objects that declare their changes: ${names}`];
  } finally {
    await provider.stop();
  }
}

/** Returns the simulator's name for the records of an object. */
async function findTable(provider: ServedSimulator, names: readonly string[]): Promise<string | undefined> {
  for (const table of names) {
    const isKnown = await provider.command('/simulate/changes', { table }).then(
      () => true,
      () => false,
    );
    if (isKnown) return table;
  }
  return undefined;
}

interface Changed {
  readonly provider: ServedSimulator;
  readonly name: string;
  readonly object: ObjectSpec;
  readonly table: string;
}

/** Ids of records, by the action on them. */
type Ids = Readonly<Record<ChangeAction, readonly string[]>>;

const SETTLED_MS = 60_000;

/**
 * Changes records twice, so shortly after each other that the provider's times may be equal, with a poll in between. Some providers hold
 * back the latest changes, so a later poll may find them.
 */
async function follow({ target }: Subject, { provider, name, object, table }: Changed): Promise<readonly string[]> {
  const { connector, configuration: config } = target;
  const { poll, crash, hasToken } = createFollower({
    connector,
    config,
    simulatorsUrl: provider.simulatorsUrl,
    objectName: name,
  });
  const reported: readonly ChangeAction[] = eventsOf(object);
  const change = async (counts: Counts): Promise<Ids> => {
    const wanted = COMMANDS.map(([command, action]) => [
      command,
      reported.includes(action) ? (counts[command] ?? 0) : 0,
    ]);
    return readIds(await provider.command('/simulate/changes', { table, ...Object.fromEntries(wanted) }));
  };
  const before = await poll();
  await beginSecond(provider);
  const first = await change({ create: 2, update: 2, remove: 1 });
  // The token must not move without the events before it.
  if (hasToken()) await crash();
  const early = await poll();
  const second = await change({ create: 1, update: 2 });
  const next = await poll();
  await provider.command('/simulate/clock', { byMs: SETTLED_MS });
  const late = [...next, ...(await poll())];
  const again = await poll();

  const words = object.changes?.updated === undefined ? '' : `; polls find its changes by '${object.changes.updated}'`;
  const faults = [
    ...before.map((event) => `the first poll reports ${describe(event)}, which existed before`),
    ...again.map((event) => `${describe(event)} is reported again without a change`),
  ];
  const expect = (action: ChangeAction, ids: readonly string[], events: readonly NewEvent[], [least, most]: Range) => {
    for (const id of ids) {
      const found = events.filter(({ type, objectId }) => type === `${name}.${action}` && objectId === id).length;
      if (found < least) faults.push(`${id} was ${action}, but no poll reports it${words}`);
      if (found > most) faults.push(`${id} was ${action} once, but polls report it ${found} times${words}`);
    }
  };
  const all = [...early, ...late];
  expect('created', [...first.created, ...second.created], all, ONCE);
  expect('deleted', first.deleted, all, ONCE);
  expect('updated', second.updated, late, ONCE);
  expect('updated', first.updated, early, AT_MOST_ONCE);
  const changed = new Set(
    [first, second].flatMap(({ created, updated, deleted }) => [...created, ...updated, ...deleted]),
  );
  const others = all.filter(({ objectId = '' }) => !changed.has(objectId));
  faults.push(...others.map((event) => `${describe(event)} is reported, but nothing changed it`));
  return faults.map((fault) => `${name}: ${fault}`);
}

/** Moves the provider's clock to the beginning of a second, so that both changes have the same second. */
async function beginSecond(provider: ServedSimulator): Promise<void> {
  const { now } = Object(await provider.command('/simulate/clock', { byMs: 0 }));
  await provider.command('/simulate/clock', { byMs: 1000 - (Date.parse(String(now)) % 1000) });
}

type Range = readonly [least: number, most: number];
const ONCE: Range = [1, 1];
const AT_MOST_ONCE: Range = [0, 1];

const COMMANDS = [
  ['create', 'created'],
  ['update', 'updated'],
  ['remove', 'deleted'],
] as const;

type Counts = { readonly [Command in (typeof COMMANDS)[number][0]]?: number };

/**
 * Reads the response of `POST /simulate/changes`.
 * @throws Error for any other response
 */
function readIds(response: unknown): Ids {
  const read = (member: string): readonly string[] => {
    const ids: unknown = Object(response)[member];
    if (!Array.isArray(ids)) throw new Error(`The simulator does not say what was ${member}.`);
    return ids.map(String);
  };
  return { created: read('created'), updated: read('updated'), deleted: read('removed') };
}

function describe({ type, objectId }: NewEvent): string {
  return `${type} of ${objectId}`;
}
