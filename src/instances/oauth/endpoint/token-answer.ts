import { readProviderMessage, readWaitMs } from '../../../connector/client/response.ts';
import type { EgressResponse } from '../../../egress/index.ts';
import { parseJson } from '../../../numbers/exact-json.ts';
import type { Redactor } from '../../../redaction.ts';
import { TokenError, type TokenFailureKind } from '../grant.ts';

/** What a token endpoint answered, whatever form it came in. */
export interface TokenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined when it is neither a JSON object nor a form. */
  readonly members: Readonly<Record<string, unknown>> | undefined;
  readonly text: string;
  /** Its words may be shown to the caller. */
  readonly quotable: boolean;
}

export function readTokenAnswer({ status, headers, body, quotable }: EgressResponse): TokenAnswer {
  const text = body
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trim();
  return { status, headers, members: readJsonObject(text) ?? readForm(text), text, quotable };
}

function readJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return Object(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// The names of RFC 6749, 5: a page or a sentence has none of them in front of a `=`.
const FORM = /^(?:[\w.-]+=[^&\s]*&)*(?:access_token|error)=[^\s]*$/;

/** As some providers answer, with the content type of a form, a text or a page. */
function readForm(text: string): Readonly<Record<string, unknown>> | undefined {
  return FORM.test(text) ? Object.fromEntries(new URLSearchParams(text)) : undefined;
}

/** An answer that is no grant may hold some all the same. */
export function tokensOf({ members = {} }: TokenAnswer): readonly string[] {
  const tokens = ['access_token', 'refresh_token', 'id_token'].map((name) => members[name]);
  return tokens.filter((token) => typeof token === 'string');
}

/**
 * The answer as RFC 6749, 5.1 has it, for the library to judge: numbers in text, members of no value and a missing
 * `token_type` are put right; what is not used (an id_token, which nobody checks here) is left out.
 */
export function toStandardResponse({ members = {} }: TokenAnswer): Response {
  const { access_token, token_type, expires_in, refresh_token } = members;
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

/** RFC 6749, 4.1.2.1 and 5.2; RFC 8628, 3.5. */
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

/** Of a client or a user: what RFC 6749 calls an error, and yet says nothing about this request. */
const PASSING_ERRORS: ReadonlySet<string> = new Set(['temporarily_unavailable', 'slow_down']);

/** The failure that an answer is; undefined for one that may be a grant. `redactor` knows what was sent. */
export function judgeTokenAnswer(
  answer: TokenAnswer,
  { name, redactor, nowMs }: { readonly name: string; readonly redactor: Redactor; readonly nowMs: number },
): TokenError | undefined {
  const { status, headers, members, quotable } = answer;
  const oauthError = readOAuthError(members, redactor);
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess && !saysError(members)) return undefined;
  const said =
    oauthError === undefined || !quotable ? `answered ${status}` : `answered ${status} with ${showCode(oauthError)}`;
  const providerMessage = quotable ? readProviderMessage(redactor, members ?? answer.text) : undefined;
  return new TokenError(judge(answer, oauthError), `${name} ${said} at its token endpoint.`, {
    oauthError,
    ...(providerMessage !== undefined && { providerMessage }),
    retryAfterMs: readWaitMs(headers, nowMs),
  });
}

function judge({ status, members }: TokenAnswer, oauthError: string | undefined): TokenFailureKind {
  if (status === 429 || PASSING_ERRORS.has(oauthError ?? '')) return 'unreachable';
  if (status >= 500 || oauthError === 'server_error') return 'unknown';
  if (oauthError !== undefined || status === 400 || status === 401) return 'refused';
  // A 403 or 404 without the words of OAuth comes from something in front of the token endpoint.
  return status >= 300 ? 'unreachable' : members === undefined ? 'unknown' : 'refused';
}

/** Some providers write the member into every answer, and leave it empty. */
function saysError(members: TokenAnswer['members']): boolean {
  return Boolean(members?.error);
}

/** What decides is no secret, though somebody may have chosen it for one. */
function readOAuthError(members: TokenAnswer['members'], { redact }: Redactor): string | undefined {
  const error = members?.error;
  if (typeof error !== 'string' || error === '') return undefined;
  return STANDARD_ERRORS.has(error) ? error : redact(error);
}

/** RFC 6749, 5.2 allows printable ASCII; a code is a word. */
function showCode(oauthError: string): string {
  return /^[\w.:-]{1,64}$/.test(oauthError) ? oauthError : 'an error';
}
