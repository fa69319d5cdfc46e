import {
  type Answer,
  type Call,
  createOAuthServer,
  DAY_MS,
  Fault,
  json,
  type MovableClock,
  type OAuthServer,
  type RegisteredClient,
  type Routes,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';
import { ADMINISTRATOR, TRAVELER, type User } from './users.ts';

/** Where the company lives: the base of all calls, once its token is known. */
export const GEOLOCATION = 'https://us2.api.concursolutions.com';

/** Good from the start, for those who test something else than the login: of a Web Services Admin. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
/** Of a user without that role. */
export const TRAVELER_ACCESS_TOKEN = 'demo-traveler-token';

export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

const HOUR_MS = 3_600_000;
/** Six months. */
const REFRESH_MS = 183 * DAY_MS;

const HOME = ['us2.api.concursolutions.com', 'www-us2.api.concursolutions.com'];
const DATA_CENTER = /^(?:www-)?(?:us|us2|usg|eu|eu2|emea|apj1|cn|glz|us-impl|emea-impl)\.api\.concursolutions\.com$/;
/** Here tokens of any company are given: the landing zone, and what the documents write in their examples. */
const ANYWHERE = /^(?:www-)?(?:glz|us)\./;

/** The provider's numbers of its errors, by its own descriptions. */
const CODES: Readonly<Record<string, number>> = {
  'these are not the grants you are looking for': 60,
  'client not found': 61,
  'Incorrect credentials. Please Retry': 64,
  'code is bad or expired': 103,
  'redirect_uri does not match the previous grant': 104,
  'this grant was not issued to you!': 105,
  'bad or expired refresh token': 108,
};

/** What a request for tokens must have, in any grant, and the number of what is missing. */
const REQUIRED: readonly (readonly [parameter: string, code: number])[] = [
  ['grant_type', 65],
  ['client_id', 62],
  ['client_secret', 63],
];

export interface Login extends Pick<OAuthServer, 'endSessions'> {
  readonly routes: Routes;
  /** Whose token it is. @throws Fault 401 without a token; for a bad one, and at another data center, 403 unless told otherwise */
  readonly userOf: (call: Call) => User;
}

export interface LoginOptions {
  readonly memory: SimulatorMemory | undefined;
  readonly clock: MovableClock;
  /** The status for a token that has expired or is none. */
  readonly badToken: 401 | 403;
}

export function createLogin({ memory, clock, badToken }: LoginOptions): Login {
  const server = createOAuthServer({
    title: 'SAP Concur simulator',
    clients: CLIENTS,
    clock,
    memory,
    clientAuthentication: 'body',
    lifetimes: { accessMs: HOUR_MS, refreshMs: REFRESH_MS },
    defaultScope: 'EXPRPT',
    accessTokens: [DEMO_ACCESS_TOKEN, TRAVELER_ACCESS_TOKEN],
    callback: { geolocation: GEOLOCATION },
    answer: ({ access_token, refresh_token, scope }) => ({
      expires_in: HOUR_MS / 1000,
      scope,
      token_type: 'Bearer',
      access_token,
      refresh_token,
      // A time, and no span.
      refresh_expires_in: Math.floor((clock.now() + REFRESH_MS) / 1000),
      id_token: makeIdToken(clock.now()),
      geolocation: GEOLOCATION,
    }),
    errors: {
      unknownClient: ['invalid_client', 'client not found', 401],
      wrongSecret: ['invalid_client', 'Incorrect credentials. Please Retry', 401],
      unknownCode: ['invalid_request', 'code is bad or expired'],
      otherClient: ['invalid_grant', 'this grant was not issued to you!'],
      otherRedirect: ['invalid_grant', 'redirect_uri does not match the previous grant'],
      unknownRefreshToken: ['invalid_grant', 'bad or expired refresh token'],
      unsupportedGrant: ['invalid_grant', 'these are not the grants you are looking for'],
    },
  });

  /** A refusal is told as `error_code`, and not as OAuth has it. */
  async function authorize(call: Call): Promise<Answer> {
    assertDataCenter(call);
    const answer = await server.authorize(call);
    const { location } = answer.headers ?? {};
    const back = location === undefined ? undefined : new URL(location);
    const error = back?.searchParams.get('error');
    if (back === undefined || error == null) return answer;
    back.searchParams.delete('error');
    back.searchParams.set('error_code', error);
    return { ...answer, headers: { ...answer.headers, location: back.href } };
  }

  async function token(call: Call): Promise<Answer> {
    assertDataCenter(call);
    const { body, host } = call;
    if (body.type !== 'application/x-www-form-urlencoded') return refuse(135, 'unsupported request format');
    const form = body.form();
    const missing = REQUIRED.find(([parameter]) => (form.get(parameter) ?? '') === '');
    if (missing !== undefined) return refuse(missing[1], `${missing[0]} was not supplied`);
    if (host !== undefined && !HOME.includes(host) && !ANYWHERE.test(host)) return refuse(16, 'user lives elsewhere');
    const answer = await server.token(call);
    if (answer.status === 200) return answer;
    const error: Readonly<Record<string, unknown>> = Object(JSON.parse(String(answer.body)));
    return json({ ...error, code: CODES[String(error.error_description)], geolocation: GEOLOCATION }, answer.status);
  }

  return {
    endSessions: server.endSessions,
    routes: { 'GET /oauth2/v0/authorize': authorize, 'POST /oauth2/v0/token': token },
    userOf: ({ headers, host }) => {
      if (headers.authorization === undefined) throw new Fault(401, 'UNAUTHORIZED', 'Unauthorized');
      const text = readBearer(headers.authorization, ['Bearer', 'OAuth']) ?? '';
      const isHere = host === undefined || HOME.includes(host);
      if (!isHere || !server.accepts(text)) throw new Fault(badToken, 'FORBIDDEN', BAD_TOKEN);
      return text === TRAVELER_ACCESS_TOKEN ? TRAVELER : ADMINISTRATOR;
    },
  };
}

const BAD_TOKEN = 'Forbidden. Please check your Instance URL and OAuth token.';

function assertDataCenter({ host, path }: Call): void {
  if (host === undefined || DATA_CENTER.test(host)) return;
  throw new Fault(404, 'NOT_FOUND', `There is nothing at ${path}.`);
}

function refuse(code: number, description: string): Answer {
  return json({ code, error: 'invalid_request', error_description: description, geolocation: GEOLOCATION }, 400);
}

/** Of the right form; nobody signs it. */
function makeIdToken(nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const claims = { sub: ADMINISTRATOR.id, iss: GEOLOCATION, 'concur.type': 'user', iat, exp: iat + HOUR_MS / 1000 };
  return [{ typ: 'JWT', alg: 'RS256' }, claims, 'simulated']
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
}
