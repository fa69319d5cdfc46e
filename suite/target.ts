import type { Config, Connector, ObjectSpec, Objects } from '#connector';
import {
  type ApiAnswer,
  type ApiCall,
  type AppOverrides,
  clientOf,
  startTestApp,
  type TestApp,
} from '../test/support/app.ts';
import { type CreateSimulator, type ServedSimulator, serveSimulator } from './served.ts';
import { connect } from './testing.ts';

/** A normalised record, as the API returns it. */
export type Row = Readonly<Record<string, unknown>>;

/** A connector under test: an instance of it on a whole service. */
export interface Target {
  readonly connector: Connector;
  readonly configuration: Config;
  /** The objects that the connector declares for this instance, found without the service. */
  readonly objects: Objects;
  /** Sends a request for the instance to the API. */
  readonly call: (path: string, call?: ApiCall) => Promise<ApiAnswer>;
  /** Every line that the service logged, at the level debug. */
  readonly logged: readonly string[];
  /** Every error response, as text. */
  readonly problems: readonly string[];
  /** The provider if it is a simulator. */
  readonly provider: ServedSimulator | undefined;
  readonly databaseUrl: string;
  readonly stop: () => Promise<void>;
}

/** The options of a service for tests. */
export interface TargetOptions {
  readonly connector: Connector;
  readonly configuration: Config;
  /** Without a simulator, the configuration leads to a server on this machine. */
  readonly createSimulator?: CreateSimulator | undefined;
  /** Options of the service. */
  readonly overrides?: Pick<AppOverrides, 'bulkOptions'>;
}

/** Maximum number of provider calls that a request may allow. Some providers return a list in many parts. */
export const LARGEST_BUDGET = 200;

/** Returns the header that limits the provider calls of a request. */
export function budgetOf(providerCalls: number): Readonly<Record<string, string>> {
  return { 'Elements-Max-Provider-Calls': String(providerCalls) };
}

/** Starts a service that has only this connector, with an instance of it. */
export async function startTarget(options: TargetOptions): Promise<Target> {
  const { connector, configuration, createSimulator, overrides } = options;
  const provider = createSimulator && (await serveSimulator(connector.key, createSimulator));
  const simulatorsUrl = provider?.simulatorsUrl;
  const service = await startTestApp(
    { SIMULATORS_PORT: 'off' },
    { connectors: [connector], ...(simulatorsUrl !== undefined && { simulatorsUrl }), ...overrides },
  );
  const stop = async () => {
    await service.stop();
    await provider?.stop();
  };
  try {
    const settings = { ...configuration, ...(provider !== undefined && { simulator: true }) };
    const { logged, databaseUrl } = service;
    const ask: TestApp['call'] = async (path, input) => withReason(await service.call(path, input), logged);
    const { token } = await clientOf(ask).createInstance(connector.key, settings);
    const options = simulatorsUrl === undefined ? {} : { simulatorsUrl };
    const { objects } = await connect(connector, { config: configuration, ...options }).discover();
    const problems: string[] = [];
    const call: Target['call'] = async (path, input = {}) => {
      const response = await ask(path, {
        token,
        ...input,
        headers: { ...budgetOf(LARGEST_BUDGET), ...input.headers },
      });
      if (response.status >= 400) problems.push(JSON.stringify(response.body));
      return response;
    };
    return { connector, configuration, objects, call, logged, problems, provider, databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Adds the reason from the log to an error, for the author of the connector: what a response lacked, or the error that the connector threw.
 * Callers don't see all of it.
 */
function withReason(response: ApiAnswer, logged: readonly string[]): ApiAnswer {
  const { code, requestId } = Object(response.body);
  if (code !== 'PROVIDER_PROTOCOL' && code !== 'INTERNAL') return response;
  const reasons = logged
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line))
    .map(({ reason, err }) => reason ?? err?.message);
  const reason = reasons.find((text) => text !== undefined);
  return reason === undefined ? response : { ...response, body: { ...response.body, reason } };
}

/** A list with all its rows. */
export interface Listing {
  /** The name, such as `employees` or `employees/…/files`. */
  readonly name: string;
  readonly path: string;
  readonly object: ObjectSpec;
  /** The field that identifies a row, if there is one. */
  readonly idField: string | undefined;
  readonly rows: readonly Row[];
}

/**
 * Reads every list of objects and children that needs no filter. For a child, it chooses the parent with the most rows among the first
 * ones.
 */
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

/** Reads a list. Undefined for a record without a list below it, for which the provider may report 404. */
async function tryListing(target: Target, listing: Pick<Listing, 'name' | 'path' | 'object'>) {
  const { status } = await target.call(listing.path, { query: { pageSize: 1 } });
  return status === 404 ? undefined : readListing(target, listing);
}

async function readListing(target: Target, listing: Pick<Listing, 'name' | 'path' | 'object'>): Promise<Listing> {
  const idField = listing.object.idField ?? 'id';
  const object = asListed(listing.object);
  const rows = await listAll(target, listing.path, { pageSize: 5000, ...allFields(object) });
  return { ...listing, object, idField: Object.hasOwn(object.fields, idField) ? idField : undefined, rows };
}

/** Returns an object with only the fields that the rows of a list have. */
export function asListed(object: ObjectSpec): ObjectSpec {
  const fields = Object.entries(object.fields).filter(([, { unlisted }]) => unlisted !== true);
  return { ...object, fields: Object.fromEntries(fields) };
}

/** Returns the parameter that requests all fields. Some fields are returned only when the request names them. */
function allFields({ fields }: ObjectSpec): { readonly fields?: string } {
  const isWhole = Object.values(fields).every(({ onDemand }) => onDemand !== true);
  return isWhole ? {} : { fields: Object.keys(fields).join(',') };
}

/** Returns the id of a row, or the whole row as text if it has no id. */
export function idOf({ idField }: Pick<Listing, 'idField'>, row: Row): string {
  return idField === undefined ? JSON.stringify(row) : String(row[idField]);
}

export function idsOf(listing: Pick<Listing, 'idField'>, rows: readonly Row[]): readonly string[] {
  return rows.map((row) => idOf(listing, row));
}

/**
 * Sends a request that must succeed.
 * @throws Error with the response of the service if it does not
 */
export async function getOk(target: Pick<Target, 'call'>, path: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const response = await target.call(path, call);
  if (response.status === 200) return response;
  const query = JSON.stringify(call.query ?? {});
  throw new Error(
    `${call.method ?? 'GET'} ${path} ${query} returned ${response.status}: ${JSON.stringify(response.body)}`,
  );
}

/** Reads all rows of a query by page tokens. */
export async function listAll(
  target: Pick<Target, 'call'>,
  path: string,
  query: NonNullable<ApiCall['query']>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let nextPage: string | undefined; ; ) {
    const response = await getOk(target, path, { query: { ...query, nextPage } });
    rows.push(...response.body);
    nextPage = response.headers.get('elements-next-page-token') ?? undefined;
    if (nextPage === undefined) return rows;
  }
}

/** Returns a parameter `fields` that keeps responses short: the id, if there is one. */
export function idOnly({ idField }: Listing): { readonly fields?: string } {
  return idField === undefined ? {} : { fields: idField };
}
