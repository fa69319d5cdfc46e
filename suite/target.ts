import { setTimeout as sleep } from 'node:timers/promises';
import { createProviderClient } from '../src/connector/client/index.ts';
import type { AccessTokens } from '../src/connector/client/ports.ts';
import type { Config, Connector, ObjectSpec, Objects } from '../src/connector/contract.ts';
import { loadConnectors, OWN_CONNECTORS } from '../src/connector/registry.ts';
import { createEgress } from '../src/egress/index.ts';
import { type ApiAnswer, type ApiCall, startTestApp } from '../test/support/app.ts';
import { discoverAll } from '../test/support/discover-all.ts';

/** A normalised record, as the API answers it. */
export type Row = Readonly<Record<string, unknown>>;

/** A connector under test: an instance of it on a whole running service. */
export interface Target {
  readonly connector: Connector;
  /** What the connector declares for this instance, asked of it without the service. */
  readonly objects: Objects;
  /** A call on the instance. */
  readonly call: (path: string, call?: ApiCall) => Promise<ApiAnswer>;
  readonly stop: () => Promise<void>;
}

export interface TargetOptions {
  readonly element: string;
  readonly configuration: Config;
  /** A folder of connectors outside the repository. */
  readonly connectorsPath?: string;
}

/** Starts a service with an instance of the element. */
export async function startTarget({ element, configuration, connectorsPath }: TargetOptions): Promise<Target> {
  const service = await startTestApp(connectorsPath === undefined ? {} : { CONNECTORS_PATH: connectorsPath });
  try {
    const { token } = await service.createInstance(element, configuration);
    const folders = [OWN_CONNECTORS, ...(connectorsPath === undefined ? [] : [connectorsPath])];
    const connector = (await loadConnectors(folders)).find(({ key }) => key === element);
    if (connector === undefined) throw new Error(`There is no connector '${element}'.`);
    const objects = await declare(connector, configuration, service.app.simulatorsUrl);
    return {
      connector,
      objects,
      call: (path, call = {}) => service.call(path, { token, ...call }),
      stop: service.stop,
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function declare(connector: Connector, config: Config, simulatorsUrl: string | undefined): Promise<Objects> {
  if (typeof connector.objects !== 'function') return connector.objects;
  const egress = createEgress({ allow: ['127.0.0.0/8'], simulatorsUrl });
  const client = createProviderClient({
    egress,
    now: Date.now,
    random: Math.random,
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    ...(simulatorsUrl !== undefined && { simulatorsUrl }),
  });
  try {
    const call = { connector, config, signal: new AbortController().signal, tokens: tokensIn(config) };
    return await client.execute({ run: (context) => discoverAll(connector.objects, context) }, undefined, call);
  } finally {
    await egress.close();
  }
}

/** An instance with OAuth is made with an access token that lasts. */
function tokensIn(config: Config): AccessTokens | undefined {
  const accessToken = config['oauth.user.token'];
  if (typeof accessToken !== 'string') return undefined;
  return { current: async () => accessToken, replace: async () => accessToken };
}

/** Something that can be listed, with all its rows. */
export interface Listing {
  /** `employees`, `employees/…/files`. */
  readonly name: string;
  readonly path: string;
  readonly object: ObjectSpec;
  /** Present when the rows have one. */
  readonly idField: string | undefined;
  readonly rows: readonly Row[];
}

/** Every object and child that can be listed without a filter; a child below the parent that has most rows of the first few. */
export async function findListings(target: Target): Promise<readonly Listing[]> {
  const listings: Listing[] = [];
  for (const [name, object] of Object.entries(target.objects)) {
    if (object.list === undefined || (object.requiredFilters ?? []).length > 0) continue;
    const listing = await readListing(target, { name, path: `/${name}`, object });
    listings.push(listing, ...(await findChildren(target, listing)));
  }
  return listings;
}

const PARENTS_TRIED = 6;

async function findChildren(target: Target, parent: Listing): Promise<readonly Listing[]> {
  const parentIds = parent.rows.slice(0, PARENTS_TRIED).map((row) => idOf(parent, row));
  const children = Object.entries(parent.object.children ?? {}).filter(([, child]) => child.list !== undefined);
  return Promise.all(
    children.map(async ([name, object]) => {
      const candidates = await Promise.all(
        parentIds.map((id) =>
          tryListing(target, {
            name: `${parent.name}/…/${name}`,
            path: `${parent.path}/${encodeURIComponent(id)}/${name}`,
            object,
          }),
        ),
      );
      const found = candidates.flatMap((candidate) => candidate ?? []).sort((a, b) => b.rows.length - a.rows.length)[0];
      if (found === undefined) throw new Error(`None of the first records of '${parent.name}' lists '${name}'.`);
      return found;
    }),
  );
}

/** Some records have no list below them, which their provider may call not found. */
async function tryListing(target: Target, place: Pick<Listing, 'name' | 'path' | 'object'>) {
  const { status } = await target.call(place.path, { query: { pageSize: 1 } });
  return status === 404 ? undefined : readListing(target, place);
}

async function readListing(target: Target, place: Pick<Listing, 'name' | 'path' | 'object'>): Promise<Listing> {
  const idField = place.object.idField ?? 'id';
  const rows = await listAll(target, place.path, { pageSize: 5000, ...allFields(place.object) });
  return { ...place, idField: Object.hasOwn(place.object.fields, idField) ? idField : undefined, rows };
}

/** Some fields are answered only when they are named. */
function allFields({ fields }: ObjectSpec): { readonly fields?: string } {
  const isWhole = Object.values(fields).every(({ onDemand }) => onDemand !== true);
  return isWhole ? {} : { fields: Object.keys(fields).join(',') };
}

/** What identifies a row; the whole of it where it has no id. */
export function idOf({ idField }: Pick<Listing, 'idField'>, row: Row): string {
  return idField === undefined ? JSON.stringify(row) : String(row[idField]);
}

export function idsOf(listing: Pick<Listing, 'idField'>, rows: readonly Row[]): readonly string[] {
  return rows.map((row) => idOf(listing, row));
}

/** An answer that must be a success. @throws Error with what the service said instead */
export async function getOk(target: Target, path: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const answer = await target.call(path, call);
  if (answer.status === 200) return answer;
  const query = JSON.stringify(call.query ?? {});
  throw new Error(`${call.method ?? 'GET'} ${path} ${query} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** All rows of a query by its page tokens. */
export async function listAll(
  target: Target,
  path: string,
  query: NonNullable<ApiCall['query']>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let nextPage: string | undefined; ; ) {
    const answer = await getOk(target, path, { query: { ...query, nextPage } });
    rows.push(...answer.body);
    nextPage = answer.headers.get('elements-next-page-token') ?? undefined;
    if (nextPage === undefined) return rows;
  }
}

/** The `fields` that make the answers short: the id where there is one. */
export function idOnly({ idField }: Listing): { readonly fields?: string } {
  return idField === undefined ? {} : { fields: idField };
}
