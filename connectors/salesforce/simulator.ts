import type { Config, Simulator, SimulatorOptions } from '#connector';
import {
  type Call,
  changesOf,
  createBody,
  createMovableClock,
  createRouter,
  empty,
  Fault,
  foldCases,
  html,
  json,
  type RouteHandler,
  type Routes,
  readBearer,
  type SimulatedResponse,
  simulate,
  typed,
} from '#connector/simulator';
import { createIngestJobs, MOST_BYTES } from './simulator/bulk/ingest-jobs.ts';
import { createJobOffice, versionOf } from './simulator/bulk/jobs.ts';
import { createQueryJobs } from './simulator/bulk/query-jobs.ts';
import { createLogin } from './simulator/login.ts';
import { createOrganization, getObject, type Organization } from './simulator/organization.ts';
import { createOutboundMessages } from './simulator/outbound.ts';
import { createQueryEngine, type QueryEngine, showRecord } from './simulator/query.ts';
import { describe, OBJECTS, summarize } from './simulator/schema.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN } from './simulator/login.ts';
export { writeMessage } from './simulator/outbound.ts';

/** Configuration of an instance on this simulator after its log-in. */
export const DEMO_CONFIGURATION: Config = { 'api.version': '62.0', 'instance.url': 'https://acme.my.salesforce.com' };

export interface SalesforceSimulatorOptions extends SimulatorOptions {
  /**
   * The rule for comparing texts. Case never counts. Salesforce does not document accents and blanks at the ends, so tests try both.
   * Default `ignoring case`.
   */
  readonly text?: 'ignoring case' | 'ignoring accents and blanks';
}

const FOLDS: Readonly<Record<NonNullable<SalesforceSimulatorOptions['text']>, (text: string) => string>> = {
  'ignoring case': foldCases,
  'ignoring accents and blanks': (text) => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').trim(),
};

/** Creates a simulator of Salesforce in memory: its log-in, its REST API, and SOQL, which an independent parser parses. */
export function createSimulator(options: SalesforceSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const outbound = createOutboundMessages(options.send);
  const organization = createOrganization(clock, outbound.notify);
  const queries = createQueryEngine(organization, FOLDS[options.text ?? 'ignoring case']);
  const office = createJobOffice(clock);
  const login = createLogin(options.memory, clock);
  let calls = 0;
  return simulate(
    {
      clock,
      print,
      limits: { urlCharacters: 16_384, bytes: MOST_BYTES },
      // Calls are counted, but never rejected.
      budget: { take: () => ({ 'sforce-limit-info': `api-usage=${++calls}/15000` }) },
      authenticate: (call) => assertSession(call, login.accepts),
      open: {
        'GET /services/oauth2/authorize': login.authorize,
        'POST /services/oauth2/token': login.token,
        'POST /services/oauth2/revoke': login.revoke,
      },
      routes: {
        ...createRoutes(organization, queries),
        ...createQueryJobs(office, queries),
        ...createIngestJobs(office, organization),
      },
      commands: {
        ...login.commands,
        ...outbound.commands,
        ...organization.readings.commands,
        ...office.commands,
        ...changesOf(organization.collections),
      },
    },
    options,
  );
}

/** Asserts that the session is valid. A session is valid at its own instance only. */
function assertSession({ headers, host = '.my.salesforce.com' }: Call, accepts: (token: string) => boolean): void {
  const token = readBearer(headers.authorization, ['Bearer', 'OAuth']) ?? '';
  if (host.endsWith('.my.salesforce.com') && accepts(token)) return;
  throw new Fault(401, 'INVALID_SESSION_ID', 'Session expired or invalid');
}

/** Prints an error in Salesforce's form: `[{ errorCode, message, fields }]`. */
function print({ status, code, message, fields, headers }: Fault): SimulatedResponse {
  if (status === 414) return html('<h1>Bad Message 414</h1><pre>reason: URI Too Long</pre>', status);
  return json([{ message, errorCode: code, ...(fields.length > 0 && { fields }) }], status, headers);
}

const ROOT = '/services/data/{version}';

