/** How much of what can be tried is tried. */
export interface Effort {
  /** Of the listings of a connector, and of the objects that can be written. Those that are left out are tried where everything is. */
  readonly listings: number;
  /** Random filters on each listing, and on all of them together. */
  readonly filters: number;
  readonly filtersInAll: number;
  readonly seed: number;
  readonly claims: number;
  /** Each claim is tried with three at least, however many there are: fewer may all be decided without the provider. */
  readonly literalsPerClaim: number;
  readonly literalsInAll: number;
  /** Random filters among which queries are looked for that leave few rows or some. */
  readonly candidates: number;
  /** Of them, how many of each kind are sent until one is of the kind. */
  readonly tried: number;
  /** Queries of every kind are looked for until they are found, and must be found. */
  readonly everyKind: boolean;
  /** Listings whose pages are walked, and ways to walk each. */
  readonly pagedListings: number;
  readonly walks: number;
  readonly sortedFields: number;
  readonly sortedFieldsInAll: number;
  readonly mostTexts: number;
  /** Objects whose changes are polled for. */
  readonly followed: number;
}

/** What `npm test` has the time for. */
export const QUICK: Effort = {
  listings: 3,
  filters: 10,
  filtersInAll: 30,
  seed: 20260,
  claims: 8,
  literalsPerClaim: 3,
  literalsInAll: Number.POSITIVE_INFINITY,
  candidates: 30,
  tried: 3,
  everyKind: false,
  pagedListings: 1,
  walks: 1,
  sortedFields: 1,
  sortedFieldsInAll: Number.POSITIVE_INFINITY,
  mostTexts: 3,
  followed: 3,
};

export const FULL: Effort = {
  listings: Number.POSITIVE_INFINITY,
  filters: 150,
  filtersInAll: 900,
  seed: 20260,
  claims: Number.POSITIVE_INFINITY,
  literalsPerClaim: 7,
  literalsInAll: 1200,
  candidates: 400,
  tried: 25,
  everyKind: true,
  pagedListings: 6,
  walks: Number.POSITIVE_INFINITY,
  sortedFields: 12,
  sortedFieldsInAll: 60,
  mostTexts: Number.POSITIVE_INFINITY,
  followed: Number.POSITIVE_INFINITY,
};

const BOUNDLESS = {
  filtersInAll: Number.POSITIVE_INFINITY,
  literalsInAll: Number.POSITIVE_INFINITY,
  sortedFieldsInAll: Number.POSITIVE_INFINITY,
};

/**
 * CONFORMANCE=full tries everything. CONFORMANCE_RUNS makes it so many random filters, from another seed each time unless
 * CONFORMANCE_SEED says which.
 */
export function readEffort(environment: Readonly<Record<string, string | undefined>>): Effort {
  const { CONFORMANCE, CONFORMANCE_RUNS: runs, CONFORMANCE_SEED: seed } = environment;
  const effort = CONFORMANCE === 'full' || runs !== undefined ? FULL : QUICK;
  return {
    ...effort,
    ...(runs !== undefined && {
      filters: Number(runs),
      ...BOUNDLESS,
      literalsPerClaim: 60,
      seed: Date.now() % 2 ** 31,
    }),
    ...(seed !== undefined && { seed: Number(seed) }),
  };
}
