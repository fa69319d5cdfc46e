import type { Config, Connector, ObjectSpec, Objects } from '#connector';
import {
  type ApiAnswer,
  type ApiCall,
  type AppOverrides,
  createInstanceBy,
  startTestApp,
  type TestApp,
} from '../test/support/app.ts';
import { type CreateSimulator, type ServedSimulator, serveSimulator } from './served.ts';
import { connect } from './testing.ts';

/** A normalised record, as the API answers it. */
export type Row = Readonly<Record<string, unknown>>;

/** A connector under test: an instance of it on a whole running service. */
export interface Target {
  readonly connector: Connector;
  readonly configuration: Config;
  /** What the connector declares for this instance, asked of it without the service. */
  readonly objects: Objects;
  /** A call on the instance. */
  readonly call: (path: string, call?: ApiCall) => Promise<ApiAnswer>;
  /** Every line that the service logged, on the level debug. */
  readonly logged: readonly string[];
  /** Every answer that was an error, as text. */
  readonly problems: readonly string[];
  /** The provider, where it is a simulator. */
  readonly provider: ServedSimulator | undefined;
  /** Of the service. */
  readonly databaseUrl: string;
  readonly stop: () => Promise<void>;
}

export interface TargetOptions {
  readonly connector: Connector;
  readonly configuration: Config;
  /** Without it the configuration leads to a service on this machine. */
  readonly createSimulator?: CreateSimulator | undefined;
  /** Of the service. */
  readonly overrides?: Pick<AppOverrides, 'bulkOptions'>;
}

/** The most calls of the provider that a caller may ask for. Some providers give a list in many parts. */
export const LARGEST_BUDGET = 200;

export function budgetOf(providerCalls: number): Readonly<Record<string, string>> {
  return { 'Elements-Max-Provider-Calls': String(providerCalls) };
}

/** Starts a service that has this connector only, with an instance of it. */
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
    const { token } = await createInstanceBy(ask)(connector.key, settings);
    const options = simulatorsUrl === undefined ? {} : { simulatorsUrl };
    const { objects } = await connect(connector, { config: configuration, ...options }).discover();
    const problems: string[] = [];
    const call: Target['call'] = async (path, input = {}) => {
      const answer = await ask(path, {
        token,
        ...input,
        headers: { ...budgetOf(LARGEST_BUDGET), ...input.headers },
      });
      if (answer.status >= 400) problems.push(JSON.stringify(answer.body));
      return answer;
    };
    return { connector, configuration, objects, call, logged, problems, provider, databaseUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** With the reason from the log, for the author: what the connector made of an answer, or the error that it threw. Callers don't see all of it. */
function withReason(answer: ApiAnswer, logged: readonly string[]): ApiAnswer {
  const { code, requestId } = Object(answer.body);
  if (code !== 'PROVIDER_PROTOCOL' && code !== 'INTERNAL') return answer;
  const reasons = logged
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line))
    .map(({ reason, err }) => reason ?? err?.message);
  const reason = reasons.find((text) => text !== undefined);
  return reason === undefined ? answer : { ...answer, body: { ...answer.body, reason } };
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
  const object = asListed(place.object);
  const rows = await listAll(target, place.path, { pageSize: 5000, ...allFields(object) });
  return { ...place, object, idField: Object.hasOwn(object.fields, idField) ? idField : undefined, rows };
}

/** With the fields that rows of a list have. */
export function asListed(object: ObjectSpec): ObjectSpec {
  const fields = Object.entries(object.fields).filter(([, { unlisted }]) => unlisted !== true);
  return { ...object, fields: Object.fromEntries(fields) };
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
export async function getOk(target: Pick<Target, 'call'>, path: string, call: ApiCall = {}): Promise<ApiAnswer> {
  const answer = await target.call(path, call);
  if (answer.status === 200) return answer;
  const query = JSON.stringify(call.query ?? {});
  throw new Error(`${call.method ?? 'GET'} ${path} ${query} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

/** All rows of a query by its page tokens. */
export async function listAll(
  target: Pick<Target, 'call'>,
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
