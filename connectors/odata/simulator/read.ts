import { type Call, decode, type RowOrder, sortRows, type TableRow } from '#connector/simulator';
import { type Collation, comparedField, compileCondition } from './condition.ts';
import { parseFilter } from './parse-filter.ts';
import { problem } from './problem.ts';
import type { Quirks } from './quirks.ts';
import type { EntitySchema } from './schema.ts';

/** The system query options of one request, decoded. */
export type Options = ReadonlyMap<string, string>;

export interface Page {
  readonly rows: readonly TableRow[];
  readonly count: number;
  /** Rows of the result in front of the next page, when the server ends the page before the result ends. */
  readonly skipToken?: number;
}

const KNOWN = new Set(['$filter', '$orderby', '$select', '$top', '$skip', '$count', '$skiptoken', '$format']);

/** A plus is no blank. @throws Fault 400 for a query option that does not exist. */
export function readOptions({ search }: Call): Options {
  const pairs = search.slice(1).split('&');
  const options = new Map(
    pairs.flatMap((pair): [string, string][] => {
      const equals = pair.indexOf('=');
      return pair === '' ? [] : [[decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]];
    }),
  );
  const unknown = [...options.keys()].find((name) => name.startsWith('$') && !KNOWN.has(name));
  if (unknown !== undefined) throw problem(400, `The query option '${unknown}' is not supported.`);
  return options;
}

interface Query {
  readonly entity: EntitySchema;
  readonly options: Options;
  readonly collation: Collation;
  readonly quirks: Quirks;
  /** Most rows in one answer. */
  readonly maxPageSize: number;
  /** The next page is the one that was asked for. */
  readonly isStuck: boolean;
}

export function queryRows(rows: readonly TableRow[], { entity, options, collation, quirks, ...paging }: Query): Page {
  const filter = quirks.filter === 'ignored' ? undefined : options.get('$filter');
  const scope = { properties: entity.properties, collation, quirks };
  const test = filter === undefined ? () => true : compileCondition(parseFilter(filter), scope);
  const terms = readOrder(entity, options.get('$orderby'), collation);
  const matching = sortRows(rows.filter(test), terms);
  const skip = readCount(options, '$skip') ?? 0;
  const window = matching.slice(skip, skip + (readCount(options, '$top') ?? Number.POSITIVE_INFINITY));
  const start = readCount(options, '$skiptoken') ?? 0;
  const end = start + paging.maxPageSize;
  const page = { rows: window.slice(start, end), count: matching.length };
  if (paging.isStuck) return { ...page, skipToken: start };
  return end < window.length ? { ...page, skipToken: end } : page;
}

function readCount(options: Options, name: string): number | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw problem(400, `'${text}' is no value of ${name}.`);
  return Number(text);
}

/** Null comes first in ascending order. Without an order rows stand as they were stored. */
function readOrder({ properties }: EntitySchema, order: string | undefined, collation: Collation): readonly RowOrder[] {
  return (order?.split(',') ?? []).map((term) => {
    const [path = '', direction = 'asc', ...rest] = term.trim().split(/\s+/);
    if (rest.length > 0 || !['asc', 'desc'].includes(direction)) throw problem(400, `'${term}' is no order.`);
    const field = comparedField(path.split('/'), { properties, collation, quirks: {} });
    return { ...field, descending: direction === 'desc' };
  });
}

/** @throws Fault 400 for a property that does not exist. */
export function selectProperties(entity: EntitySchema, row: TableRow, options: Options): TableRow {
  const select = options.get('$select');
  if (select === undefined || select === '*') return row;
  const names = select.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(entity.properties, name));
  if (unknown !== undefined) throw problem(400, `Could not find a property named '${unknown}'.`);
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
