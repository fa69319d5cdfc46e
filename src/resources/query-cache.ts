import { LRUCache } from 'lru-cache';
import type { ObjectSpec } from '../connector/index.ts';
import { type PreparedQuery, prepareQuery, type QueryText } from '../where/index.ts';
import { createRowSteps, type RowSteps } from './row-steps.ts';

export type Query = PreparedQuery & { readonly steps: RowSteps };

/** Bytes of all queries that are kept, whoever's they are. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Characters. A longer query is not kept: it is seldom one that comes again, and takes the place of many that are. */
const LONGEST_TEXT = 2048;

/** The queries of one object. They hold on to it, and nothing else does to them. */
type Queries = Map<string, { readonly query: Query; readonly place: Place }>;

interface Place {
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
  const places = new LRUCache<Place, Place>({
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

  return (object: ObjectSpec, { where, orderBy, fields }: QueryText): Query => {
    const queries = queriesOf(object);
    const text = JSON.stringify([where, orderBy, fields]);
    const known = queries.get(text);
    if (known !== undefined) {
      places.get(known.place);
      return known.query;
    }
    const prepared = prepareQuery({ where, orderBy, fields }, object);
    const query = { ...prepared, steps: createRowSteps(prepared) };
    const size = bytesOf(text, query);
    if (text.length > LONGEST_TEXT || size > maxBytes) return query;
    const place = { text, queries: new WeakRef(queries) };
    queries.set(text, { query, place });
    places.set(place, place, { size });
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
