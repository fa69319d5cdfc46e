import type { Connector, ObjectSpec, Objects } from '../../connector/contract.ts';
import { hubsOf } from '../../connector/define.ts';
import { cutText, suggest } from '../../errors.ts';
import { parseWhere } from '../../where/index.ts';
import type { PollQuery } from './poll-url.ts';

/** Members of an element that polling needs. */
export type PollElement = Pick<Connector, 'name' | 'hub' | 'moreHubs' | 'objects' | 'polls'>;

/** The resource that users of this API know for "whatever changed", as BambooHR's documents have it. It is no object. */
const EVERYTHING = 'events';

/** Returns the names and aliases of the objects; undefined when each instance discovers its own. */
function namesIn({ objects }: Pick<PollElement, 'objects'>): readonly string[] | undefined {
  if (typeof objects === 'function') return undefined;
  return Object.entries(objects).flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
}

/** Returns object names with two words, such as `affiliates/commissions`, which are two segments of a path. */
export function namesOfTwoWords(element: Pick<PollElement, 'objects'>): readonly string[] {
  return namesIn(element)?.filter((name) => name.includes('/')) ?? [];
}

/** Returns the objects of a resource that is named `events` or whose URL ends there; undefined if the resource is an object itself. */
export function standsFor(
  { objects, polls = [] }: Pick<PollElement, 'objects' | 'polls'>,
  { name, query }: PollTarget,
): readonly string[] | undefined {
  const isEverything = (query?.objectName ?? name) === EVERYTHING && query?.child === undefined;
  return isEverything && polls.length > 0 && namesIn({ objects })?.includes(EVERYTHING) !== true ? polls : undefined;
}

/**
 * Asserts that a URL requests all changes since a time.
 * @throws Error for any other URL
 */
export function assertEverything({ parametersAt }: PollQuery): void {
  const { where, ...others } = parametersAt(0);
  const filter = where === undefined ? undefined : parseWhere(where);
  const isSince =
    filter === undefined ||
    (filter.kind === 'compare' && filter.field.name === 'since' && ['=', '>', '>='].includes(filter.operator));
  if (isSince && Object.keys(others).length === 0) return;
  throw new Error(
    `'/${EVERYTHING}' means all changes since a time, and accepts only where=since='\${gmtDate:yyyy-MM-dd'T'HH:mm:ssZ}'. To select or sort records, use the path of their object instead.`,
  );
}

export interface PollTarget {
  readonly name: string;
  readonly query: PollQuery | undefined;
}

/**
 * Checks that a resource exists, as far as that is known without a call to the instance's provider.
 * @throws Error that says what there is
 */
export function assertTarget(element: PollElement, { name, query }: PollTarget, ownUrls: readonly string[]): void {
  if (query !== undefined) assertOwn(query, ownUrls);
  const hubs = hubsOf(element);
  if (query?.hub !== undefined && !hubs.includes(query.hub)) {
    throw new Error(`${element.name} is in the hub '${hubs.join("' and '")}', not '${cutText(query.hub)}'.`);
  }
  if (standsFor(element, { name, query }) === undefined) assertObject(element, query?.objectName ?? name, query?.child);
}

function assertObject({ name, objects }: PollElement, objectName: string, child: PollQuery['child']): void {
  if (typeof objects === 'function') return;
  const object = findObject(objects, objectName);
  if (object === undefined) {
    throw unknownName(`${name} has no object '${cutText(objectName)}'.`, objectName, Object.keys(objects));
  }
  if (child === undefined) {
    if (object.list !== undefined || object.changes?.feed !== undefined) return;
    throw new Error(`'${objectName}' of ${name} cannot be listed.`);
  }
  const children = object.children ?? {};
  if (findObject(children, child.name) !== undefined) return;
  const message = `'${objectName}' of ${name} has no '${cutText(child.name)}' below a record.`;
  throw unknownName(message, child.name, Object.keys(children));
}

/** Finds an object by its name, or else by an alias. */
function findObject(objects: Objects, name: string): ObjectSpec | undefined {
  if (Object.hasOwn(objects, name)) return objects[name];
  return Object.values(objects).find(({ aliases = [] }) => aliases.includes(name));
}

function unknownName(message: string, name: string, known: readonly string[]): Error {
  const { hint } = suggest(name, known);
  return new Error(`${message}${hint}${known.length > 0 ? ` There are: ${known.join(', ')}.` : ''}`);
}

/**
 * Asserts that a URL has the address of this service. Polls only use its path, so a URL with another host would be wrong and still work.
 */
function assertOwn({ origin, local }: PollQuery, ownUrls: readonly string[]): void {
  const origins = ownUrls.map((url) => new URL(url).origin);
  if (origin === undefined || origins.includes(origin)) return;
  throw new Error(
    `polls query this service at ${ownUrls[0]}, not ${cutText(origin)}. Write '${cutText(local)}' instead.`,
  );
}
