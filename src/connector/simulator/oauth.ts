import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { SimulatorMemory } from '../contract.ts';
import { readBasic } from './authenticate.ts';
import { empty, escapeMarkup, html, json, redirect, type SimulatedResponse, typed } from './response.ts';
import { type Call, decode, type RouteHandler, type Routes } from './route.ts';
import { createSessions, type Session, type Token } from './sessions.ts';

/** An application that may request access. */
export interface RegisteredClient {
  /** The secret. A client without one is public and must use PKCE. */
  readonly secret?: string;
  /** The rotation of its refresh tokens. Default: none. */
  readonly rotates?: TokenRotation;
}

/** A rule by which a used refresh token is replaced. */
export interface TokenRotation {
  /** The age in milliseconds from which a token is replaced. Default 0. */
  readonly afterMs?: number;
  /** Milliseconds for which the old token stays valid. Default 0: it works once. */
  readonly graceMs?: number;
}

/** The OAuth behavior of a simulated provider. */
export interface OAuthOptions {
  /** The provider's name on the page where people choose. */
  readonly title: string;
  readonly clients: Readonly<Record<string, RegisteredClient>>;
  readonly clock: Clock;
  /** Keeps tokens over a restart. Codes are lost. */
  readonly memory?: SimulatorMemory | undefined;
  /** Whether an authorization without a code challenge is refused. Default `optional`. Only S256 (RFC 7636) is supported. */
  readonly pkce?: 'required' | 'optional';
  /** The method of a challenge without one. Default: `plain`, as in RFC 7636, which is refused. */
  readonly unsaidMethod?: 'S256';
  /** The authentication that the token endpoint accepts of a client. Default `any`. */
  readonly clientAuthentication?: 'basic' | 'body' | 'any';
  /** Lifetimes in milliseconds. Default: ten minutes for codes, unlimited for tokens. */
  readonly lifetimes?: { readonly codeMs?: number; readonly accessMs?: number; readonly refreshMs?: number };
  readonly defaultScope?: string;
  /** Returns whether a scope includes a refresh token. Default: always. */
  readonly isLasting?: (scope: string) => boolean;
  /** Prefixes of codes and tokens. */
  readonly prefixes?: { readonly code?: string; readonly access?: string; readonly refresh?: string };
  /** Access tokens that are valid from the start, for tests of anything else than the log-in. */
  readonly accessTokens?: readonly string[];
  /** Whether an exchange must name the redirect URI of the authorization. Default `required`. */
  readonly tokenRedirect?: 'required' | 'unsaid';
  /** Whether an authorization must name its response type, of which there is one only. Default `required`. */
  readonly responseType?: 'required' | 'unsaid';
  /** Parameters of the redirect beside code and state, such as the chosen company. */
  readonly callback?: Readonly<Record<string, string>> | ((call: Call) => Readonly<Record<string, string>>);
  /** Returns the provider's own token response. Default: the members of RFC 6749. */
  readonly tokenResponse?: (standard: SimulatedTokenResponse, call: Call) => Readonly<Record<string, unknown>>;
  /** Returns whether a token response is a form instead of JSON. Default: never. */
  readonly isFormResponse?: (call: Call, form: URLSearchParams) => boolean;
  /** The provider's words for an error, where they differ from RFC 6749. */
  readonly errors?: Readonly<
    Partial<Record<OAuthError, readonly [error: string, description: string, status?: number]>>
  >;
}

/** The token response of RFC 6749, section 5.1. It has `expires_in` only where access tokens expire. */
export interface SimulatedTokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in?: number;
  /** The refresh token, only when it is new. */
  readonly refresh_token?: string;
  readonly scope: string;
}

/** An error of an OAuth endpoint. */
export type OAuthError = keyof typeof ERRORS;

const ERRORS = {
  badAuthorization: ['invalid_request', 'client_id, redirect_uri or response_type is not valid'],
  missingChallenge: ['invalid_request', 'code_challenge with code_challenge_method=S256 is required'],
  denied: ['access_denied', 'the user did not allow it'],
  unknownClient: ['invalid_client', 'client is unknown', 401],
  wrongSecret: ['invalid_client', 'client credentials are wrong', 401],
  unknownCode: ['invalid_grant', 'code is unknown, used or too old'],
  otherClient: ['invalid_grant', 'code was issued to another client'],
  otherRedirect: ['invalid_grant', 'redirect_uri is not that of the authorization'],
  wrongVerifier: ['invalid_grant', 'code_verifier is wrong'],
  unknownRefreshToken: ['invalid_grant', 'refresh token is unknown, used or too old'],
  unsupportedGrant: ['unsupported_grant_type', 'grant_type is not supported'],
  unknownToken: ['unsupported_token_type', 'token is unknown'],
} as const satisfies Record<string, readonly [string, string, number?]>;

