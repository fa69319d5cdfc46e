import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { sleep } from '../../clock.ts';
import { hasMorePairs, MOST_PAIRS } from '../../pairs.ts';
import type { Simulator, SimulatorOptions } from '../contract.ts';
import type { Guard } from './authenticate.ts';
import { createBody, type RequestLimits, readBody } from './body.ts';
import type { RequestBudget } from './budget.ts';
import { createMovableClock, type MovableClock } from './clock.ts';
import { Fault, fault, KIT_CODES } from './fault.ts';
import type { OfficialJudge } from './official/judge.ts';
import { empty, html, json, type SimulatedResponse } from './response.ts';
import { assertHost, type Call, createRouter, type Router, type Routes } from './route.ts';
import { createTroublePlan, readTrouble, type Trouble, type TroublePlan } from './trouble.ts';

/** A simulated provider as data: mostly tables. */
export interface SimulatedProvider {
  readonly routes: Routes;
  /** Routes without authentication, such as the log-in or public descriptions. */
  readonly open?: Routes;
  readonly authenticate?: Guard;
  /** The hosts at which `routes` are served. Requests to other hosts get a 404. Default: all hosts. */
  readonly hosts?: readonly string[];
  /** Returns an error in the provider's form. */
  readonly print: (fault: Fault, request: Pick<Call, 'method' | 'path'>) => SimulatedResponse;
  /** Judges all requests and responses of routes, also of open ones, by the provider's official description. */
  readonly official?: OfficialJudge;
  readonly budget?: RequestBudget;
  readonly limits?: RequestLimits & { readonly urlCharacters?: number };
  /** Headers of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Commands below `/simulate/` for tests, beside those of the kit. */
  readonly commands?: Routes;
  /** The provider's clock, which `POST /simulate/clock` moves. */
  readonly clock?: MovableClock;
}

/**
 * Creates a simulator from its description. It turns HTTP requests into calls, responses and faults into HTTP, and makes trouble on
 * request.
 */
export function simulate(provider: SimulatedProvider, { baseUrl }: Pick<SimulatorOptions, 'baseUrl'>): Simulator {
  const plan = createTroublePlan();
  const clock = provider.clock ?? createMovableClock();
  const server: Server = {
    provider,
    baseUrl,
    clock,
    plan,
    open: createRouter(provider.open ?? {}),
    routes: createRouter(provider.routes),
    commands: createRouter({ ...createCommands(plan, clock), ...provider.commands }),
  };
  return {
    ...(provider.official && { takeContradictions: provider.official.takeContradictions }),
    handle: (request, response) => {
      serve(server, request, response).catch((error: unknown) => {
        // An error of the connection, or of the provider's own printing. Only the log can report it.
        console.error(error);
        response.destroy();
      });
    },
  };
}

interface Server {
  readonly provider: SimulatedProvider;
  readonly baseUrl: string;
  readonly clock: MovableClock;
  readonly plan: TroublePlan;
  readonly open: Router;
  readonly routes: Router;
  readonly commands: Router;
}

function createCommands(plan: TroublePlan, clock: MovableClock): Routes {
  return {
    'POST /simulate/trouble': ({ body }) => {
      plan.add(body.object());
      return empty();
    },
    'DELETE /simulate/trouble': () => {
      plan.clear();
      return empty();
    },
    'POST /simulate/clock': ({ body }) => {
      const { byMs } = body.object();
      if (typeof byMs !== 'number' || !(byMs >= 0)) throw fault(400, 'The clock is moved on with {"byMs": 3600000}.');
      clock.move(byMs);
      return json({ now: new Date(clock.now()).toISOString() });
    },
  };
}

async function serve(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { provider, clock } = server;
  const address = readAddress(request);
  const commonHeaders: Record<string, string> = { date: new Date(clock.now()).toUTCString(), ...provider.headers };
  try {
    const trouble = troubleOf(server, request, address);
    if (!isCommand(address)) Object.assign(commonHeaders, provider.budget?.take());
    const simulated = await responseOf(server, { request, address, trouble });
    send(response, { ...simulated, headers: { ...commonHeaders, ...simulated.headers } }, trouble?.kind === 'cut');
  } catch (error) {
    const simulated = judgedError(server, address, asFault(error));
    send(response, { ...simulated, headers: { ...commonHeaders, ...simulated.headers } });
  } finally {
    // An unread body would prevent the connection from being used again.
    request.resume();
  }
}

type Address = Pick<Call, 'method' | 'path' | 'search' | 'host'>;

function readAddress({ method = 'GET', url = '/', headers }: IncomingMessage): Address {
  const [, path = '/', search = ''] = /^([^?]*)(.*)$/s.exec(url) ?? [];
  const host = /(?:^|;)\s*host="?([^";,]+)/i.exec(headers.forwarded?.toString() ?? '')?.[1];
  return { method, path, search, host: host?.toLowerCase() };
}

