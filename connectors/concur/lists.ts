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

/** Values of the filter that are no fields. */
export const USER = {
  type: 'string',
  description:
    'Login ID of the owner, or ALL for all owners. Both require the role Web Services Admin. Overrides `user` of the instance.',
} as const satisfies ParameterSpec;

/** A pair of parameters, each a strict bound. */
export const between = (name: string) => ({ from: `${name}After`, to: `${name}Before` });

export const byInputs = (table: Parameters<typeof inputs>[0]) => inputs(table, ',', { text: printTime });

/** Without a zone, as times are shown. */
function printTime(value: Value): string {
  return value.kind === 'datetime' ? new Date(value.epochMs).toISOString().slice(0, -1) : plainText(value);
}

/** A part of the collection. `NextPage` is an address: of it SAP's own SDK takes the `offset` only, which cannot lead to another host. */
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

/** @throws Error when the address of the next page has no offset: the list must not end there */
function offsetIn(body: unknown): string | undefined {
  const next = json.findText(json.at(body, 'NextPage'));
  if (next === undefined) return undefined;
  const offset = URL.canParse(next) ? new URL(next).searchParams.get('offset') : null;
  return json.text(offset, 'the offset of the next page');
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Times are kept in steps of a 300th of a second, so that those of a bound and of a record may be 5 ms beside what is written. */
const ROUNDED_MS = 10;

/** Bounds are strict and must include what they are: each is moved outwards. */
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
