import type { Row } from './data.ts';
import { type Collation, compareValues, compileFilter, readPath } from './evaluate.ts';
import { parseFilter } from './parse-filter.ts';
import { Problem } from './problem.ts';
import type { Quirks } from './quirks.ts';
import type { EntitySchema } from './schema.ts';

/** The system query options of one request, decoded. */
export type Options = ReadonlyMap<string, string>;

export interface Page {
  readonly rows: readonly Row[];
  readonly count: number;
  /** Rows of the result in front of the next page, when the server ends the page before the result ends. */
  readonly skipToken?: number;
}

const KNOWN = new Set(['$filter', '$orderby', '$select', '$top', '$skip', '$count', '$skiptoken', '$format']);

/** @throws Problem 400 for a query option that does not exist. */
export function readOptions(search: string): Options {
  const pairs = search
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '');
  const options = new Map(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      return [decodeURIComponent(pair.slice(0, equals)), decodeURIComponent(pair.slice(equals + 1))] as const;
    }),
  );
  const unknown = [...options.keys()].find((name) => name.startsWith('$') && !KNOWN.has(name));
  if (unknown !== undefined) throw new Problem(400, `The query option '${unknown}' is not supported.`);
  return options;
}

interface Query {
  readonly entity: EntitySchema;
  readonly options: Options;
  readonly collation: Collation;
  readonly quirks: Quirks;
  /** Most rows in one answer. */
  readonly maxPageSize: number;
}

export function queryRows(rows: readonly Row[], { entity, options, collation, quirks, maxPageSize }: Query): Page {
  const filter = quirks.filter === 'ignored' ? undefined : options.get('$filter');
  const scope = { properties: entity.properties, collation, quirks };
  const test = filter === undefined ? () => true : compileFilter(parseFilter(filter), scope);
  const matching = rows.filter(test).sort(compareRows(entity, options.get('$orderby'), collation));
  const skip = readCount(options, '$skip') ?? 0;
  const window = matching.slice(skip, skip + (readCount(options, '$top') ?? Number.POSITIVE_INFINITY));
  const start = readCount(options, '$skiptoken') ?? 0;
  const end = start + maxPageSize;
  const page = { rows: window.slice(start, end), count: matching.length };
  return end < window.length ? { ...page, skipToken: end } : page;
}

function readCount(options: Options, name: string): number | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Problem(400, `'${text}' is no value of ${name}.`);
  return Number(text);
}

/** Null comes first in ascending order. Without an order rows stand as they were stored. */
function compareRows(entity: EntitySchema, order: string | undefined, collation: Collation) {
  const terms = (order?.split(',') ?? []).map((term) => {
    const [path = '', direction = 'asc', ...rest] = term.trim().split(/\s+/);
    if (rest.length > 0 || !['asc', 'desc'].includes(direction)) throw new Problem(400, `'${term}' is no order.`);
    return { path: path.split('/'), sign: direction === 'asc' ? 1 : -1 };
  });
  for (const { path } of terms) readPath({}, path, entity.properties);
  return (a: Row, b: Row) => {
    for (const { path, sign } of terms) {
      const [left, right] = [a, b].map((row) => readPath(row, path, entity.properties));
      const order =
        left && right ? compareValues(left, right, { collation }) : Number(left !== null) - Number(right !== null);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

/** @throws Problem 400 for a property that does not exist. */
export function selectProperties(entity: EntitySchema, row: Row, options: Options): Row {
  const select = options.get('$select');
  if (select === undefined || select === '*') return row;
  const names = select.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(entity.properties, name));
  if (unknown !== undefined) throw new Problem(400, `Could not find a property named '${unknown}'.`);
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