function createRoutes(organization: Organization, queries: QueryEngine): Routes {
  const query: RouteHandler = (call) => {
    const soql = call.query.get('q');
    if (soql === null) throw new Fault(400, 'MALFORMED_QUERY', 'A query has to be specified');
    return json(queries.query(soql, { ...pageOf(call), includeDeleted: call.path.includes('/queryAll') }));
  };
  const queryMore: RouteHandler = (call) => json(queries.queryMore(call.params.locator ?? '', pageOf(call)));
  const routes: Routes = {
    [`GET ${ROOT}/sobjects`]: (call) =>
      json({ sobjects: Object.values(OBJECTS).map((object) => summarize(object, prefixOf(call))) }),
    [`GET ${ROOT}/sobjects/{name}/describe`]: (call) =>
      json(describe(getObject(call.params.name ?? ''), prefixOf(call))),
    [`GET ${ROOT}/query`]: query,
    [`GET ${ROOT}/queryAll`]: query,
    [`GET ${ROOT}/query/{locator}`]: queryMore,
    [`GET ${ROOT}/queryAll/{locator}`]: queryMore,
    [`POST ${ROOT}/composite`]: (call) => runComposite(call, router.dispatch),
    [`POST ${ROOT}/sobjects/{name}`]: ({ params: { name = '' }, body }) =>
      json({ id: organization.create(name, body.object()), success: true, errors: [] }, 201),
    [`GET ${ROOT}/sobjects/{name}/{id}`]: (call) => {
      const { name = '', id = '' } = call.params;
      const wanted = call.query.get('fields')?.split(',');
      const fields = Object.values(getObject(name).fields).filter((field) => wanted?.includes(field.name) ?? true);
      return json(showRecord(name, organization.get(name, id), { fields, prefix: prefixOf(call) }));
    },
    [`PATCH ${ROOT}/sobjects/{name}/{id}`]: ({ params: { name = '', id = '' }, body }) => {
      organization.update(name, id, body.object());
      return empty();
    },
    [`DELETE ${ROOT}/sobjects/{name}/{id}`]: ({ params: { name = '', id = '' } }) => {
      organization.remove(name, id);
      return empty();
    },
    [`GET ${ROOT}/sobjects/{name}/{id}/{field}`]: ({ params: { name = '', id = '', field = '' } }) =>
      typed('application/octet-stream', organization.getBytes(name, id, field)),
  };
  const router = createRouter(routes);
  return routes;
}

/** Returns the path of the API, such as `/services/data/v62.0`. */
function prefixOf(call: Call): string {
  return `/services/data/v${versionOf(call)}`;
}

const MAX_BATCH_SIZE = 2000;
const MIN_BATCH_SIZE = 200;

function pageOf(call: Call) {
  const header = String(call.headers['sforce-query-options'] ?? '');
  const size = Number(/batchSize=(\d+)/i.exec(header)?.[1] ?? MAX_BATCH_SIZE);
  const batchSize = Math.min(MAX_BATCH_SIZE, Math.max(MIN_BATCH_SIZE, size));
  return { batchSize, prefix: prefixOf(call), isStuck: call.isStuck };
}

/** Responds to a composite request. Each part has a response, even if it failed. */
async function runComposite(call: Call, dispatch: RouteHandler): Promise<SimulatedResponse> {
  const { compositeRequest } = call.body.object();
  const parts: readonly unknown[] = Array.isArray(compositeRequest) ? compositeRequest : [];
  return json({ compositeResponse: await Promise.all(parts.map((part) => runPart(call, Object(part), dispatch))) });
}

async function runPart(call: Call, part: Readonly<Record<string, unknown>>, dispatch: RouteHandler) {
  const { pathname, searchParams } = new URL(String(part.url), 'http://simulated');
  const request = {
    ...call,
    method: String(part.method),
    path: pathname,
    query: searchParams,
    headers: Object(part.httpHeaders),
    body: createBody(Buffer.from(JSON.stringify(part.body ?? {}))),
  };
  const { status = 200, body = 'null' } = await settled(request, dispatch);
  return { body: JSON.parse(String(body)), httpHeaders: {}, httpStatusCode: status, referenceId: part.referenceId };
}

async function settled(request: Call, dispatch: RouteHandler): Promise<SimulatedResponse> {
  try {
    return await dispatch(request);
  } catch (error) {
    if (error instanceof Fault) return print(error);
    throw error;
  }
}
