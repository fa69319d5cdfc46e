import type { ObjectSpec } from '#connector';
import { followChanges } from './changes.ts';
import { callUndeclared, compareDiscovery } from './discovery.ts';
import { QUICK } from './effort.ts';
import { askForNothing, makeMistakes } from './errors.ts';
import { checkOrders } from './order.ts';
import { findQueries, walkPages } from './paging.ts';
import { checkReadme } from './readme.ts';
import { findLeaks, findStrangeHosts } from './secrets.ts';
import { assertSound, measureClaims, shareOfTellingFilters, spread } from './soundness.ts';
import type { Subject } from './subject.ts';
import { getOk, type Listing } from './target.ts';
import { meetTroubles } from './troubles.ts';
import { uploadFiles } from './uploads.ts';
import { forgeWebhooks } from './webhooks.ts';
import { writeHostileIds, writeRecords } from './writes.ts';

/** A check that every connector must pass, whatever its provider is. */
export interface Check {
  readonly name: string;
  /**
   * Looks for faults.
   * @returns each fault as a sentence
   * @throws Error if the check cannot run, which counts as a fault
   */
  readonly find: (subject: Subject) => Promise<readonly string[]>;
}

/** The checks, ordered by how easy their faults are to understand. The last ones examine what the others left behind. */
export const CHECKS: readonly Check[] = [
  {
    name: 'has enough rows to test filters',
    find: async ({ large }) => (large.length > 0 ? [] : ['No listing has as many as 15 rows.']),
  },
  { name: 'describes its objects as they are declared', find: ({ target }) => compareDiscovery(target) },
  {
    name: 'rejects undeclared operations, and names the declared ones',
    find: ({ target, listings }) => callUndeclared(target, listings),
  },
  {
    name: 'measures every declared operator: exact ones are exact, supersets miss no row',
    find: ({ target, large, effort }) => faultsOf(large, (listing) => measureClaims(target, listing, effort)),
  },
  {
    name: 'returns exactly the rows that match random filters',
    find: ({ target, large, effort }) =>
      faultsOf(large, async (listing) => {
        await assertSound(target, listing, effort);
        return [];
      }),
  },
  { name: 'gets random filters that match some rows, but not all', find: askTelling },
  { name: 'returns the same rows in pages of any size, and marks the last page', find: walkAll },
  { name: 'rejects the page token of another query', find: mistakeTokens },
  {
    name: 'sorts by the type of the field without losing rows',
    find: ({ target, large, effort: { sortedFields }, samples: { ownTextOrder = false } }) =>
      faultsOf(large, (listing) => checkOrders(target, listing, { ownTextOrder, sortedFields })),
  },
  {
    name: 'reports the faults of a query with their positions',
    find: ({ target, listings, effort }) =>
      faultsOf(spread(listings, effort.listings), (listing) => makeMistakes(target, listing)),
  },
  {
    name: 'does not find what does not exist',
    find: ({ target, listings, effort }) => askForNothing(target, spread(listings, effort.listings)),
  },
  { name: 'has a sample of every record that can be created', find: compareSamples },
  {
    name: 'stores records unchanged, and nothing of a failed request',
    find: async ({ target, effort: { listings, mostTexts }, samples: { writes = {} } }) =>
      faultsOf(spread(Object.entries(writes), listings), async ([name, sample]) => [
        ...(await uploadFiles(target, { name, sample })),
        ...(await writeRecords(target, { name, sample, mostTexts })),
        ...(await writeHostileIds(target, { name, sample, mostTexts })),
      ]),
  },
  { name: 'reports each failure of the provider with the right error', find: meetTroubles },
  { name: 'reports every change that it declares, and each one once', find: followChanges },
  { name: 'rejects webhooks that its provider has not signed', find: forgeWebhooks },
  { name: 'calls no host that is not its own', find: async (subject) => findStrangeHosts(subject) },
  { name: 'leaves no secret in logs, errors and URLs', find: async (subject) => findLeaks(subject) },
  { name: 'has a README that explains every setting', find: checkReadme },
];

async function faultsOf<Item>(
  items: readonly Item[],
  find: (item: Item) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const item of items) faults.push(...(await find(item)));
  return faults;
}

const LEAST_SHARE = 0.15;

/**
 * Minimum and maximum number of filters for the check that filters match some rows, but not all. Fewer filters would pass or fail by
 * chance. They are not sent to a provider, so they cost almost nothing.
 */
const LEAST_TELLING = 60;
const MOST_TELLING = 150;

async function askTelling({ large, effort: { filters, seed } }: Subject): Promise<readonly string[]> {
  if (filters < QUICK.filters) return [];
  return large.flatMap((listing) => {
    const share = shareOfTellingFilters(listing, {
      filters: Math.min(Math.max(2 * filters, LEAST_TELLING), MOST_TELLING),
      seed,
    });
    return share > LEAST_SHARE ? [] : [`${listing.name}: only ${share} of the filters match some rows, but not all`];
  });
}

const KINDS = ['everything', 'pushed', 'residual', 'sparse', 'sorted'];

async function walkAll({ target, listings, large, effort }: Subject): Promise<readonly string[]> {
  const kinds = new Set<string>();
  // The larger listings come first, because they have queries of every kind.
  const chosen = [...new Set([...large, ...listings])].slice(0, effort.pagedListings);
  const faults = await faultsOf(chosen, async (listing) => {
    const queries = await findQueries(target, listing, effort);
    for (const { kind } of queries) kinds.add(kind);
    // Not all at once: a small server would answer the last of many calls too late.
    return faultsOf(queries, (query) => walkPages(target, listing, query, effort));
  });
  // Not every listing has queries of every kind, and a small sample may miss them.
  const expected = KINDS.filter((kind) => kind !== 'pushed' || large.some(claimsExact));
  const missing = effort.everyKind ? expected.filter((kind) => !kinds.has(kind)) : [];
  return [...faults, ...missing.map((kind) => `No query was found that is ${kind}.`)];
}

/** Returns whether the connector declares an operator exact, so that a filter can be pushed as a whole. */
function claimsExact({ object: { fields } }: Listing): boolean {
  return Object.values(fields).some(({ filter = {} }) => Object.values(filter).includes('exact'));
}

async function mistakeTokens({ target, large }: Subject): Promise<readonly string[]> {
  return faultsOf(large, async (listing: Listing) => {
    const { headers } = await getOk(target, listing.path, { query: { pageSize: 5 } });
    const nextPage = headers.get('elements-next-page-token') ?? undefined;
    const [field = ''] = Object.keys(listing.object.fields);
    const query = { pageSize: 5, nextPage, where: `\`${field}\` IS NOT NULL` };
    const { status, body } = await target.call(listing.path, { query });
    const isRefused = status === 400 && body.code === 'REQUEST_INVALID';
    return isRefused ? [] : [`${listing.name}: the service returned ${status} ${JSON.stringify(body).slice(0, 300)}`];
  });
}

function isCreatable(object: ObjectSpec | undefined): boolean {
  return object?.create !== undefined || object?.upload?.create !== undefined;
}

async function compareSamples({ target, samples: { writes = {} } }: Subject): Promise<readonly string[]> {
  const creatable = Object.keys(target.objects).filter((name) => isCreatable(target.objects[name]));
  return [
    ...creatable.filter((name) => writes[name] === undefined).map((name) => `'${name}' has no sample`),
    ...Object.keys(writes)
      .filter((name) => !creatable.includes(name))
      .map((name) => `'${name}' has a sample, but cannot be created`),
  ];
}