/** Returns the trouble that the header requests, or that is planned. Commands never meet any. */
function troubleOf({ plan }: Server, { headers }: IncomingMessage, address: Address): Trouble | undefined {
  if (isCommand(address)) return undefined;
  const wanted = headers['x-simulate'] ?? plan.take(address);
  return wanted === undefined ? undefined : readTrouble(String(wanted));
}

/** The platform cannot reach the commands. */
function isCommand({ path, host }: Address): boolean {
  return host === undefined && path.startsWith('/simulate/');
}

interface SimulatedRequest {
  readonly request: IncomingMessage;
  readonly address: Address;
  readonly trouble: Trouble | undefined;
}

async function responseOf(server: Server, received: SimulatedRequest): Promise<SimulatedResponse> {
  const { request, address, trouble } = received;
  const { provider, commands } = server;
  const { urlCharacters = Number.POSITIVE_INFINITY } = provider.limits ?? {};
  if ((request.url?.length ?? 0) > urlCharacters) throw fault(414, 'The address is too long.');
  if (trouble?.kind === 'slow') await sleep(server.clock, trouble.ms);
  const instead = trouble && insteadOf(trouble);
  if (instead !== undefined) return instead;
  const call = await readCall(server, received);
  if (isCommand(address)) return commands.dispatch(call);
  provider.official?.judgeRequest(call);
  const response = await respond(server, call);
  provider.official?.judgeResponse(call, response);
  return response;
}

async function respond({ provider, open, routes }: Server, call: Call): Promise<SimulatedResponse> {
  if (open.has(call.path)) return open.dispatch(call);
  if (provider.hosts !== undefined) assertHost(provider.hosts, call);
  provider.authenticate?.(call);
  return routes.dispatch(call);
}

/** Returns the response with an error. If the description does not know its form, the response says so instead. */
function judgedError({ provider }: Server, address: Address, error: Fault): SimulatedResponse {
  const response = provider.print(error, address);
  try {
    if (!isCommand(address)) provider.official?.judgeResponse(address, response);
    return response;
  } catch (contradiction) {
    return provider.print(asFault(contradiction), address);
  }
}

const EMPTY = createBody(Buffer.alloc(0));

async function readCall({ provider, baseUrl }: Server, { request, address, trouble }: SimulatedRequest): Promise<Call> {
  const { headers } = request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return {
    ...address,
    headers,
    origin: address.host === undefined ? baseUrl : `https://${address.host}`,
    query: readQuery(address),
    body: hasBody ? await readBody(request, provider.limits) : EMPTY,
    params: {},
    isStuck: trouble?.kind === 'stuck',
  };
}

function readQuery({ search }: Address): URLSearchParams {
  if (hasMorePairs(search)) throw fault(414, `The address has more than ${MOST_PAIRS} parameters.`);
  return new URLSearchParams(search);
}

/**
 * Returns the response that trouble puts in place of the correct one.
 * @throws Fault with the requested status
 */
function insteadOf(trouble: Trouble): SimulatedResponse | undefined {
  if (trouble.kind === 'status') throw simulatedFault(trouble.status, trouble.retryAfter);
  if (trouble.kind === 'html')
    return html('<!doctype html><html><title>Simulated</title><h1>Gateway</h1></html>', trouble.status);
  return trouble.kind === 'shape' ? json([{ simulated: 'the wrong shape' }, null, 7]) : undefined;
}

function simulatedFault(status: number, retryAfter: string | undefined): Fault {
  const [first = '', ...words] = (STATUS_CODES[status] ?? 'Simulated failure').split(' ');
  const message = [first, ...words.map((word) => word.toLowerCase())].join(' ');
  const code = Object.entries(KIT_CODES).find(([known]) => Number(known) === status)?.[1] ?? 'SIMULATED';
  return new Fault(status, code, message, retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } });
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  // A fault of the simulator itself. It is logged, so that the author of a test sees it.
  console.error(error);
  return fault(500, 'The simulator failed.');
}

function send(
  response: ServerResponse,
  { status = 200, headers, body = '', stream }: SimulatedResponse,
  isCut = false,
): void {
  if (stream !== undefined) {
    response.writeHead(status, { ...headers });
    sendStream(response, stream, isCut);
    return;
  }
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, ...(status !== 204 && { 'content-length': bytes.length }) });
  if (!isCut) response.end(bytes);
  else response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
}

function sendStream(response: ServerResponse, stream: Readable, isCut: boolean): void {
  if (isCut) {
    stream.once('data', (first) => {
      stream.destroy();
      response.write(first, () => response.destroy());
    });
    return;
  }
  pipeline(stream, response, (error) => {
    // A caller that leaves before the end is no fault of the simulator.
    if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') console.error(error);
  });
}
