import type { Config, Connector } from '#connector';
import { type Effort, readEffort } from './effort.ts';
import type { CreateSimulator } from './served.ts';
import { spread } from './soundness.ts';
import { findListings, type Listing, startTarget, type Target } from './target.ts';
import type { WriteSample } from './writes.ts';

/** Settings of an instance whose login is by OAuth, with an access token of the first client that its simulator knows, and without a login. */
export function loggedIn(accessToken: string, clients: Readonly<Record<string, { readonly secret?: string }>>): Config {
  const [[clientId, { secret }] = ['', {}]] = Object.entries(clients);
  return {
    'oauth.user.token': accessToken,
    'oauth.api.key': clientId,
    'oauth.api.secret': secret,
    'oauth.callback.url': 'https://app.example.com/callback',
  };
}

/** What the suite cannot know by itself. */
export interface Samples {
  /** Of an instance on the simulator. With OAuth: `oauth.user.token` is an access token that lasts. */
  readonly configuration: Config;
  /** A record for each object that can be created. */
  readonly writes?: Readonly<Record<string, WriteSample>>;
  /** The provider sorts text in an order of its own, which nothing tells. */
  readonly ownTextOrder?: boolean;
  /** The folder of the connector, for its README. */
  readonly folder?: string;
}

/** A connector, and all that is asked of it. */
export interface Subject {
  readonly target: Target;
  readonly samples: Samples;
  readonly effort: Effort;
  readonly listings: readonly Listing[];
  /** Of those with enough rows to tell one filter from another, as many as the effort is for. */
  readonly large: readonly Listing[];
  /** To start the provider once more, where it is a simulator. */
  readonly createSimulator: CreateSimulator | undefined;
}

export interface SubjectOptions {
  readonly connector: Connector;
  readonly createSimulator?: CreateSimulator | undefined;
  readonly samples: Samples;
  readonly effort?: Effort;
}

/** Fewer rows tell hardly one filter from another. */
const ENOUGH_ROWS = 15;

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

/** For many listings, and for many claims, as much less of each. */
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
