import { createHash, randomBytes } from 'node:crypto';
import type { SimulatorMemory } from '#connector';
import { type Answer, html, json, redirect } from './http.ts';
import { DEMO_USER_ID, ORGANIZATION_ID } from './ids.ts';
import { createSessions, type Session } from './sessions.ts';

/** Applications that may ask; the second has the refresh tokens of the account rotated. */
export const CLIENTS: Readonly<Record<string, { readonly secret: string; readonly rotates: boolean }>> = {
  'demo-client': { secret: 'demo-secret', rotates: false },
  'rotating-client': { secret: 'rotating-secret', rotates: true },
};

/** Good from the start, for those who test something else than the login. */
export const DEMO_ACCESS_TOKEN = `${ORGANIZATION_ID.slice(0, 15)}!demo-access-token`;

export interface Place {
  /** The host that was asked, or undefined for the simulator's own address. */
  readonly host: string | undefined;
  /** Of the simulator. */
  readonly baseUrl: string;
}

export interface AuthorizationServer {
  readonly authorize: (query: URLSearchParams) => Answer;
  readonly grant: (form: URLSearchParams, headers: TokenHeaders, place: Place) => Answer;
  readonly revoke: (token: string) => Answer;
  readonly isValid: (accessToken: string) => boolean;
  /** As after a change of the account's session settings: refresh tokens stay good. */
  readonly endSessions: () => Answer;
}

export interface TokenHeaders {
  readonly accept?: string | undefined;
  readonly authorization?: string | undefined;
}

interface Authorization {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly challenge: string | null;
}

/**
 * Codes are used once; an access token has no end that is told; refreshing keeps the refresh token unless the client rotates.
 * Tokens are remembered over a restart, codes are not.
 */
export function createAuthorizationServer(memory: SimulatorMemory | undefined): AuthorizationServer {
  const codes = new Map<string, Authorization>();
  const sessions = createSessions(memory);

  function authorize(query: URLSearchParams): Answer {
    const clientId = query.get('client_id') ?? '';
    const redirectUri = query.get('redirect_uri') ?? '';
    if (CLIENTS[clientId] === undefined || !URL.canParse(redirectUri) || query.get('response_type') !== 'code') {
      return html(
        '<h1>Salesforce simulator</h1><p>error=invalid_client_id&amp;error_description=client identifier invalid</p>',
        400,
      );
    }
    const choice = query.get('auto');
    if (choice !== 'approve' && choice !== 'deny') return html(approvalPage(query));
    const state = query.get('state');
    const back = new URL(redirectUri);
    if (state !== null) back.searchParams.set('state', state);
    if (choice === 'deny') {
      back.searchParams.set('error', 'access_denied');
      back.searchParams.set('error_description', 'end-user denied authorization');
      return redirect(back.href);
    }
    const code = `aPrx${randomBytes(24).toString('base64url')}==`;
    const scope = query.get('scope') ?? 'api refresh_token';
    codes.set(code, { clientId, redirectUri, scope, challenge: query.get('code_challenge') });
    back.searchParams.set('code', code);
    return redirect(back.href);
  }

  function grant(form: URLSearchParams, headers: TokenHeaders, place: Place): Answer {
    const { clientId, secret } = readClient(form, headers.authorization);
    const client = CLIENTS[clientId];
    if (client === undefined) return refuse('invalid_client_id', 'client identifier invalid');
    if (client.secret !== secret) return refuse('invalid_client', 'invalid client credentials');
    const type = form.get('grant_type');
    if (type === 'authorization_code') return exchange(form, clientId, headers, place);
    if (type === 'refresh_token') return refresh(form, clientId, headers, place);
    return refuse('unsupported_grant_type', 'grant type not supported');
  }

  function exchange(form: URLSearchParams, clientId: string, headers: TokenHeaders, place: Place): Answer {
    const code = form.get('code') ?? '';
    const authorization = codes.get(code);
    codes.delete(code);
    if (authorization === undefined) return refuse('invalid_grant', 'expired authorization code');
    if (authorization.clientId !== clientId) return refuse('invalid_grant', 'client identifier does not match');
    if (authorization.redirectUri !== form.get('redirect_uri')) {
      return refuse('redirect_uri_mismatch', 'redirect_uri must match configuration');
    }
    if (!verifies(authorization.challenge, form.get('code_verifier')))
      return refuse('invalid_grant', 'invalid code verifier');
    return start({ clientId, scope: authorization.scope, accessTokens: [] }, headers, form, place);
  }

  function start(
    grantee: Omit<Session, 'refreshToken'>,
    headers: TokenHeaders,
    form: URLSearchParams,
    place: Place,
  ): Answer {
    const isLasting = /\b(?:refresh_token|offline_access)\b/.test(grantee.scope);
    const refreshToken = isLasting ? `5Aep861${randomBytes(30).toString('base64url')}` : undefined;
    const accessToken = createAccessToken();
    sessions.open({ ...grantee, refreshToken, accessTokens: [...grantee.accessTokens, accessToken] });
    return answerTokens(accessToken, refreshToken, { scope: grantee.scope, headers, form, place });
  }

  function refresh(form: URLSearchParams, clientId: string, headers: TokenHeaders, place: Place): Answer {
    const session = sessions.find(form.get('refresh_token') ?? '');
    if (session?.clientId !== clientId) return refuse('invalid_grant', 'expired access/refresh token');
    if (CLIENTS[clientId]?.rotates === true) {
      sessions.replace(session, undefined);
      return start(session, headers, form, place);
    }
    const accessToken = createAccessToken();
    sessions.replace(session, { ...session, accessTokens: [...session.accessTokens, accessToken] });
    return answerTokens(accessToken, undefined, { scope: session.scope, headers, form, place });
  }

  /** An access token alone, or a refresh token with all access tokens it gave. */
  function revoke(token: string): Answer {
    const session = sessions.find(token) ?? sessions.findByAccess(token);
    if (session === undefined) return refuse('unsupported_token_type', 'this token is not supported');
    const left = session.accessTokens.filter((accessToken) => accessToken !== token);
    sessions.replace(
      session,
      left.length < session.accessTokens.length ? { ...session, accessTokens: left } : undefined,
    );
    return { status: 200 };
  }

  return {
    authorize,
    grant,
    revoke,
    isValid: (accessToken) => accessToken === DEMO_ACCESS_TOKEN || sessions.findByAccess(accessToken) !== undefined,
    endSessions: () => {
      sessions.endAll();
      return { status: 204 };
    },
  };
}

