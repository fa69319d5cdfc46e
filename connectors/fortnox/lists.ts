import {
  codec,
  type Inputs,
  inputs,
  json,
  type ListInput,
  type ListQuery,
  list,
  type ParameterSpec,
  path,
  plainText,
  records,
  rejected,
  type Translator,
} from '#connector';
import { API_BLANK } from './fields.ts';

/** The parameters for the bounds of days. Fortnox accepts them together with any search. */
const DAYS = { from: 'fromdate', to: 'todate' } as const;
const GLOBAL: ReadonlySet<string> = new Set(Object.values(DAYS));

/**
 * Returns a translator for the searches of a list. Fortnox searches by a single field. Source: "Parameters": only one filter of a resource
 * can be used at a time, together with global ones.
 * @param names fields whose search parameter is their name in lower case
 * @param others search parameters of fields with another name
 */
export function searchBy(
  names: string,
  others: Readonly<Record<string, string>> = {},
  day?: string,
): Translator<Inputs> {
  const own = names.split(' ').map((name) => [name, name.toLowerCase()] as const);
  const parameters: Readonly<Record<string, string>> = { ...Object.fromEntries(own), ...others };
  const translator = inputs({ ...parameters, ...(day !== undefined && { [day]: DAYS }) });
  return {
    ...translator,
    like: ({ name }, { text }) => ({ [parameters[name] ?? name.toLowerCase()]: text }),
    fault: (native) =>
      translator.fault?.(native) ??
      (searchesOf(native).length > 1 ? 'Fortnox accepts one search parameter at a time' : undefined),
  };
}

function searchesOf(native: Inputs): readonly string[] {
  return Object.keys(native).filter((name) => !GLOBAL.has(name));
}

const LAST_MODIFIED = 'lastmodified';

/** Returns Fortnox's search parameters that are no fields of a list. */
export function parametersOf(
  names: Readonly<Record<string, string>>,
  filters: readonly string[] = [],
): Readonly<Record<string, ParameterSpec>> {
  return {
    [LAST_MODIFIED]: {
      type: 'datetime',
      description: 'Records changed since this time, to the minute.',
    },
    ...(filters.length > 0 && {
      filter: { type: 'string', description: `Records that are ${filters.join(', ')}.`, values: filters },
    }),
    ...Object.fromEntries(
      Object.entries(names).map(([name, description]) => [name, { type: 'string', description } as const]),
    ),
  };
}

/** Returns the operation for a list, whose responses have the form `{ "Customers": […], "MetaInformation": {…} }`. */
export function listOf(collection: string, member: string, readRecord?: (row: unknown) => unknown) {
  return list<Inputs>({
    request: ({ filter = {}, parameters, order, page }) => ({
      path: `/${collection}`,
      query: { ...narrow(filter, parameters), ...sortedBy(order), ...page },
    }),
    rows: (body) => json.objects(json.at(body, member), `the ${member}`),
    paging: {
      kind: 'number',
      page: 'page',
      size: 'limit',
      max: 500,
      total: ({ body }) => Number(json.at(body, 'MetaInformation', '@TotalResources')),
    },
    order: { term: (native, direction) => `${native.toLowerCase()} ${direction}ending` },
    ...(readRecord !== undefined && { readRecord }),
  });
}

/**
 * Returns the query of a list. A search parameter of the caller replaces the search of the `where`, because Fortnox accepts a single one.
 * The service checks the `where` again in either case.
 * @throws rejected for two search parameters
 */
function narrow(filter: Inputs, parameters: ListInput<Inputs>['parameters']): Inputs {
  const { [LAST_MODIFIED]: since, ...searches } = parameters;
  const names = Object.keys(searches);
  if (names.length > 1) throw rejected(`Fortnox accepts only one of ${names.join(' and ')} at a time.`);
  const pushed = Object.entries(filter).filter(([name]) => names.length === 0 || GLOBAL.has(name));
  return {
    ...widen(Object.fromEntries(pushed)),
    ...Object.fromEntries(Object.entries(searches).map(([name, value]) => [name, plainText(value)])),
    ...(since?.kind === 'datetime' && { [LAST_MODIFIED]: toSwedishMinute(since.epochMs) }),
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Adds a day at both ends of a selection, because Fortnox does not document whether the ends are included. */
function widen(filter: Inputs): Inputs {
  const shift = (name: string, days: number) => {
    const day = filter[name];
    return typeof day === 'string' ? { [name]: shiftDay(day, days) } : {};
  };
  return { ...filter, ...shift(DAYS.from, -1), ...shift(DAYS.to, 1) };
}

function shiftDay(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);
}

const swedishTime = codec.localTime('Europe/Stockholm');

/**
 * Returns the time on Swedish clocks. When the clocks are set back they show one hour twice. Fortnox reads such a time as the second one,
 * which would miss changes. So a time in that hour is replaced by the time an hour earlier.
 */
export function toSwedishMinute(epochMs: number): string {
  const show = (ms: number) => String(swedishTime.write(new Date(ms).toISOString())).slice(0, 16);
  const isShownAgain = show(epochMs) === show(epochMs + HOUR_MS);
  return show(isShownAgain ? epochMs - HOUR_MS : epochMs);
}

function sortedBy(order: ListQuery<Inputs>['order']): Inputs {
  const [sortby, sortorder] = order?.split(' ') ?? [];
  return sortby === undefined || sortorder === undefined ? {} : { sortby, sortorder };
}

/**
 * Returns the operations on single records, which have the form `{ "Customer": {…} }`. The response to a write contains the record. A PUT
 * changes the members in the request and keeps the others.
 */
export function recordsOf(collection: string, member: string, { isRemovable = false } = {}) {
  const record = ({ body }: { readonly body: unknown }) => json.object(json.at(body, member), `the ${member}`);
  return records({
    get: (id) => ({ path: path`/${collection}/${id}` }),
    record,
    create: {
      request: (values) => {
        const given = Object.entries(values).filter(([, value]) => value !== API_BLANK && value !== null);
        return { method: 'POST', path: `/${collection}`, json: { [member]: Object.fromEntries(given) } };
      },
    },
    update: {
      request: (id, values) => ({ method: 'PUT', path: path`/${collection}/${id}`, json: { [member]: values } }),
      record,
    },
    ...(isRemovable && { remove: (id) => ({ method: 'DELETE', path: path`/${collection}/${id}` }) }),
  });
}
