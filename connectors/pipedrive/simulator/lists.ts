import {
  type Call,
  type Collection,
  createConform,
  Fault,
  filterFieldOf,
  foldCases,
  json,
  sortRows,
  type TableRow,
  takePage,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { isTime, type Kind } from './records.ts';

export const conform = createConform(official);

/** Returns a record as its version of the API shows it. Version 1 writes instants without an offset. */
export function show({ schema, v1 }: Kind, row: TableRow): TableRow {
  const entries = Object.entries(conform(row, schema)).map(([name, value]) =>
    v1 && typeof value === 'string' && isTime(name) ? [name, value.replace('T', ' ').slice(0, -1)] : [name, value],
  );
  return Object.fromEntries(entries);
}

const SIZED = { size: 'limit', usual: 100, most: 500, beyond: 'refused' } as const;

/** Returns a page of version 2, which has a cursor. */
export function pageOf<Row>(all: readonly Row[], call: Call, toData: (rows: readonly Row[]) => unknown) {
  const { rows, next = null } = takePage(all, { ...SIZED, kind: 'cursor', cursor: 'cursor' }, call);
  return json({ success: true, data: toData(rows), additional_data: { next_cursor: next } });
}

/** Lists records of version 2. Sources: "Get all deals" and the like. Only `status=deleted` finds deleted deals. */
export function listV2(kind: Kind, collection: Collection, call: Call) {
  const { query } = call;
  const ids = query.get('ids')?.split(',');
  if ((ids?.length ?? 0) > 100) throw new Fault(400, 'validation', 'ids: at most 100 ids can be given');
  const statuses = query.get('status')?.split(',');
  const found = foundIn(collection, call).filter((row) => {
    const status = row.is_deleted === true ? 'deleted' : String(row.status);
    const isShown = statuses === undefined ? status !== 'deleted' : statuses.includes(status);
    return isShown && (ids === undefined || ids.includes(String(row.id)));
  });
  const term = `${query.get('sort_by') ?? 'id'} ${query.get('sort_direction') ?? 'asc'}`;
  return pageOf(sorted(collection, found, term), call, (rows) => rows.map((row) => show(kind, row)));
}

/** Lists records of version 1: users as a whole, notes in pages. Source: "Get all notes". */
export function listV1(kind: Kind, collection: Collection, call: Call) {
  const all = sorted(collection, foundIn(collection, call), call.query.get('sort') ?? 'id');
  const style =
    kind.schema === 'User' ? ({ kind: 'whole' } as const) : ({ ...SIZED, kind: 'offset', offset: 'start' } as const);
  const { rows, start, size, next } = takePage(all, style, call);
  const pagination = { start, limit: size, more_items_in_collection: next !== undefined };
  return json({
    success: true,
    data: rows.map((row) => show(kind, row)),
    ...(style.kind === 'offset' && { additional_data: { pagination } }),
  });
}

function sorted({ members }: Collection, rows: readonly TableRow[], order: string): readonly TableRow[] {
  const terms = order.split(',').map((term) => {
    const [, name = '', direction] = /^\s*(\w+)(?: (asc|desc))?\s*$/i.exec(term) ?? [];
    const field = filterFieldOf(members, name);
    if (field === undefined) throw new Fault(400, 'validation', `sort: ${term} is not valid`);
    return { ...field, descending: direction?.toLowerCase() === 'desc' };
  });
  return sortRows(rows, terms);
}

/** Parameters that are no columns. */
const OTHERS =
  /^(?:filter_id|ids|status|updated_(?:since|until)|sort|sort_by|sort_direction|include_fields|custom_fields|limit|cursor|start)$/;

/** Returns the rows, also deleted ones, that the parameters for times and columns find. */
function foundIn({ table }: Collection, { query }: Call): readonly TableRow[] {
  const columns = [...query].filter(([name]) => !OTHERS.test(name));
  const since = timeOf(query, 'updated_since') ?? Number.NEGATIVE_INFINITY;
  const until = timeOf(query, 'updated_until') ?? Number.POSITIVE_INFINITY;
  const isTimed = query.has('updated_since') || query.has('updated_until');
  return table.rows(true).filter((row) => {
    const at = Date.parse(String(row.update_time));
    if (isTimed && !(at >= since && at < until)) return false;
    return columns.every(([name, value]) => String(row[name] ?? '') === value);
  });
}

function timeOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text))
    throw new Fault(400, 'validation', `${name}: must be in RFC3339 format`);
  return Date.parse(text);
}

/** Finds records by their texts, without regard to case. Source: "Search deals" and the like. */
export function search({ searched = {}, entity }: Kind, { table }: Collection, call: Call) {
  const { query } = call;
  const term = foldCases(query.get('term') ?? '').trim();
  const isExact = query.get('exact_match') === 'true';
  if (term.length < (isExact ? 1 : 2)) throw new Fault(400, 'validation', 'term: must have at least 2 characters');
  const names = query.get('fields')?.split(',') ?? Object.keys(searched);
  const found = table.rows().filter((row) =>
    names
      .flatMap((name) => textsIn(row[searched[name] ?? '']))
      .map((text) => foldCases(text).trim())
      .some((text) => (isExact ? text === term : text.includes(term))),
  );
  const itemOf = ({ id, title, name }: TableRow) => ({
    result_score: 0.5,
    item: { id, type: entity, ...(entity === 'deal' ? { title } : { name: name ?? '' }) },
  });
  return pageOf(found, call, (rows) => ({ items: rows.map(itemOf) }));
}

/** Returns the texts of a column: its own, or the values of a list or an object. */
function textsIn(value: unknown): readonly string[] {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  return parts.map((part) => Object(part ?? {}).value ?? part).filter((text) => typeof text === 'string');
}
