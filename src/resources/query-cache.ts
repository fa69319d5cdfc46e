import { LRUCache } from 'lru-cache';
import type { ObjectSpec } from '../connector/index.ts';
import { type PreparedQuery, prepareQuery, type QueryText } from '../where/index.ts';
import { createRowSteps, type RowSteps } from './row-steps.ts';

export type Query = PreparedQuery & { readonly steps: RowSteps };

const QUERIES_PER_OBJECT = 500;

/** A query that was understood once is not parsed again as long as its object stays the same. */
export function createQueryCache() {
  const byObject = new WeakMap<ObjectSpec, LRUCache<string, Query>>();

  function cacheOf(object: ObjectSpec): LRUCache<string, Query> {
    const known = byObject.get(object);
    if (known !== undefined) return known;
    const cache = new LRUCache<string, Query>({ max: QUERIES_PER_OBJECT });
    byObject.set(object, cache);
    return cache;
  }

  return (object: ObjectSpec, { where, orderBy, fields }: QueryText): Query => {
    const cache = cacheOf(object);
    const key = JSON.stringify([where, orderBy, fields]);
    const known = cache.get(key);
    if (known !== undefined) return known;
    const prepared = prepareQuery({ where, orderBy, fields }, object);
    const query = { ...prepared, steps: createRowSteps(prepared) };
    cache.set(key, query);
    return query;
  };
}
