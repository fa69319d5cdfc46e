import {
  type Call,
  empty,
  Fault,
  json,
  type MovableClock,
  type Routes,
  type SimulatedResponse,
  type TableRow,
} from '#connector/simulator';
import { invalid, SEARCH_WINDOW_MS } from './faults.ts';
import { createRates, takeAfter } from './limits.ts';
import { findKindName, KINDS_BY_NAME, type Kind } from './properties.ts';
import type { Of, Records } from './records.ts';
import { compileSearch, type SearchBody, sortFound } from './search.ts';

type Objects = Of & { readonly kind: Kind };

/** Options of the search, and the rows that its index has. */
export interface SearchOptions {
  readonly clock: MovableClock;
  readonly indexed: (collection: Of) => readonly TableRow[];
  readonly searchesPerSecond?: number;
  readonly matchesMissing?: boolean;
  readonly searchWindow?: number;
}

/** Returns the routes of CRM objects of all types. */
export function createObjectRoutes(records: Records, options: SearchOptions): Routes {
  const path = '/crm/v3/objects/{type}';
  const rates = createRates(options.clock, options.searchesPerSecond, SEARCH_WINDOW_MS);
  return {
    [`POST ${path}/search`]: (call) => {
      const headers = rates?.take();
      return json(search(findObjects(records, call), call, options), 200, headers);
    },
    [`POST ${path}/batch/read`]: (call) =>
      readBatch(findObjects(records, call), call, new Date(options.clock.now()).toISOString()),
    [`GET ${path}`]: (call) => {
      const { table, kind, keyOf } = findObjects(records, call);
      const rows = table.rows(true).filter((row) => row.archived === isArchived(call));
      const { results, paging } = takeAfter(rows, call, { idOf: keyOf, usual: 10, most: 100 });
      return json({ results: results.map((row) => show(kind, row, namesIn(call))), paging });
    },
    [`GET ${path}/{id}`]: (call) => {
      const objects = findObjects(records, call);
      return json(show(objects.kind, findRow(objects, call), namesIn(call)));
    },
    [`POST ${path}`]: (call) => {
      const objects = findObjects(records, call);
      const { properties, associations } = call.body.object();
      if (Array.isArray(associations) && associations.length > 0) {
        throw invalid('The simulator does not create associations.', 'associations');
      }
      const row = objects.table.insert(readValues(objects, Object(properties)));
      const held = Object.keys(objects.kind.properties).filter((name) => row[name] !== null);
      return json(show(objects.kind, row, held), 201);
    },
    [`PATCH ${path}/{id}`]: (call) => {
      const objects = findObjects(records, call);
      const old = findRow(objects, call);
      const values = readValues(objects, Object(call.body.object().properties), old);
      const row = objects.table.update(objects.keyOf(old), values) ?? old;
      // A recorded response has the properties of the request, a cleared one as an empty text.
      const shown = show(objects.kind, row, Object.keys(values));
      const properties = Object.entries(shown.properties).map(([name, value]) => [name, value ?? '']);
      return json({ ...shown, properties: Object.fromEntries(properties) });
    },
    // A record that is not there is no error.
    [`DELETE ${path}/{id}`]: (call) => {
      const { table } = findObjects(records, call);
      if (table.find(call.params.id ?? '')?.archived === false) table.remove(call.params.id ?? '');
      return empty();
    },
  };
}

function findObjects(records: Records, { params }: Call): Objects {
  const name = findKindName(params.type);
  const [collection, kind] = [records[name], KINDS_BY_NAME[name]];
  if (collection === undefined || kind === undefined) throw new Error(`There are no ${name}.`);
  return { ...collection, kind };
}

const isArchived = ({ query }: Call) => query.get('archived') === 'true';

/** Archived records are found only on request. */
function findRow({ kind, table, get }: Objects, call: Call): TableRow {
  const { id = '' } = call.params;
  const unique = call.query.get('idProperty');
  if (unique !== null && kind.properties[unique]?.isUnique !== true)
    throw invalid(`${unique} is not unique`, 'idProperty');
  const row = unique === null ? table.find(id) : table.rows(true).find((each) => each[unique] === id);
  return row === undefined || row.archived !== isArchived(call) ? get('') : row;
}

