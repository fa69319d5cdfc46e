import { LRUCache } from 'lru-cache';
import type { ObjectSpec, PushedField } from '../connector/index.ts';
import type { FilterChange } from '../mappings/filter-values.ts';
import { outermost } from '../mappings/row-mapping.ts';
import { isJsonObject } from '../numbers/exact-json.ts';
import {
  compileCondition,
  type ParsedQuery,
  type Plan,
  type PreparedQuery,
  planParsed,
  predicatesOf,
  prepareQuery,
  type QueryText,
  type Row,
  type RowTest,
  recordFields,
} from '../where/index.ts';
import { isMappedObject } from './mapped.ts';
import { createProjection, createRecordMapper, type RecordMapper } from './record.ts';

/** A prepared query, with all that depends on nothing else. */
export type Query = PreparedQuery & {
  /** The steps for each of its rows. */
  readonly steps: RowSteps;
  /** Whether the provider's rows are those of the response, so that page size and position can be passed on. */
  readonly isDirect: boolean;
  /** How much of the filter and the order the provider evaluates. */
  readonly pushdown: Plan['pushdown'];
};

/** A query whose values the script of a mapping changed. */
interface ChangedQuery {
  readonly parsed: ParsedQuery;
  readonly change: FilterChange;
}

/** Maximum size of all cached queries in bytes, of all accounts together. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Maximum number of characters of a cached query. A longer one rarely comes again, and takes the space of many others. */
const LONGEST_TEXT = 2048;

/** The queries of one object. They refer to the object, and only the object refers to them. */
type Queries = Map<string, { readonly query: Query; readonly entry: CachedQuery }>;

interface CachedQuery {
  readonly text: string;
  readonly queries: WeakRef<Queries>;
}

/**
 * Creates a cache that prepares each query of an object once, as long as the object stays the same. The least recently used queries are
 * dropped first. A dropped query costs its caller a millisecond, so accounts need no shares of their own.
 */
export function createQueryCache(maxBytes: number = MOST_BYTES) {
  const byObject = new WeakMap<ObjectSpec, Queries>();
  // Refers to the queries weakly, so that those of a dropped object are dropped with it.
  const recentlyUsed = new LRUCache<CachedQuery, CachedQuery>({
    maxSize: maxBytes,
    dispose: ({ text, queries }) => void queries.deref()?.delete(text),
  });

  return (object: ObjectSpec, { where, also, orderBy, fields }: QueryText, changed?: ChangedQuery): Query => {
    const queries: Queries = byObject.get(object) ?? new Map();
    byObject.set(object, queries);
    const text = JSON.stringify([where, also, orderBy, fields, changed?.change.mark]);
    const known = queries.get(text);
    if (known !== undefined) {
      recentlyUsed.get(known.entry);
      return known.query;
    }
    const prepared =
      changed !== undefined && isMappedObject(object)
        ? planParsed(changed.parsed, changed.change.apply(object), changed.change.mark)
        : prepareQuery({ where, also, orderBy, fields }, object);
    const { plan } = prepared;
    const query = {
      ...prepared,
      isDirect: plan.residual === undefined && plan.sortPushed,
      pushdown: plan.sortPushed || plan.pushdown !== 'full' ? plan.pushdown : 'partial',
      steps: createRowSteps(prepared, isMappedObject(object) ? { isNarrowed: fields !== undefined } : undefined),
    } satisfies Query;
    const size = bytesOf(text, query);
    if (text.length > LONGEST_TEXT || size > maxBytes) return query;
    const entry = { text, queries: new WeakRef(queries) };
    queries.set(text, { query, entry });
    recentlyUsed.set(entry, entry, { size });
    return query;
  };
}

/** Measured bytes: per character of text in the worst case (many short LIKEs), and per field that is fetched or returned. */
const BYTES_OF = { query: 4000, character: 120, field: 300 };

/** Estimates the memory of a query, slightly too high. */
function bytesOf(text: string, { fields, steps }: Query): number {
  const fieldCount = fields.length + steps.fields.length;
  return BYTES_OF.query + BYTES_OF.character * text.length + BYTES_OF.field * fieldCount;
}

/** The fields and the mapper of a single record. */
interface WholeRecord {
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
}

const wholeRecords = new WeakMap<ObjectSpec, WholeRecord>();

/** Returns the fields and the mapper of an object's records. They are made once per object. */
export function wholeRecord(object: ObjectSpec): WholeRecord {
  const known = wholeRecords.get(object);
  if (known !== undefined) return known;
  const fields = recordFields(object);
  const whole = { fields, map: isMappedObject(object) ? asItIs : createRecordMapper(fields) };
  wholeRecords.set(object, whole);
  return whole;
}

/** The steps for each row of a query. They depend only on the query, so they are made once. */
interface RowSteps {
  /** The fields to request from the provider: those to return, to filter again, to sort and to continue by. */
  readonly fields: readonly PushedField[];
  readonly map: RecordMapper;
  /** Whether the rows are those of a mapped object, which may have to be prepared before they are read. */
  readonly isMapped: boolean;
  /** For each query of the plan, the test of its residual filter. Undefined: each row passes. */
  readonly tests: readonly (RowTest | undefined)[];
  /** Returns a row with the requested fields only. */
  readonly project: (row: Row) => Row;
}

/** Operations of mapped objects return rows that are mapped already. */
function asItIs(row: unknown): Record<string, unknown> {
  if (isJsonObject(row)) return row;
  throw new Error('An operation of a mapped object returned no row');
}

/** The query for the rows of a mapped object. */
interface MappedRows {
  /** Whether the query names its fields. */
  readonly isNarrowed: boolean;
}

/** Makes the steps for the rows of a query. */
function createRowSteps({ plan, fields }: PreparedQuery, mapped?: MappedRows): RowSteps {
  const checked = predicatesOf(plan.residual).map(({ field }) => field);
  const sorted = plan.sortPushed ? [] : plan.orderBy.map(({ field }) => field);
  const asked = outermost(fields);
  const continued = plan.goOnAfter === undefined ? [] : [plan.goOnAfter.idField];
  const needed = outermost([...fields, ...checked, ...sorted, ...continued]);
  const names = new Set(asked.map(({ name }) => name));
  return {
    fields: needed,
    map: mapped === undefined ? createRecordMapper(needed) : asItIs,
    isMapped: mapped !== undefined,
    tests: plan.queries.map(({ residual }) => (residual === undefined ? undefined : compileCondition(residual))),
    // A script may add members to rows, which a list of fields leaves out.
    project:
      mapped?.isNarrowed !== true && needed.every(({ name }) => names.has(name))
        ? (row) => row
        : createProjection(asked),
  };
}
