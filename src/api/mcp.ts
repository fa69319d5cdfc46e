import type { Request as ExpressRequest, Response as ExpressResponse, RequestHandler } from 'express';
import type { OperationId } from '../../generated/operations.ts';
import type { AccessKey } from '../accounts/access-keys/scope.ts';
import type { ByteBudget } from '../connector/client/index.ts';
import { AppError, isAppError } from '../errors.ts';
import { signalEnd } from '../http/connection.ts';
import { createCors } from '../http/cors.ts';
import { LARGE, readJsonBody } from '../http/json-body.ts';
import type { AgentRoom } from '../mcp/index.ts';
import type { IdentifyKey } from './authorization.ts';
import { assertKeyMay } from './key-scopes.ts';

interface AgentHandlerParts {
  readonly room: AgentRoom;
  readonly identifyKey: IdentifyKey;
  readonly bodyBudget: ByteBudget;
  readonly publicUrl: () => string;
  /** Origins whose pages may send requests. */
  readonly corsOrigins: readonly string[];
}

/**
 * Creates the handler of `/mcp`, where agents call tools with an access key. It is stateless: the response to each request has everything, and
 * there is no stream to open with GET.
 */
export function createAgentHandler({ room, identifyKey, bodyBudget, ...hosts }: AgentHandlerParts): RequestHandler {
  return async (request, response) => {
    response.setHeader('Cache-Control', 'no-store');
    assertOwnHost(request, hosts);
    response.setHeader('WWW-Authenticate', 'Bearer realm="causeway"');
    const { key } = await identifyKey(request, response);
    response.removeHeader('WWW-Authenticate');
    const body = await readJsonBody(request, response, { limits: LARGE, budget: bodyBudget });
    // The calls to the API that this request leads to are recorded in the activity, each with the key; this one would be another one.
    response.locals.principal = undefined;
    const answered = await room.answer({
      url: new URL(request.originalUrl, hosts.publicUrl()).href,
      headers: textHeaders(request),
      body,
      authorization: request.headers.authorization ?? '',
      keyId: key.id,
      may: (operation) => mayUse(key, operation),
      signal: signalEnd(response),
    });
    if (response.destroyed) return;
    if (answered === undefined) response.status(202).end();
    else await send(answered, response);
  };
}

/** Headers of responses that pages can read. */
const EXPOSED = ['Elements-Request-Id', 'Retry-After', 'WWW-Authenticate'];

/** Creates the handler that comes first at `/mcp`. It allows the pages of `CORS_ORIGINS` to call tools, and answers their preflights. */
export function createAgentCors(corsOrigins: readonly string[]): RequestHandler {
  const sendPreflight = createCors(corsOrigins, EXPOSED);
  return (request, response, next) => {
    if (sendPreflight?.(request, response) !== true) next();
  };
}

function mayUse(key: AccessKey, operation: OperationId): boolean {
  try {
    assertKeyMay(key, operation);
    return true;
  } catch (error) {
    if (isAppError(error, 'FORBIDDEN')) return false;
    throw error;
  }
}

async function send(answered: Response, response: ExpressResponse): Promise<void> {
  response.status(answered.status);
  for (const [name, value] of answered.headers) response.setHeader(name, value);
  if (answered.body === null) {
    response.end();
    return;
  }
  if (answered.headers.get('content-type') === 'application/json') {
    response.end(await answered.text());
    return;
  }
  const reader = answered.body.getReader();
  response.once('close', () => void reader.cancel().catch(() => undefined));
  response.flushHeaders();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) response.write(piece.value);
  response.end();
}

function textHeaders({ headers }: ExpressRequest): Readonly<Record<string, string>> {
  const given = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id'] as const;
  return Object.fromEntries(
    given.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, String(value)]];
    }),
  );
}

type Hosts = Pick<AgentHandlerParts, 'publicUrl' | 'corsOrigins'>;

/**
 * Rejects requests of pages of other origins. A page can resolve its own name to the address of this service (DNS rebinding), so on a loopback
 * address the Host must be the service's too.
 * @throws AppError FORBIDDEN
 */
function assertOwnHost({ headers, socket }: ExpressRequest, { publicUrl, corsOrigins }: Hosts): void {
  const own = new URL(publicUrl()).hostname;
  const isLocal = isLoopback(socket.localAddress ?? '');
  const isOwn = (hostname: string | undefined) =>
    hostname !== undefined && (hostname === own || (isLocal && LOOPBACK_NAMES.has(hostname)));
  if (isLocal && !isOwn(hostnameOf(`http://${headers.host ?? ''}`)))
    throw new AppError(
      'FORBIDDEN',
      'The Host header names another service. Use the URL of the service, which PUBLIC_URL sets.',
    );
  const { origin } = headers;
  if (origin === undefined || corsOrigins.includes(origin) || isOwn(hostnameOf(origin))) return;
  throw new AppError('FORBIDDEN', 'Pages of this Origin may not call the service. CORS_ORIGINS names those that may.');
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

function isLoopback(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./.test(address);
}

function hostnameOf(url: string): string | undefined {
  return URL.parse(url)?.hostname;
}
