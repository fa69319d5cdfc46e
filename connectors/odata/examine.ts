import {
  type ConnectorContext,
  isDenied,
  isUnauthorized,
  type Json,
  json,
  type ProviderRequest,
  path,
} from '#connector';
import { comparesEnumsHere, credentialsOf, filtersHere } from './config.ts';
import { enumPropertiesIn } from './enum-properties.ts';
import { literalOf, quote } from './literals.ts';

/** Checks which parts of a service are unreliable, and returns a warning for each of them. */
export async function examineService(context: ConnectorContext) {
  const { config } = context;
  const unproved = await findUnproved(context);
  const sets = filtersHere(config) ? [] : (await setNames(context)).slice(0, MOST_SETS);
  return {
    'credentials.warning': unproved,
    'filter.warning': await findFault(context, sets),
    'enum.warning': comparesEnumsHere(config) ? undefined : await findEnumFault(context, sets),
  };
}

/** Maximum numbers of sets and properties to try. The creation of an instance waits for these calls, so they must be few. */
const MOST_SETS = 3;
const MOST_PROPERTIES = 3;

const UNPROVED = 'Causeway could not verify username and password, because no request that it tried required them.';

/**
 * Checks the credentials. Many services return their service document without credentials, so it proves nothing. In this case a record of a
 * set that requires credentials is read. If there is no such set, the credentials remain unproved.
 * @returns a warning about unproved credentials
 * @throws the error of the service if it rejects the credentials
 */
async function findUnproved(context: ConnectorContext): Promise<string | undefined> {
  if (credentialsOf(context.config) === undefined || (await isGuarded(context, { path: '/' }))) return undefined;
  let refusal: unknown;
  for (const set of (await setNames(context)).slice(0, MOST_SETS)) {
    const request = firstOf(set);
    if (!(await isGuarded(context, request))) continue;
    try {
      await context.send(request);
      return undefined;
    } catch (error) {
      context.signal.throwIfAborted();
      if (isUnauthorized(error)) refusal ??= error;
    }
  }
  if (refusal !== undefined) throw refusal;
  return UNPROVED;
}

/** Returns whether the service denies the request without credentials. Another failure proves nothing. */
async function isGuarded({ send, signal }: ConnectorContext, request: ProviderRequest): Promise<boolean> {
  try {
    await send({ ...request, anonymous: true });
    return false;
  } catch (error) {
    signal.throwIfAborted();
    return isDenied(error);
  }
}

/**
 * Checks whether the service filters correctly. Some servers ignore filters that they do not know, or find no text. Nothing in their
 * responses shows it, so the connector sends filters with known results: no row is both null and not null, and a word of a record must find
 * the record.
 *
 * A rejected request says nothing about the filter, so another property or set is tried.
 */
async function findFault(context: ConnectorContext, sets: readonly string[]): Promise<string | undefined> {
  for (const set of sets) {
    const [record] = (await ask(context, set)) ?? [];
    for (const { name, word } of wordsOf(record).slice(0, MOST_PROPERTIES)) {
      const verdict = await judge(context, set, name, word);
      if (verdict !== 'unknown') return verdict === 'right' ? undefined : `${verdict} ${ADVICE}`;
    }
  }
  return undefined;
}

const ADVICE =
  'Its filters are not reliable. Set filter.local to true, and Causeway evaluates all filters itself, over all records.';

async function judge(context: ConnectorContext, set: string, name: string, word: string): Promise<string> {
  const nothing = `${name} ne null and ${name} eq null`;
  const none = await ask(context, set, nothing);
  if (none === undefined) return 'unknown';
  if (none.length > 0)
    return `The service returns records of ${set} for '${nothing}', although no record can match it.`;
  const some = await ask(context, set, `${name} ne null and contains(${name},${quote(word)})`);
  if (some === undefined) return 'unknown';
  if (some.length === 0) return `The service finds no record of ${set} by a word that one of them has in ${name}.`;
  return 'right';
}

/**
 * Checks whether the service filters enumerations correctly. Some servers find no record by the value of an enumeration that a record has.
 * A record does not show which of its texts are enumerations, so the metadata is searched for them.
 */
async function findEnumFault(context: ConnectorContext, sets: readonly string[]): Promise<string | undefined> {
  if (sets.length === 0) return undefined;
  const typesOf = enumPropertiesIn(await metadataOf(context));
  if (typesOf.size === 0) return undefined;
  for (const set of sets) {
    const [record = {}] = (await ask(context, set)) ?? [];
    const conditions = Object.entries(record).flatMap(([name, value]) =>
      [...(typesOf.get(name) ?? [])].flatMap((type) => {
        const literal = typeof value === 'string' ? literalOf(type, value) : undefined;
        return literal === undefined ? [] : [`${name} eq ${literal}`];
      }),
    );
    for (const condition of conditions.slice(0, MOST_PROPERTIES)) {
      const found = await ask(context, set, condition);
      if (found === undefined) continue;
      return found.length > 0
        ? undefined
        : `The service finds no record of ${set} by '${condition}', although one has this value. ${ENUM_ADVICE}`;
    }
  }
  return undefined;
}

const ENUM_ADVICE = 'Set odata.enum to local, and Causeway evaluates filters on enumerations itself.';

/** Returns the metadata, or an empty text if the request fails. */
async function metadataOf({ send, signal }: ConnectorContext): Promise<string> {
  try {
    const { body } = await send({ path: '/$metadata', headers: { accept: 'application/xml' } });
    return typeof body === 'string' ? body : '';
  } catch {
    signal.throwIfAborted();
    return '';
  }
}

async function setNames(context: ConnectorContext): Promise<readonly string[]> {
  const entries = await read(context, { path: '/' });
  return (entries ?? []).flatMap(({ name, kind = 'EntitySet' }) =>
    typeof name === 'string' && kind === 'EntitySet' ? [name] : [],
  );
}

function ask(context: ConnectorContext, set: string, filter?: string) {
  return read(context, firstOf(set, filter));
}

function firstOf(set: string, filter?: string): ProviderRequest {
  return { path: path`/${set}`, query: { $filter: filter, $top: 1 } };
}

/** Returns the objects of a list, or undefined if the service rejects the request or returns something else. */
async function read(
  { send, signal }: ConnectorContext,
  request: ProviderRequest,
): Promise<readonly Json[] | undefined> {
  try {
    const { body } = await send(request);
    const values = json.at(body, 'value');
    return Array.isArray(values) ? values.filter(json.isObject) : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

const UUID = /^[0-9a-f]{8}-/i;

/** Returns a word of each property that is likely to be text. An enumeration looks the same, but the service rejects `contains` for it. */
function wordsOf(record: Json | undefined): readonly { readonly name: string; readonly word: string }[] {
  return Object.entries(record ?? {}).flatMap(([name, value]) => {
    const word = typeof value === 'string' && !UUID.test(value) ? /[A-Za-z]{2,}/.exec(value)?.[0] : undefined;
    return word === undefined || name.includes('@') ? [] : [{ name, word }];
  });
}
