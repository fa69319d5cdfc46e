import {
  type Inputs,
  inputs,
  json,
  list,
  type ParameterSpec,
  type ProviderRequest,
  plainText,
  type Value,
} from '#connector';
import { userIn } from './config.ts';

/** A value of the filter that is no field of the records. */
export const USER = {
  type: 'string',
  description:
    'Login ID of the owner, or ALL for all owners. Both require the role Web Services Admin. Overrides `user` of the instance.',
} as const satisfies ParameterSpec;

/** Returns a pair of parameters, each a strict bound. */
export const between = (name: string) => ({ from: `${name}After`, to: `${name}Before` });

export const byInputs = (table: Parameters<typeof inputs>[0]) => inputs(table, ',', { text: printTime });

/** Prints a time without a zone, as Concur does. */
function printTime(value: Value): string {
  return value.kind === 'datetime' ? new Date(value.epochMs).toISOString().slice(0, -1) : plainText(value);
}

/**
 * Returns the list operation of a collection. `NextPage` is an address. Like SAP's own SDK, the connector uses only its `offset`, which
 * cannot lead to another host.
 */
export const listOf = (collection: string) =>
  list<Inputs>({
    request: ({ filter = {}, parameters, page, parentId }, config): ProviderRequest => ({
      path: `/expense/${collection}`,
      query: {
        user: userIn(config),
        ...widen(filter),
        ...Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, plainText(value)])),
        ...(parentId !== undefined && { reportID: parentId }),
        ...page,
      },
    }),
    rows: (body) => json.array(json.at(body, 'Items'), `the ${collection}`),
    paging: { kind: 'cursor', cursor: 'offset', size: 'limit', max: 100, next: ({ body }) => offsetIn(body) },
  });

/**
 * Returns the offset of the next page, or undefined at the end of the list.
 * @throws Error when the address of the next page has no offset, because the list must not end there
 */
function offsetIn(body: unknown): string | undefined {
  const next = json.findText(json.at(body, 'NextPage'));
  if (next === undefined) return undefined;
  const offset = URL.canParse(next) ? new URL(next).searchParams.get('offset') : null;
  return json.text(offset, 'the offset of the next page');
}

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Distance in milliseconds by which a bound moves. Concur stores times in steps of 1/300 s, so a bound and a time of a record may each
 * differ by 5 ms from their text.
 */
const ROUNDED_MS = 10;

/** Moves each bound outwards. Concur's bounds are strict, but ours include their value. */
function widen(filter: Inputs): Inputs {
  const moved = Object.entries(filter).map(([name, text]) => {
    const direction = name.endsWith('After') ? -1 : Number(name.endsWith('Before'));
    return [name, direction === 0 ? text : moveBound(String(text), direction)];
  });
  return Object.fromEntries(moved);
}

function moveBound(text: string, direction: number): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const moment = Date.parse(isDay ? text : `${text}Z`) + direction * (isDay ? DAY_MS : ROUNDED_MS);
  return new Date(moment).toISOString().slice(0, isDay ? 10 : -1);
}
