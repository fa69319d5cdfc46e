import fc from 'fast-check';
import type { Exactness, FieldSpec } from '#connector';
import type { Filter, Literal } from '../src/where/ast.ts';
import { prepareQuery } from '../src/where/index.ts';
import { filtersOn, predicatesFor, printFilter } from './filters.ts';
import { literalsFor } from './literals.ts';
import { evaluate } from './reference.ts';
import { getOk, idOnly, idsOf, type Listing, listAll, type Target } from './target.ts';

/** The number of random filters, and their seed. */
export interface Sample {
  readonly filters: number;
  readonly seed: number;
  /** One in so many of the filters that Causeway alone evaluates is sent. Default: all of them. */
  readonly localEach?: number;
}

/**
 * Sends random filters and compares the rows of the response with those of the listing that match.
 * @throws Error with the smallest filter whose response is wrong
 */
export async function assertSound(
  target: Target,
  listing: Listing,
  { filters, seed, localEach = 1 }: Sample,
): Promise<void> {
  const property = fc.asyncProperty(filtersOn(listing), async (filter) => {
    if (isSent(filter, listing, localEach)) await assertFilter(target, listing, filter);
  });
  const run = await fc.check(property, { numRuns: filters, seed, verbose: 0 });
  if (!run.failed) return;
  const reason = run.errorInstance instanceof Error ? run.errorInstance.message : String(run.errorInstance);
  throw new Error(`${reason}\n(seed ${run.seed}, after ${run.numRuns} filters on ${listing.name})`);
}

function isSent(filter: Filter, { object }: Listing, localEach: number): boolean {
  const where = printFilter(filter);
  // It depends on the text alone, so that the search for the smallest wrong filter finds the same result each time.
  return where.length % localEach === 0 || prepareQuery({ where }, object).plan.pushdown !== 'none';
}

/** Returns the share of the filters of `assertSound` that match some rows but not all. The others prove little. */
export function shareOfTellingFilters(listing: Listing, { filters, seed }: Sample): number {
  const samples = fc.sample(filtersOn(listing), { numRuns: filters, seed });
  const telling = samples.filter((filter) => {
    const count = listing.rows.filter((row) => evaluate(filter, row, listing.object.fields) === true).length;
    return count > 0 && count < listing.rows.length;
  });
  return telling.length / filters;
}

/**
 * Sends a filter and compares the rows of the response with those that match.
 * @throws Error when rows are missing, occur twice or do not match
 */
export async function assertFilter(target: Target, listing: Listing, filter: Filter): Promise<void> {
  const where = printFilter(filter);
  const found = await listAll(target, listing.path, { where, pageSize: 5000, ...idOnly(listing) });
  const difference = describeDifference(listing, filter, idsOf(listing, found));
  if (difference !== undefined) throw new Error(`${listing.name} where ${where}: ${difference}`);
}

/** Describes how the returned ids differ from those of the matching rows. Undefined if they don't differ. */
export function describeDifference(listing: Listing, filter: Filter, found: readonly string[]): string | undefined {
  const meant = idsOf(
    listing,
    listing.rows.filter((row) => evaluate(filter, row, listing.object.fields) === true),
  );
  const missing = meant.filter((id) => !found.includes(id));
  const extra = found.filter((id) => !meant.includes(id));
  const doubles = found.length - new Set(found).size;
  const faults = [
    ...(missing.length > 0 ? [`${missing.length} rows are missing (${missing.slice(0, 3).join(', ')})`] : []),
    ...(extra.length > 0 ? [`${extra.length} rows do not match (${extra.slice(0, 3).join(', ')})`] : []),
    ...(doubles > 0 && listing.idField !== undefined ? [`${doubles} rows occur twice`] : []),
  ];
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** A declared operator on a field. */
interface Claim {
  readonly name: string;
  readonly spec: FieldSpec;
  readonly operator: string;
  readonly exactness: Exactness;
}

/** Limits of the measurement of a listing. */
export interface ClaimEffort {
  /** Maximum number of declared operators, spread over all fields. */
  readonly claims: number;
  readonly literalsPerClaim: number;
}

/**
 * Sends each declared operator alone. The provider must evaluate an exact one without a residual filter, and both kinds must return the
 * matching rows.
 * @returns the faults
 */
export async function measureClaims(
  target: Target,
  listing: Listing,
  { claims: most, literalsPerClaim }: ClaimEffort,
): Promise<readonly string[]> {
  const claims = Object.entries(listing.object.fields).flatMap(([name, spec]) =>
    Object.entries(spec.filter ?? {}).map(([operator, exactness]): Claim => ({ name, spec, operator, exactness })),
  );
  const faults: string[] = [];
  // Found once for all operators of a field, because each row is looked at.
  const literals = new Map<string, readonly Literal[]>();
  for (const claim of spread(claims, most)) {
    const ofField = literals.get(claim.name) ?? literalsFor(claim.name, claim.spec, listing.rows);
    literals.set(claim.name, ofField);
    const all = predicatesFor(claim.operator, claim.name, ofField);
    faults.push(...(await measureClaim(target, listing, claim, { all, most: literalsPerClaim })));
  }
  return faults;
}

interface Predicates {
  readonly all: readonly Filter[];
  /** Maximum number of those that are sent. */
  readonly most: number;
}

async function measureClaim(
  target: Target,
  listing: Listing,
  { name, operator, exactness }: Claim,
  { all, most }: Predicates,
): Promise<readonly string[]> {
  const chosen = new Set(choose(all, most));
  const faults: string[] = [];
  let pushed = 0;
  // A predicate that is decided without the provider proves nothing about its abilities, so others are tried until one is sent.
  for (const filter of [...chosen, ...all.filter((each) => !chosen.has(each))]) {
    if (pushed > 0 && !chosen.has(filter)) break;
    const where = printFilter(filter);
    const query = { where, pageSize: 5000, ...idOnly(listing) };
    const { body, headers } = await getOk(target, listing.path, { query });
    const isFull = headers.get('elements-query-pushdown') === 'full';
    pushed += Number(headers.get('elements-query-pushdown') !== 'none');
    const difference = describeDifference(listing, filter, idsOf(listing, body));
    if (difference !== undefined) faults.push(`${listing.name} where ${where}: ${difference}`);
    // A predicate whose literal the field cannot hold is decided without the provider, and proves nothing.
    if (headers.get('elements-provider-calls') === '0') continue;
    if (isFull !== (exactness === 'exact') && !operator.endsWith('LIKE')) {
      faults.push(
        `${listing.name} where ${where}: declared ${exactness}, but the pushdown is ${isFull ? '' : 'not '}full`,
      );
    }
  }
  if (pushed === 0) faults.push(`${listing.name}: ${operator} is declared for '${name}', but was never pushed`);
  return faults;
}

const FIRST = 3;

/** Returns the first items, which are the most likely to show a fault, and others from the whole list. */
export function choose<Item>(items: readonly Item[], most: number): readonly Item[] {
  const first = Math.min(FIRST, most);
  return [...items.slice(0, first), ...spread(items.slice(first), most - first)];
}

/** Returns a number of items from the whole list. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  const step = Math.max(1, items.length / most);
  return items.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
