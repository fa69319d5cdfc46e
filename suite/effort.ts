/** The parts of the suite that run. */
export interface Effort {
  /** Maximum number of listings, and of objects that are written. `FULL` includes all of them. */
  readonly listings: number;
  /** Maximum number of random filters on each listing, and on all of them together. */
  readonly filters: number;
  readonly filtersInAll: number;
  /**
   * Share of the random filters that Causeway alone evaluates: one in so many is sent. They don't depend on the connector, and each
   * costs as much as the whole list.
   */
  readonly localEach: number;
  readonly seed: number;
  readonly claims: number;
  /** Maximum number of literals per declared operator, and for all of them together. Each is tried with at least two. */
  readonly literalsPerClaim: number;
  readonly literalsInAll: number;
  /** Number of random filters among which queries with few or some rows are searched. */
  readonly candidates: number;
  /** Maximum number of these filters that are sent for each kind of query. */
  readonly tried: number;
  /** Whether queries of every kind must be found. */
  readonly everyKind: boolean;
  /** Maximum number of listings that are paged through, and of ways to page through each of them. */
  readonly pagedListings: number;
  readonly walks: number;
  /** Approximate maximum number of pages per walk. With more rows, the pages are larger. */
  readonly pages: number;
  readonly sortedFields: number;
  readonly sortedFieldsInAll: number;
  readonly mostTexts: number;
  /** Maximum number of kinds of failures of the provider. */
  readonly troubles: number;
  /** Maximum number of objects whose changes are polled. */
  readonly followed: number;
}

/** The effort while you work on a connector: about 150 calls. */
export const QUICK: Effort = {
  listings: 1,
  filters: 8,
  filtersInAll: 8,
  localEach: 1,
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

/** The effort of `npm test`: each check, with few calls. */
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

/** Everything. `npm run test:slow` tries this much of the connectors in CONFORMANCE_OF, and of all connectors if CONFORMANCE=full. */
export const FULL: Effort = {
  listings: Number.POSITIVE_INFINITY,
  filters: 150,
  filtersInAll: 900,
  localEach: 10,
  seed: 20260,
  claims: Number.POSITIVE_INFINITY,
  literalsPerClaim: 7,
  literalsInAll: 700,
  candidates: 250,
  tried: 25,
  everyKind: true,
  pagedListings: 4,
  walks: Number.POSITIVE_INFINITY,
  pages: Number.POSITIVE_INFINITY,
  sortedFields: 12,
  sortedFieldsInAll: 40,
  mostTexts: Number.POSITIVE_INFINITY,
  troubles: Number.POSITIVE_INFINITY,
  followed: Number.POSITIVE_INFINITY,
};

/**
 * The effort of `npm run test:slow`: each claim, each listing and each kind of query, with about two thirds of the calls of `FULL`. It has
 * all random filters: with 60 of 150, a swapped range of Redmine was not found.
 */
export const THOROUGH: Effort = {
  ...FULL,
  literalsPerClaim: 4,
  literalsInAll: 350,
  pagedListings: 2,
  sortedFields: 5,
  sortedFieldsInAll: 15,
};

const BOUNDLESS = {
  filtersInAll: Number.POSITIVE_INFINITY,
  literalsInAll: Number.POSITIVE_INFINITY,
  sortedFieldsInAll: Number.POSITIVE_INFINITY,
};

/**
 * Returns the effort for a connector. CONFORMANCE=smoke runs each check with few calls. CONFORMANCE=full runs everything, for the
 * connectors in CONFORMANCE_OF (their keys) if that is set. CONFORMANCE=thorough runs everything for the connectors in CONFORMANCE_OF, and
 * about two thirds of it for all connectors if that is not set. CONFORMANCE_RUNS sets the number of random filters. Their seed is then random,
 * unless CONFORMANCE_SEED sets it.
 */
export function readEffort(environment: Environment, connector: string): Effort {
  const { CONFORMANCE_RUNS: runs, CONFORMANCE_SEED: seed } = environment;
  return {
    ...(runs === undefined ? effortOf(environment, connector) : FULL),
    ...(runs !== undefined && {
      filters: Number(runs),
      ...BOUNDLESS,
      literalsPerClaim: 60,
      seed: Date.now() % 2 ** 31,
    }),
    ...(seed !== undefined && { seed: Number(seed) }),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

function effortOf(environment: Environment, connector: string): Effort {
  const { CONFORMANCE: level, CONFORMANCE_OF: chosen } = environment;
  if (level === 'smoke') return SMOKE;
  if ((level !== 'full' && level !== 'thorough') || !isChosen(environment, connector)) return QUICK;
  return level === 'full' || chosen !== undefined ? FULL : THOROUGH;
}

/** Returns whether CONFORMANCE_OF names a connector, or is not set. */
export function isChosen({ CONFORMANCE_OF: chosen }: Environment, connector: string): boolean {
  return chosen === undefined || chosen.split(',').includes(connector);
}

/**
 * Returns whether a real server receives every literal: CONFORMANCE_OF names the connector, or CONFORMANCE_SEED is set, as .ci/run does
 * with CONFORMANCE=full.
 */
export function hasEveryLiteral(
  { CONFORMANCE_OF: chosen, CONFORMANCE_SEED: seed }: Environment,
  connector: string,
): boolean {
  return seed !== undefined || chosen?.split(',').includes(connector) === true;
}

/** The share of the runs of a property test that each level tries. */
const SHARES: Readonly<Record<string, number>> = { full: 1, thorough: 0.3 };
const LEAST_SHARE = 0.1;

/**
 * Returns the number of runs of a property test: a tenth in `npm test`, three tenths in `npm run test:slow` (test/properties.slow.test.ts),
 * and all with CONFORMANCE=full.
 */
export function runs(count: number): number {
  return Math.ceil(count * (SHARES[process.env.CONFORMANCE ?? ''] ?? LEAST_SHARE));
}

/** Returns the seed of CONFORMANCE_SEED, or else the seed of the test, so that each run tries the same. */
export function seedOr(seed: number): number {
  return Number(process.env.CONFORMANCE_SEED ?? seed);
}
