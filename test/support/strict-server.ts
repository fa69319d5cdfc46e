import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenGrant } from '../../src/instances/oauth/token-endpoint.ts';
import { TokenError } from '../../src/instances/oauth/token-failure.ts';
import { stopServer } from '../../suite/stop-server.ts';
import type { StrictTokens } from './strict-tokens.ts';

export interface StrictServer {
  /** Without a slash at the end. Below it: /token, and the API /api/me. */
  readonly url: string;
  readonly host: string;
  readonly close: () => Promise<void>;
}

export interface StrictServerOptions {
  readonly tokens: StrictTokens;
  /** Told of every refresh token before it is judged, with the id of the client that presented it. */
  readonly onPresented?: (refreshToken: string, clientId: string) => void;
  /** Told when a grant is about to be sent. */
  readonly onGranted?: () => void;
  /** Before a token request is answered. */
  readonly delayMs?: number;
}

/** Serves a strict book of tokens on loopback. */
export async function startStrictServer(options: StrictServerOptions): Promise<StrictServer> {
  const server = createServer((request, response) => {
    serve(options, request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, close: () => stopServer(server) };
}

async function serve(options: StrictServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/token') return serveToken(options, request, response);
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  if (options.tokens.accepts(token)) return sendJson(response, 200, { name: 'Ada' });
  sendJson(response, 401, { message: 'Token not valid' });
}

async function serveToken(
  { tokens, onPresented, onGranted, delayMs = 0 }: StrictServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parameters = new URLSearchParams(await text(request));
  const refreshToken = parameters.get('refresh_token') ?? '';
  onPresented?.(refreshToken, clientOf(request));
  const answer = judge(tokens, refreshToken);
  if (delayMs > 0) await sleep(delayMs);
  if (answer instanceof TokenError) {
    return sendJson(response, 400, { error: answer.oauthError, error_description: answer.providerMessage });
  }
  onGranted?.();
  const { accessToken, refreshToken: next, expiresInSeconds } = answer;
  const members = { access_token: accessToken, refresh_token: next, expires_in: expiresInSeconds };
  sendJson(response, 200, { token_type: 'Bearer', ...members });
}

function judge(tokens: StrictTokens, refreshToken: string): TokenGrant | TokenError {
  try {
    return tokens.refresh(refreshToken);
  } catch (error) {
    if (error instanceof TokenError) return error;
    throw error;
  }
}

/** RFC 6749, 2.3.1. */
function clientOf({ headers }: IncomingMessage): string {
  const credentials = Buffer.from(headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString();
  return decodeURIComponent(credentials.split(':')[0] ?? '');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
