import * as oauth from 'oauth4webapi';
import { parseJson } from './numbers/exact-json.ts';
import { isWithinShape, type JsonShape } from './numbers/json-shape.ts';
import { hasMorePairs } from './pairs.ts';
import type { Redactor } from './redaction.ts';

/**
 * The parts of OAuth 2.0 that every token endpoint needs, of a provider or of a receiver of events: how a client authenticates, and how a response
 * is read. The callers send the request and decide what a failure means.
 */

/** The client of a token request (RFC 6749, section 2). */
interface TokenClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/**
 * Returns the header of HTTP Basic with both parts form-encoded (RFC 6749, 2.3.1). The library also encodes characters that need no
 * encoding, such as hyphens, and a provider that decodes nothing would not know the client.
 */
export function basicAuthorization({ clientId, clientSecret }: TokenClient): string {
  return `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`;
}

/** Encodes a text as in a form (`application/x-www-form-urlencoded`). */
export function formEncode(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}

/** A response of a token endpoint that cannot be read. Its message continues "The token response of …". */
export class TokenResponseFault extends Error {
  override readonly name = 'TokenResponseFault';
}

/** The members of a response. */
export type TokenMembers = Readonly<Record<string, unknown>>;

const MOST_MEMBERS: JsonShape = { depth: 100, members: 10_000, ownMembers: 1_000 };

/** Returns the text of a response body without a byte order mark and white space around it. */
export function tokenTextOf(body: Buffer): string {
  return body
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim();
}

/**
 * Reads the members of a response, which some servers send as a form. Undefined for a text that is neither a JSON object nor a form.
 * @throws TokenResponseFault for more members than any grant has
 */
export function readTokenMembers(text: string): TokenMembers | undefined {
  return readJsonObject(text) ?? readForm(text);
}

function readJsonObject(text: string): TokenMembers | undefined {
  if (!text.startsWith('{')) return undefined;
  assertFewMembers(text);
  try {
    return Object(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Asserts that a text has few members, before it is parsed. A grant has a dozen.
 * @throws TokenResponseFault
 */
function assertFewMembers(text: string): void {
  if (isWithinShape(Buffer.from(text), MOST_MEMBERS)) return;
  const { members, ownMembers, depth } = MOST_MEMBERS;
  throw new TokenResponseFault(
    `has more than ${ownMembers} members, ${members} with those inside others, or more than ${depth} levels.`,
  );
}

// The names of RFC 6749, 5: a page or a sentence has none of them in front of a `=`.
const FORM = /^(?:[\w.-]+=[^&\s]*&)*(?:access_token|error)=[^\s]*$/;

/** Reads a form, as some providers respond, with the content type of a form, a text or a page. */
function readForm(text: string): TokenMembers | undefined {
  const isForm = !hasMorePairs(text) && FORM.test(text);
  return isForm ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

/** Returns the tokens of a response. One that is no grant may still contain some. */
export function tokensIn(members: TokenMembers = {}): readonly string[] {
  const tokens = ['access_token', 'refresh_token', 'id_token'].map((name) => members[name]);
  return tokens.filter((token) => typeof token === 'string');
}

/** The errors of RFC 6749, 4.1.2.1 and 5.2, and of RFC 8628, 3.5. */
const STANDARD_ERRORS: ReadonlySet<string> = new Set([
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'server_error',
  'temporarily_unavailable',
  'slow_down',
]);

/**
 * Returns the error that a response names. Some servers write the member into every response, and leave it empty. Standard errors are not
 * redacted, because they decide, even if a secret has the same text.
 */
export function readOAuthError(members: TokenMembers | undefined, { redact }: Pick<Redactor, 'redact'>) {
  const error = members?.error;
  if (typeof error !== 'string' || error === '') return undefined;
  return STANDARD_ERRORS.has(error) ? error : redact(error);
}

/** Returns an error as messages may show it. RFC 6749, 5.2 allows printable ASCII; a code is a word. */
export function showOAuthError(oauthError: string): string {
  return /^[\w.:-]{1,64}$/.test(oauthError) ? oauthError : 'an error';
}

/** A checked grant (RFC 6749, section 5.1). */
export interface StandardGrant {
  readonly accessToken: string;
  /** Absent: the one that was used stays valid (RFC 6749, section 6). */
  readonly refreshToken?: string;
  /** Lifetime of the access token in seconds, counted from the response. Absent: until it is rejected. */
  readonly expiresInSeconds?: number;
}

/**
 * Checks the members of a response by the library (RFC 6749, 5.1).
 * @throws TokenResponseFault
 */
export async function readGrant(
  members: TokenMembers,
  { tokenUrl, clientId }: Pick<TokenClient, 'clientId'> & { readonly tokenUrl: URL },
): Promise<StandardGrant> {
  const server = { issuer: tokenUrl.origin, token_endpoint: tokenUrl.href };
  try {
    const {
      access_token: accessToken,
      refresh_token: refreshToken,
      expires_in: expiresInSeconds,
    } = await oauth.processGenericTokenEndpointResponse(server, { client_id: clientId }, toStandardResponse(members));
    return {
      accessToken,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(expiresInSeconds !== undefined && { expiresInSeconds }),
    };
  } catch (cause) {
    throw new TokenResponseFault('is not one of OAuth 2.0.', { cause });
  }
}

/**
 * Returns the response in the form of RFC 6749, 5.1, for the library: numbers that are text, empty members and a missing `token_type` are
 * corrected. Unused members are left out, such as an id_token, which is not checked here.
 */
function toStandardResponse({ access_token, token_type, expires_in, refresh_token }: TokenMembers): Response {
  const seconds = typeof expires_in === 'string' ? Number(expires_in) : expires_in;
  const body = {
    access_token,
    token_type: token_type ?? 'bearer',
    // 0 and less, or a word: it says nothing, so the token is good until it is refused.
    ...(typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds) && { expires_in: seconds }),
    ...(refresh_token !== '' && refresh_token !== null && { refresh_token }),
  };
  return new Response(JSON.stringify(body), { status: 200, headers: { 'content-type': 'application/json' } });
}
