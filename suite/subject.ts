import type { Config, Connector } from '#connector';
import { type Effort, readEffort } from './effort.ts';
import type { CreateSimulator } from './served.ts';
import { spread } from './soundness.ts';
import { findListings, type Listing, startTarget, type Target } from './target.ts';
import type { WriteSample } from './writes.ts';

/** Returns a configuration with OAuth and an access token of the simulator's first client, so that no log-in is needed. */
export function loggedIn(accessToken: string, clients: Readonly<Record<string, { readonly secret?: string }>>): Config {
  const [[clientId, { secret }] = ['', {}]] = Object.entries(clients);
  return {
    'oauth.user.token': accessToken,
    'oauth.api.key': clientId,
    'oauth.api.secret': secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  };
}

/** Data for the suite that it cannot find out by itself. */
export interface Samples {
  /** The configuration of an instance on the simulator. With OAuth, `oauth.user.token` is an access token that does not expire. */
  readonly configuration: Config;
  /** A sample for each object whose records can be created. */
  readonly writes?: Readonly<Record<string, WriteSample>>;
  /** Whether the provider sorts text in an order that the metadata does not define. */
  readonly ownTextOrder?: boolean;
  /** The folder of the connector, with its README. */
  readonly folder?: string;
}

/** A connector under test, and the data of its tests. */
export interface Subject {
  readonly target: Target;
  readonly samples: Samples;
  readonly effort: Effort;
  readonly listings: readonly Listing[];
  /** Listings with enough rows to distinguish filters, as many as the effort includes. */
  readonly large: readonly Listing[];
  /** Starts the provider again if it is a simulator. */
  readonly createSimulator: CreateSimulator | undefined;
}

/** The options of a test of a connector. */
export interface SubjectOptions {
  readonly connector: Connector;
  readonly createSimulator?: CreateSimulator | undefined;
  readonly samples: Samples;
  readonly effort?: Effort;
}

/** Minimum number of rows of a large listing. With fewer rows, most filters match all or none. */
const ENOUGH_ROWS = 15;

/** Starts a service with the connector, and reads its listings. */
export async function startSubject({
  connector,
  createSimulator,
  samples,
  effort = readEffort(process.env, connector.key),
}: SubjectOptions): Promise<Subject> {
  const { configuration } = samples;
  const target = await startTarget({ connector, createSimulator, configuration });
  try {
    const listings = await findListings(target);
    const enough = listings.filter(({ rows }) => rows.length >= ENOUGH_ROWS);
    const large = spread(enough, effort.listings);
    return { target, samples, effort: spreadEffort(effort, large), listings, large, createSimulator };
  } catch (error) {
    await target.stop();
    throw error;
  }
}

const FEWEST_LITERALS = 2;

/** Reduces the effort per listing and per operator where there are many. */
function spreadEffort(effort: Effort, large: readonly Listing[]): Effort {
  const claims = large.flatMap(({ object: { fields } }) =>
    Object.values(fields).flatMap(({ filter = {} }) => Object.keys(filter)),
  );
  const share = (each: number, inAll: number, count: number) => Math.ceil(Math.min(each, inAll / Math.max(count, 1)));
  const literals = share(effort.literalsPerClaim, effort.literalsInAll, claims.length);
  return {
    ...effort,
    filters: share(effort.filters, effort.filtersInAll, large.length),
    sortedFields: share(effort.sortedFields, effort.sortedFieldsInAll, large.length),
    literalsPerClaim: Math.max(literals, Math.min(effort.literalsPerClaim, FEWEST_LITERALS)),
  };
}