/** The handlers of the three endpoints, and functions for the rest of the provider. */
export interface OAuthServer {
  /** The authorization endpoint. `auto=approve` and `auto=deny` choose at once; without it, a page asks. */
  readonly authorize: RouteHandler;
  /** The token endpoint. */
  readonly token: RouteHandler;
  /** The revocation endpoint (RFC 7009). */
  readonly revoke: RouteHandler;
  /** Returns whether an access token is valid. */
  readonly accepts: (accessToken: string) => boolean;
  /**
   * The command `POST /simulate/end-sessions` ends all access tokens, as after a change of the account's session settings. Refresh tokens
   * stay valid.
   */
  readonly commands: Routes;
  /** Ends all access tokens. Refresh tokens stay valid. */
  readonly endSessions: () => void;
}

interface Authorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly challenge: string | null;
  readonly untilMs: number;
}

/** Creates a server for the authorization code grant with refresh tokens: RFC 6749, 7636 (S256) and 7009. */
export function createOAuthServer(options: OAuthOptions): OAuthServer {
  const { clients, clock, lifetimes = {}, prefixes = {} } = options;
  const codes = new Map<string, Authorization>();
  const sessions = createSessions(options.memory, clock);

  function findClient(clientId: string): RegisteredClient | undefined {
    return Object.hasOwn(clients, clientId) ? clients[clientId] : undefined;
  }

  function authorize(call: Call): SimulatedResponse {
    const { query } = call;
    const [clientId, redirectUri] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? ''];
    const challenge = query.get('code_challenge');
    const client = findClient(clientId);
    const responseType = query.get('response_type') ?? (options.responseType === 'unsaid' ? 'code' : '');
    if (client === undefined || !URL.canParse(redirectUri) || responseType !== 'code') {
      return refusalPage('badAuthorization');
    }
    const method = query.get('code_challenge_method') ?? options.unsaidMethod;
    const needsChallenge = options.pkce === 'required' || client.secret === undefined;
    if (challenge === null ? needsChallenge : method !== 'S256') return refusalPage('missingChallenge');
    const choice = query.get('auto');
    if (choice !== 'approve' && choice !== 'deny') return html(approvalPage(options.title, query));
    if (choice === 'deny') {
      const [error, description] = errorOf('denied');
      return sendBack(query, { error, error_description: description });
    }
    const code = (prefixes.code ?? '') + makeToken();
    const scope = query.get('scope') ?? options.defaultScope ?? '';
    const untilMs = clock.now() + (lifetimes.codeMs ?? 600_000);
    codes.set(code, { clientId, redirectUri, scope, challenge, untilMs });
    const { callback } = options;
    return sendBack(query, { code, ...(typeof callback === 'function' ? callback(call) : callback) });
  }

  function token(call: Call): SimulatedResponse {
    const form = call.body.form();
    const { clientId, secret } = readClient(form, call);
    const client = findClient(clientId);
    if (client === undefined) return refuse('unknownClient');
    if (client.secret !== secret) return refuse('wrongSecret');
    const type = form.get('grant_type');
    if (type === 'authorization_code') return exchange(clientId, client, form, call);
    return type === 'refresh_token' ? refresh(clientId, client, form, call) : refuse('unsupportedGrant');
  }

  function readClient(form: URLSearchParams, { headers }: Call) {
    const { clientAuthentication = 'any' } = options;
    const credentials = clientAuthentication === 'body' ? undefined : readBasic(headers.authorization);
    // Both are form-encoded. Source: RFC 6749, section 2.3.1.
    const [clientId = '', secret] = credentials
      ? [credentials.username, credentials.password].map((part) => decode(part.replaceAll('+', ' ')))
      : [form.get('client_id') ?? '', form.get('client_secret') ?? undefined];
    const isWrongWay = clientAuthentication === 'basic' && credentials === undefined && secret !== undefined;
    return isWrongWay ? { clientId: '', secret: undefined } : { clientId, secret };
  }

  function exchange(clientId: string, client: RegisteredClient, form: URLSearchParams, call: Call): SimulatedResponse {
    const code = form.get('code') ?? '';
    const authorization = codes.get(code);
    codes.delete(code);
    if (authorization === undefined || authorization.untilMs <= clock.now()) return refuse('unknownCode');
    if (authorization.clientId !== clientId) return refuse('otherClient');
    const isRedirect = options.tokenRedirect === 'unsaid' || authorization.redirectUri === form.get('redirect_uri');
    if (!isRedirect) return refuse('otherRedirect');
    if (!verifies(authorization.challenge, form.get('code_verifier'))) return refuse('wrongVerifier');
    const { scope } = authorization;
    const isLasting = options.isLasting?.(scope) ?? true;
    const session = { clientId, scope, accessTokens: [], refreshTokens: [], refreshedMs: clock.now() };
    const opened = renew(session, client, isLasting);
    sessions.open(opened);
    return respondWithTokens(opened, isLasting, { form, call });
  }

  function refresh(clientId: string, client: RegisteredClient, form: URLSearchParams, call: Call): SimulatedResponse {
    const session = sessions.findByRefresh(form.get('refresh_token') ?? '');
    if (session?.clientId !== clientId) return refuse('unknownRefreshToken');
    const isNew = client.rotates !== undefined && clock.now() - session.refreshedMs >= (client.rotates.afterMs ?? 0);
    const renewed = renew(session, client, isNew);
    sessions.replace(session, renewed);
    return respondWithTokens(renewed, isNew, { form, call });
  }

  /** Issues an access token, and a refresh token beside those in their grace period. */
  function renew(session: Session, { rotates = {} }: RegisteredClient, isNew: boolean): Session {
    const { accessMs, refreshMs } = lifetimes;
    const accessTokens = [...session.accessTokens, issue(prefixes.access, accessMs)];
    if (!isNew) return { ...session, accessTokens };
    const graceUntilMs = clock.now() + (rotates.graceMs ?? 0);
    const old = session.refreshTokens.map(({ text, untilMs = graceUntilMs }) => ({
      text,
      untilMs: Math.min(untilMs, graceUntilMs),
    }));
    const refreshTokens = [...old, issue(prefixes.refresh, refreshMs)];
    return { ...session, accessTokens, refreshTokens, refreshedMs: clock.now() };
  }

  function issue(prefix = '', lifetimeMs?: number): Token {
    const text = prefix + makeToken();
    return lifetimeMs === undefined ? { text } : { text, untilMs: clock.now() + lifetimeMs };
  }

  function respondWithTokens(
    { accessTokens, refreshTokens, scope }: Session,
    isNew: boolean,
    { form, call }: { readonly form: URLSearchParams; readonly call: Call },
  ): SimulatedResponse {
    const { accessMs } = lifetimes;
    const refreshToken = refreshTokens.at(-1)?.text;
    const standard: SimulatedTokenResponse = {
      access_token: accessTokens.at(-1)?.text ?? '',
      token_type: 'Bearer',
      ...(accessMs !== undefined && { expires_in: Math.floor(accessMs / 1000) }),
      ...(isNew && refreshToken !== undefined && { refresh_token: refreshToken }),
      scope,
    };
    const members = options.tokenResponse?.(standard, call) ?? { ...standard };
    if (options.isFormResponse?.(call, form) !== true) return json(members, 200, { 'cache-control': 'no-store' });
    const pairs = Object.entries(members).map(([name, value]): [string, string] => [name, String(value)]);
    return typed('application/x-www-form-urlencoded;charset=UTF-8', new URLSearchParams(pairs).toString());
  }

  /** Revokes an access token alone, or a refresh token with all its access tokens. */
  function revoke({ body, query }: Call): SimulatedResponse {
    const text = body.form().get('token') ?? query.get('token') ?? '';
    const session = sessions.findByRefresh(text) ?? sessions.findByAccess(text);
    if (session === undefined) return refuse('unknownToken');
    const accessTokens = session.accessTokens.filter((each) => each.text !== text);
    const isAccess = accessTokens.length < session.accessTokens.length;
    sessions.replace(session, isAccess ? { ...session, accessTokens } : undefined);
    return { status: 200 };
  }

  function errorOf(error: OAuthError): readonly [error: string, description: string, status?: number] {
    return options.errors?.[error] ?? ERRORS[error];
  }

  function refuse(reason: OAuthError): SimulatedResponse {
    const [error, description, status = 400] = errorOf(reason);
    return json({ error, error_description: description }, status);
  }

  /** Creates the page that shows an error to people, because the redirect URI is not trusted. */
  function refusalPage(reason: OAuthError): SimulatedResponse {
    const [error, description] = errorOf(reason);
    const text = `error=${error}&error_description=${description}`;
    return html(`<h1>${escapeMarkup(options.title)}</h1><p>${escapeMarkup(text)}</p>`, 400);
  }

  return {
    authorize,
    token,
    revoke,
    accepts: (text) => options.accessTokens?.includes(text) === true || sessions.findByAccess(text) !== undefined,
    endSessions: sessions.endAll,
    commands: {
      'POST /simulate/end-sessions': () => {
        sessions.endAll();
        return empty();
      },
    },
  };
}

function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

function sendBack(query: URLSearchParams, members: Readonly<Record<string, string>>): SimulatedResponse {
  const back = new URL(query.get('redirect_uri') ?? '');
  const state = query.get('state');
  for (const [name, value] of Object.entries(members)) back.searchParams.set(name, value);
  if (state !== null) back.searchParams.set('state', state);
  return redirect(back.href);
}

/** An authorization without a challenge accepts no verifier, because somebody may have removed the challenge (RFC 9700, 2.1.1). */
function verifies(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null) return verifier === null;
  return verifier !== null && createHash('sha256').update(verifier).digest('base64url') === challenge;
}

function approvalPage(title: string, query: URLSearchParams): string {
  const choose = (auto: string) => escapeMarkup(`?${new URLSearchParams([...query, ['auto', auto]])}`);
  return `<!doctype html><html lang="en"><title>${escapeMarkup(title)}</title>
<h1>Allow access?</h1>
<p>${escapeMarkup(query.get('client_id') ?? '')} asks for: ${escapeMarkup(query.get('scope') ?? 'everything')}</p>
<p><a href="${choose('approve')}">Allow</a> <a href="${choose('deny')}">Deny</a></p></html>`;
}
