import {
  type Call,
  decode,
  fault,
  parseODataFilter,
  type RowOrder,
  sortRows,
  type TableRow,
} from '#connector/simulator';
import { comparedField, compileCondition, type Scope } from './condition.ts';

/** The system query options of a request, decoded. */
export type Options = ReadonlyMap<string, string>;

const KNOWN = ['$filter', '$orderby', '$select', '$top', '$skip', '$count', '$skiptoken', '$format'];

/**
 * Reads the query options. A plus sign does not stand for a blank.
 * @throws Fault 400 for an unknown query option
 */
export function readOptions({ search }: Call): Options {
  const pairs = search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '');
  const options = new Map(
    pairs.map((pair): [string, string] => {
      const equals = pair.indexOf('=');
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    }),
  );
  const unknown = [...options.keys()].find((name) => name.startsWith('$') && !KNOWN.includes(name));
  if (unknown !== undefined) throw fault(400, `The query option '${unknown}' is not supported.`);
  return options;
}

/**
 * Returns the requested rows of all pages, and their number without `$top` and `$skip`.
 * @throws Fault 400
 */
export function queryRows(rows: readonly TableRow[], options: Options, scope: Scope) {
  const filter = scope.quirks.filter === 'ignored' ? undefined : options.get('$filter');
  const test = filter === undefined ? () => true : compileCondition(parseODataFilter(filter), scope);
  const matching = sortRows(rows.filter(test), readOrder(options.get('$orderby'), scope));
  const skip = readCount(options, '$skip') ?? 0;
  const top = readCount(options, '$top') ?? Number.POSITIVE_INFINITY;
  return { rows: matching.slice(skip, skip + top), count: matching.length };
}

export function readCount(options: Options, name: string): number | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw fault(400, `'${text}' is no value of ${name}.`);
  return Number(text);
}

/** Reads an order. Null comes first in ascending order. Without an order the rows keep the order in which they were stored. */
function readOrder(order: string | undefined, scope: Scope): readonly RowOrder[] {
  return (order?.split(',') ?? []).map((term) => {
    const [path = '', direction = 'asc', ...rest] = term.trim().split(/\s+/);
    if (rest.length > 0 || !['asc', 'desc'].includes(direction)) throw fault(400, `'${term}' is no order.`);
    const field = comparedField(path.split('/'), { ...scope, quirks: {} });
    return { ...field, descending: direction === 'desc' };
  });
}

/**
 * Reads the names of the selected properties.
 * @throws Fault 400 for a property that does not exist
 */
export function readSelect(options: Options, { properties }: Pick<Scope, 'properties'>): readonly string[] {
  const select = options.get('$select') ?? '*';
  const names = select === '*' ? Object.keys(properties) : select.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) throw fault(400, `Could not find a property named '${unknown}'.`);
  return names;
}