function createAccessToken(): string {
  return `${ORGANIZATION_ID.slice(0, 15)}!${randomBytes(40).toString('base64url')}`;
}

function readClient(form: URLSearchParams, authorization: string | undefined) {
  const encoded = /^Basic (.+)$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return { clientId: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' };
  const [clientId = '', secret = ''] = Buffer.from(encoded, 'base64')
    .toString('utf8')
    .split(':')
    .map(decodeURIComponent);
  return { clientId, secret };
}

/** S256 (RFC 7636); what began without a challenge needs no verifier. */
function verifies(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null) return true;
  return verifier !== null && createHash('sha256').update(verifier).digest('base64url') === challenge;
}

function refuse(error: string, description: string): Answer {
  return json({ error, error_description: description }, 400);
}

interface Granted {
  readonly scope: string;
  readonly headers: TokenHeaders;
  readonly form: URLSearchParams;
  readonly place: Place;
}

function answerTokens(
  accessToken: string,
  refreshToken: string | undefined,
  { scope, headers, form, place }: Granted,
): Answer {
  const login = place.host === undefined ? place.baseUrl : `https://${place.host}`;
  const issuedAt = String(Date.now());
  const members: Record<string, string> = {
    access_token: accessToken,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    signature: createHash('sha256').update(`${login}${issuedAt}`).digest('base64'),
    scope,
    instance_url: instanceUrlOf(place),
    id: `${login}/id/${ORGANIZATION_ID}/${DEMO_USER_ID}`,
    token_type: 'Bearer',
    issued_at: issuedAt,
  };
  const wantsForm =
    form.get('format') === 'urlencoded' || headers.accept?.startsWith('application/x-www-form-urlencoded') === true;
  if (!wantsForm) return json(members);
  return {
    headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
    body: new URLSearchParams(members).toString(),
  };
}

const INSTANCE_HOSTS: Readonly<Record<string, string>> = {
  'login.salesforce.com': 'acme.my.salesforce.com',
  'test.salesforce.com': 'acme--dev.sandbox.my.salesforce.com',
};

function instanceUrlOf({ host, baseUrl }: Place): string {
  return host === undefined ? baseUrl : `https://${INSTANCE_HOSTS[host] ?? host}`;
}

function approvalPage(query: URLSearchParams): string {
  const choose = (auto: string) => escapeHtml(`?${new URLSearchParams([...query, ['auto', auto]])}`);
  return `<!doctype html><html lang="en"><title>Salesforce simulator</title>
<h1>Allow access?</h1>
<p>${escapeHtml(query.get('client_id') ?? '')} asks for: ${escapeHtml(query.get('scope') ?? 'everything')}</p>
<p><a href="${choose('approve')}">Allow</a> <a href="${choose('deny')}">Deny</a></p></html>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
