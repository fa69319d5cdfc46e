import { LRUCache } from 'lru-cache';
import type { ObjectSpec, PushedField } from '../connector/index.ts';
import {
  compileCondition,
  type PreparedQuery,
  predicatesOf,
  prepareQuery,
  type QueryText,
  type Row,
  recordFields,
} from '../where/index.ts';
import { createProjection, createRecordMapper, type RecordMapper } from './record.ts';

export type Query = PreparedQuery & { readonly steps: RowSteps };

/** Bytes of all queries that are kept, whoever's they are. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Characters. A longer query is not kept: it is seldom one that comes again, and takes the place of many that are. */
const LONGEST_TEXT = 2048;

/** The queries of one object. They hold on to it, and nothing else does to them. */
type Queries = Map<string, { readonly query: Query; readonly entry: CachedQuery }>;

interface CachedQuery {
  readonly text: string;
  readonly queries: WeakRef<Queries>;
}

/**
 * A query that was understood once is not parsed again as long as its object stays the same. What was not asked for longest
 * goes first: to lose a query costs a caller the millisecond of understanding it again, so callers need no shares of their own.
 */
export function createQueryCache(maxBytes: number = MOST_BYTES) {
  const byObject = new WeakMap<ObjectSpec, Queries>();
  // Knows only where the queries are, so that those of an object that is gone are gone with it.
  const recentlyUsed = new LRUCache<CachedQuery, CachedQuery>({
    maxSize: maxBytes,
    dispose: ({ text, queries }) => void queries.deref()?.delete(text),
  });

  function queriesOf(object: ObjectSpec): Queries {
    const known = byObject.get(object);
    if (known !== undefined) return known;
    const queries: Queries = new Map();
    byObject.set(object, queries);
    return queries;
  }

  return (object: ObjectSpec, { where, also, orderBy, fields }: QueryText): Query => {
    const queries = queriesOf(object);
    const text = JSON.stringify([where, also, orderBy, fields]);
    const known = queries.get(text);
    if (known !== undefined) {
      recentlyUsed.get(known.entry);
      return known.query;
    }
    const prepared = prepareQuery({ where, also, orderBy, fields }, object);
    const query = { ...prepared, steps: createRowSteps(prepared) };
    const size = bytesOf(text, query);
    if (text.length > LONGEST_TEXT || size > maxBytes) return query;
    const entry = { text, queries: new WeakRef(queries) };
    queries.set(text, { query, entry });
    recentlyUsed.set(entry, entry, { size });
    return query;
  };
}

/** Bytes, measured: what is made of a character of text at worst (many short LIKEs), and of a field that is fetched or answered. */
const BYTES_OF = { query: 4000, character: 120, field: 300 };

/** What it takes in memory, or a little more. */
function bytesOf(text: string, { fields, steps }: Query): number {
  const fieldCount = fields.length + steps.fields.length;
  return BYTES_OF.query + BYTES_OF.character * text.length + BYTES_OF.field * fieldCount;
}

/** What a single record is made of. */
export interface WholeRecord {
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
}

const wholeRecords = new WeakMap<ObjectSpec, WholeRecord>();

/** Made once for an object, as long as that is kept. */
export function wholeRecord(object: ObjectSpec): WholeRecord {
  const known = wholeRecords.get(object);
  if (known !== undefined) return known;
  const fields = recordFields(object);
  const whole = { fields, map: createRecordMapper(fields) };
  wholeRecords.set(object, whole);
  return whole;
}

/** What happens to each row of a query; depends on nothing but the query, so it is made once. */
export interface RowSteps {
  /** The fields the provider is asked for: those to answer, to check again, to sort and to go on by. */
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
  /** Whether a row of a query of the plan, by its place, passes what is checked again. */
  readonly matches: (row: Row, query: number) => boolean;
  /** Leaves only the fields to answer. */
  readonly project: (row: Row) => Row;
}

export function createRowSteps({ plan, fields }: PreparedQuery): RowSteps {
  const checked = predicatesOf(plan.residual).map(({ field }) => field);
  const sorted = plan.sortPushed ? [] : plan.orderBy.map(({ field }) => field);
  const asked = outermost(fields);
  const continued = plan.goOnAfter === undefined ? [] : [plan.goOnAfter.idField];
  const needed = outermost([...fields, ...checked, ...sorted, ...continued]);
  const tests = plan.queries.map(({ residual }) => (residual === undefined ? undefined : compileCondition(residual)));
  const names = new Set(asked.map(({ name }) => name));
  return {
    fields: needed,
    map: createRecordMapper(needed),
    matches: (row, query) => tests[query]?.(row) ?? true,
    project: needed.every(({ name }) => names.has(name)) ? (row) => row : createProjection(asked),
  };
}

/** Without doubles, and without fields inside another one of them: read after it, they would make an object of its null. */
function outermost(fields: readonly PushedField[]): readonly PushedField[] {
  const byName = new Map(fields.map((field) => [field.name, field]));
  return [...byName.values()].filter(({ name }) => !holdersOf(name).some((holder) => byName.has(holder)));
}

/** `a.b.c` → `a`, `a.b`. */
function holdersOf(name: string): readonly string[] {
  const path = name.split('.');
  return path.slice(1).map((_, index) => path.slice(0, index + 1).join('.'));
}
