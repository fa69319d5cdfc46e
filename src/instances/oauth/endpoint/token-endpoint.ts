import * as oauth from 'oauth4webapi';
import manifest from '../../../../package.json' with { type: 'json' };
import { type TellingPorts, told } from '../../../connector/client/telling.ts';
import type { SimulatorRoute } from '../../../connector/client/url.ts';
import type { Config } from '../../../connector/contract.ts';
import { type Egress, EgressError, type EgressReason } from '../../../egress/index.ts';
import { isAppError } from '../../../errors.ts';
import { createRedactor } from '../../../redaction.ts';
import { OAUTH_KEYS } from '../fields.ts';
import {
  type OAuthConnector,
  type TokenEndpoint,
  TokenError,
  type TokenFailureKind,
  type TokenGrant,
} from '../grant.ts';
import { simulatorOf, tokenUrlOf } from './addresses.ts';
import { judgeTokenAnswer, readTokenAnswer, type TokenAnswer, tokensOf, toStandardResponse } from './token-answer.ts';
import { readValues, ValueFault } from './values.ts';

export interface TokenEndpointPorts extends TellingPorts {
  readonly egress: Pick<Egress, 'request'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Where the simulators run; without it a request with `simulator: true` is refused. */
  readonly simulatorsUrl?: string | undefined;
}

/** Shorter than a refresh has its instance for itself, so that nobody else asks before it ends. */
const TIMEOUT_MS = 20_000;
const MAX_BYTES = 1024 * 1024;

interface Errand {
  readonly connector: OAuthConnector;
  readonly config: Config;
  readonly signal: AbortSignal;
  readonly grantType: 'authorization_code' | 'refresh_token' | 'client_credentials';
  readonly parameters: Readonly<Record<string, string | undefined>>;
  /** Of the parameters. */
  readonly secrets: readonly string[];
}

export function createTokenEndpoint(ports: TokenEndpointPorts): TokenEndpoint {
  return {
    exchangeCode: ({ code, callbackUrl, verifier, ...request }) =>
      ask(ports, {
        ...request,
        grantType: 'authorization_code',
        parameters: { code, redirect_uri: callbackUrl, code_verifier: verifier },
        secrets: verifier === undefined ? [code] : [code, verifier],
      }),
    refresh: ({ refreshToken, ...request }) =>
      ask(ports, {
        ...request,
        grantType: 'refresh_token',
        parameters: { refresh_token: refreshToken },
        secrets: [refreshToken],
      }),
    requestClientCredentials: (request) =>
      ask(ports, {
        ...request,
        grantType: 'client_credentials',
        parameters: { scope: scopeOf(request.connector, request.config) },
        secrets: [],
      }),
  };
}

/** What is asked for; undefined: whatever the provider gives. */
export function scopeOf({ auth }: OAuthConnector, config: Config): string | undefined {
  const given = config[OAUTH_KEYS.scope];
  if (typeof given === 'string' && given !== '') return given;
  return auth.scopes?.join(auth.scopeSeparator ?? ' ');
}

async function ask(ports: TokenEndpointPorts, errand: Errand): Promise<TokenGrant> {
  const { connector, config } = errand;
  const clientSecret = clientSecretOf(config);
  const { url, simulator } = routeOf(ports, connector, config);
  const received: { answer?: TokenAnswer } = {};
  const server: oauth.AuthorizationServer = { issuer: url.origin, token_endpoint: url.href };
  const client: oauth.Client = { client_id: String(config[OAUTH_KEYS.clientId] ?? '') };
  try {
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      authenticateClient(connector, clientSecret),
      errand.grantType,
      parametersOf(errand),
      {
        signal: errand.signal,
        // Whether TLS can be done without is for the egress to say.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: async (_url, { headers, body }) => {
          const answer = await send(ports, errand, { url, simulator, headers, parameters: toParameters(body) });
          received.answer = answer;
          const redactor = createRedactor([...secretsOf(errand), ...tokensOf(answer)]);
          const failure = judgeTokenAnswer(answer, { name: connector.name, redactor, nowMs: ports.now() });
          if (failure !== undefined) throw failure;
          return toStandardResponse(answer);
        },
      },
    );
    const granted = await oauth.processGenericTokenEndpointResponse(server, client, response);
    const said = received.answer?.members ?? {};
    return toGrant(granted, readTokenValues(errand, { said, origin: url, simulator }));
  } catch (error) {
    throw toTokenError(connector, error);
  }
}

