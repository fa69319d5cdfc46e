/** How much of what can be tried is tried. */
export interface Effort {
  /** Of the listings of a connector, and of the objects that can be written. Those that are left out are tried where everything is. */
  readonly listings: number;
  /** Random filters on each listing, and on all of them together. */
  readonly filters: number;
  readonly filtersInAll: number;
  readonly seed: number;
  readonly claims: number;
  /** Each claim is tried with two at least, however many there are. */
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
  /** Pages of a walk, about; then they are larger. */
  readonly pages: number;
  readonly sortedFields: number;
  readonly sortedFieldsInAll: number;
  readonly mostTexts: number;
  /** Kinds of failures of the provider. */
  readonly troubles: number;
  /** Objects whose changes are polled for. */
  readonly followed: number;
}

/** What is tried of a connector while you work on it: some 150 calls. */
export const QUICK: Effort = {
  listings: 1,
  filters: 8,
  filtersInAll: 8,
  seed: 20260,
  claims: 8,
  literalsPerClaim: 3,
  literalsInAll: Number.POSITIVE_INFINITY,
  candidates: 30,
  tried: 3,
  everyKind: false,
  pagedListings: 1,
  walks: 1,
  pages: 25,
  sortedFields: 1,
  sortedFieldsInAll: Number.POSITIVE_INFINITY,
  mostTexts: 3,
  troubles: Number.POSITIVE_INFINITY,
  followed: 2,
};

/** What `npm test` has the time for: each check, with few calls. */
export const SMOKE: Effort = {
  ...QUICK,
  filters: 3,
  claims: 3,
  literalsPerClaim: 2,
  candidates: 8,
  tried: 1,
  pages: 4,
  mostTexts: 1,
  troubles: 5,
  followed: 1,
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
  pages: Number.POSITIVE_INFINITY,
  sortedFields: 12,
  sortedFieldsInAll: 60,
  mostTexts: Number.POSITIVE_INFINITY,
  troubles: Number.POSITIVE_INFINITY,
  followed: Number.POSITIVE_INFINITY,
};

const BOUNDLESS = {
  filtersInAll: Number.POSITIVE_INFINITY,
  literalsInAll: Number.POSITIVE_INFINITY,
  sortedFieldsInAll: Number.POSITIVE_INFINITY,
};

/**
 * CONFORMANCE=smoke tries little. CONFORMANCE=full tries everything, of the connectors that CONFORMANCE_OF lists by their keys where it is set. CONFORMANCE_RUNS makes it so
 * many random filters, from another seed each time unless CONFORMANCE_SEED says which.
 */
export function readEffort(environment: Readonly<Record<string, string | undefined>>, connector: string): Effort {
  const { CONFORMANCE, CONFORMANCE_OF: chosen, CONFORMANCE_RUNS: runs, CONFORMANCE_SEED: seed } = environment;
  const isChosen = chosen === undefined || chosen.split(',').includes(connector);
  const least = CONFORMANCE === 'smoke' ? SMOKE : QUICK;
  const effort = (CONFORMANCE === 'full' && isChosen) || runs !== undefined ? FULL : least;
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

/** Runs of a property test: a tenth of them in `npm test`, and all in `npm run test:slow` (test/properties.slow.test.ts). */
export function runs(count: number): number {
  return process.env.CONFORMANCE === 'full' ? count : Math.ceil(count / 10);
}