/**
 * Reads the values of a body.
 * @throws Fault 409 for a value of a unique property that another record has
 */
function readValues({ kind, table, keyOf, read }: Objects, given: TableRow, old?: TableRow): TableRow {
  const values = read(given, old);
  for (const [name, value] of Object.entries(values)) {
    if (kind.properties[name]?.isUnique !== true || value === null) continue;
    const fold = (each: unknown) => String(each).toLowerCase();
    const other = table.rows().find((row) => row !== old && fold(row[name]) === fold(value));
    if (other === undefined) continue;
    const noun = kind.aliases[1]?.replace(/^./, (letter) => letter.toUpperCase());
    throw new Fault(409, 'CONFLICT', `${noun} already exists. Existing ID: ${keyOf(other)}`);
  }
  return values;
}

const MOST_IN_BATCH = 100;

/** Reads records by their ids. The response names those that do not exist. */
function readBatch({ kind, table, keyOf }: Objects, call: Call, now: string): SimulatedResponse {
  const { inputs, properties } = call.body.object();
  const ids = Array.isArray(inputs) ? inputs.map(({ id }) => String(id)) : [];
  if (ids.length > MOST_IN_BATCH) throw invalid(`At most ${MOST_IN_BATCH} inputs are allowed.`, 'inputs');
  const names = Array.isArray(properties) && properties.length > 0 ? properties.map(String) : undefined;
  const rows = table.rows(true).filter((row) => ids.includes(keyOf(row)) && row.archived === isArchived(call));
  const results = rows.map((row) => show(kind, row, names));
  const batch = { status: 'COMPLETE', startedAt: now, completedAt: now, results };
  const missing = ids.filter((id) => rows.every((row) => keyOf(row) !== id));
  if (missing.length === 0) return json(batch);
  const message = 'Could not get some objects, they may be deleted or not exist. Check that ids are valid.';
  const about = { status: 'error', category: 'OBJECT_NOT_FOUND', message, context: { ids: missing } };
  return json({ ...batch, numErrors: 1, errors: [{ ...about, errors: [], links: {} }] }, 207);
}

function namesIn({ query }: Call): readonly string[] | undefined {
  return query.has('properties') ? query.getAll('properties').flatMap((names) => names.split(',')) : undefined;
}

/** Shows a record with the named properties. Unknown names are left out, and the id and the times are always there. */
function show({ properties, shown, created, changed }: Kind, row: TableRow, names: readonly string[] = shown) {
  const known = [...new Set([created, 'hs_object_id', changed, ...names])].filter((name) =>
    Object.hasOwn(properties, name),
  );
  return {
    id: row.hs_object_id,
    properties: Object.fromEntries(known.sort().map((name) => [name, row[name] ?? null])),
    ...{ createdAt: row[created], updatedAt: row[changed], archived: row.archived },
    ...(row.archived === true && { archivedAt: row[changed] }),
  };
}

function search({ kind, ...collection }: Objects, call: Call, options: SearchOptions): object {
  const { matchesMissing = true, searchWindow = 10_000, indexed } = options;
  if (call.body.bytes.length > MOST_BYTES) throw invalid(`The body is longer than ${MOST_BYTES} characters.`);
  const body: SearchBody = call.body.object();
  const { limit = 10, after = '', sorts, properties } = body;
  if (!/^\d*$/.test(after)) throw invalid('after is an integer', 'after');
  if (limit < 1 || limit > 200) throw invalid('limit is from 1 to 200', 'limit');
  const start = Number(after);
  if (start + limit > searchWindow) throw invalid(`Paging beyond ${searchWindow} results is not supported.`, 'after');
  const found = indexed(collection).filter(compileSearch(body, kind.properties, matchesMissing));
  const results = sortFound(found, sorts, kind.properties).slice(start, start + limit);
  const next = call.isStuck ? start : start + limit;
  return {
    total: found.length,
    results: results.map((row) => show(kind, row, properties?.length === 0 ? undefined : properties)),
    ...(next < found.length && { paging: { next: { after: String(next) } } }),
  };
}

const MOST_BYTES = 3000;