function clientSecretOf(config: Config): string {
  return String(config[OAUTH_KEYS.clientSecret] ?? '');
}

/** As they are sent: for HTTP Basic the client secret is encoded as a form first. */
function secretsOf({ config, secrets }: Errand): readonly string[] {
  const clientSecret = clientSecretOf(config);
  return [clientSecret, formEncode(clientSecret), ...secrets];
}

function routeOf(ports: TokenEndpointPorts, connector: OAuthConnector, config: Config) {
  try {
    return { url: tokenUrlOf(connector, config), simulator: simulatorOf(ports.simulatorsUrl, connector, config) };
  } catch (error) {
    if (!isAppError(error)) throw error;
    throw new TokenError('unreachable', error.message, { cause: error });
  }
}

function parametersOf({ connector, parameters }: Errand): Record<string, string> {
  const given = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  return { ...connector.auth.tokenParameters, ...Object.fromEntries(given) };
}

function authenticateClient({ auth }: OAuthConnector, clientSecret: string): oauth.ClientAuth {
  return auth.clientAuthentication === 'body' ? oauth.ClientSecretPost(clientSecret) : basicOf(clientSecret);
}

/**
 * RFC 6749, 2.3.1 wants both parts form-encoded. The library also encodes what a form need not, such as hyphens, and a
 * provider that decodes nothing would not know the client.
 */
function basicOf(clientSecret: string): oauth.ClientAuth {
  return (_server, { client_id: clientId }, _body, headers) => {
    headers.set('authorization', `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`);
  };
}

function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

function toParameters(body: unknown): URLSearchParams {
  if (body instanceof URLSearchParams) return body;
  throw new TypeError('A token request has a form as its body.');
}

interface Outgoing {
  readonly url: URL;
  readonly simulator: SimulatorRoute | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly parameters: URLSearchParams;
}

async function send(ports: TokenEndpointPorts, errand: Errand, outgoing: Outgoing): Promise<TokenAnswer> {
  const { connector, signal } = errand;
  const { url, simulator, parameters } = outgoing;
  const isJson = connector.auth.tokenBody === 'json';
  const toSimulator = simulator !== undefined;
  const redactor = createRedactor(secretsOf(errand));
  const response = ports.egress.request({
    url: simulator?.enter(url) ?? url,
    method: 'POST',
    headers: {
      ...outgoing.headers,
      'user-agent': `Causeway/${manifest.version}`,
      ...(isJson && { 'content-type': 'application/json' }),
      ...(simulator !== undefined && { forwarded: simulator.forwarded(url) }),
    },
    body: isJson ? JSON.stringify(Object.fromEntries(parameters)) : parameters.toString(),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    toSimulator,
    signal,
  });
  return readTokenAnswer(
    await told(ports, { element: connector.key, method: 'POST', url, toSimulator, redactor }, response),
  );
}

function readTokenValues(
  { connector, config, grantType }: Errand,
  answered: {
    readonly said: Readonly<Record<string, unknown>>;
    readonly origin: URL;
    readonly simulator: SimulatorRoute | undefined;
  },
): TokenGrant['values'] {
  return readValues({ connector, config, from: 'token', complete: grantType !== 'refresh_token', ...answered });
}

function toGrant(granted: oauth.TokenEndpointResponse, values: TokenGrant['values']): TokenGrant {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresInSeconds } = granted;
  return {
    accessToken,
    ...(refreshToken !== undefined && { refreshToken }),
    ...(expiresInSeconds !== undefined && { expiresInSeconds }),
    values,
  };
}

/** Where no answer came: whether the request may have been granted all the same. */
const KIND_OF_REASON: Readonly<Record<EgressReason, TokenFailureKind>> = {
  refused: 'unreachable',
  invalid: 'unreachable',
  connect: 'unreachable',
  tls: 'unreachable',
  reset: 'unknown',
  timeout: 'unknown',
  'too-large': 'unknown',
  'no-room': 'unknown',
  protocol: 'unknown',
  aborted: 'unknown',
};

function toTokenError({ name }: OAuthConnector, error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  if (error instanceof EgressError) {
    const message = `The token endpoint of ${name} gave no answer: ${error.message}`;
    return new TokenError(KIND_OF_REASON[error.reason], message, { cause: error });
  }
  if (error instanceof ValueFault) {
    return new TokenError('unknown', `The token answer of ${name} cannot be used: ${error.message}.`, { cause: error });
  }
  return new TokenError('unknown', `The token answer of ${name} is not one of OAuth 2.0.`, { cause: error });
}
