import {
  atHosts,
  type Call,
  createOAuthServer,
  DAY_MS,
  Fault,
  json,
  type MovableClock,
  type RegisteredClient,
  readBearer,
  type SimulatedResponse,
  type SimulatorMemory,
} from '#connector/simulator';
import { ADMINISTRATOR, TRAVELER, type User } from './company.ts';

/** The base URL of the company's data center. Calls use it once the token is known. */
export const GEOLOCATION = 'https://us2.api.concursolutions.com';

/** An access token of a Web Services Admin that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
/** An access token of a user without that role. */
export const TRAVELER_ACCESS_TOKEN = 'demo-traveler-token';

export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

const HOUR_MS = 3_600_000;
/** Lifetime of a refresh token in milliseconds: six months. */
const REFRESH_MS = 183 * DAY_MS;

const hostsOf = (...centers: readonly string[]) =>
  centers.flatMap((center) => ['', 'www-'].map((prefix) => `${prefix}${center}.api.concursolutions.com`));
const HOME = hostsOf('us2');
/** Hosts that issue tokens for every company: the landing zone, and the host that the documents use in their examples. */
const ANYWHERE = hostsOf('glz', 'us');
const ELSEWHERE = hostsOf('usg', 'eu', 'eu2', 'emea', 'apj1', 'cn', 'us-impl', 'emea-impl');
const DATA_CENTERS = [...HOME, ...ANYWHERE, ...ELSEWHERE];

export interface LoginOptions {
  readonly memory: SimulatorMemory | undefined;
  readonly clock: MovableClock;
  /** The status for a token that has expired or is invalid. */
  readonly badToken: 401 | 403;
}

export function createLogin({ memory, clock, badToken }: LoginOptions) {
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
    // The end of the refresh token is a time, not a duration.
    tokenResponse: (standard) => ({
      ...standard,
      refresh_expires_in: Math.floor((clock.now() + REFRESH_MS) / 1000),
      geolocation: GEOLOCATION,
    }),
    errors: { unknownCode: ['invalid_request', 'code is bad or expired'] },
  });

  /** Concur reports a refusal in the parameter `error_code`, unlike OAuth's `error`. */
  async function authorize(call: Call): Promise<SimulatedResponse> {
    const response = await server.authorize(call);
    const { location = '' } = response.headers ?? {};
    return {
      ...response,
      headers: { ...response.headers, location: location.replace(/([?&])error=/, '$1error_code=') },
    };
  }

  function token(call: Call): SimulatedResponse | Promise<SimulatedResponse> {
    if (!ELSEWHERE.includes(call.host ?? '')) return server.token(call);
    const error = { code: 16, error: 'invalid_request', error_description: 'user lives elsewhere' };
    return json({ ...error, geolocation: GEOLOCATION }, 400);
  }

  return {
    commands: server.commands,
    routes: {
      'GET /oauth2/v0/authorize': atHosts(DATA_CENTERS, authorize),
      'POST /oauth2/v0/token': atHosts(DATA_CENTERS, token),
    },
    /**
     * Returns the user of the token.
     * @throws Fault 401 without a token; `badToken` for an invalid token, or at another data center
     */
    userOf: ({ headers, host }: Call): User => {
      if (headers.authorization === undefined) throw new Fault(401, 'UNAUTHORIZED', 'Unauthorized');
      const text = readBearer(headers.authorization, ['Bearer', 'OAuth']) ?? '';
      const isHere = host === undefined || HOME.includes(host);
      if (isHere && server.accepts(text)) return text === TRAVELER_ACCESS_TOKEN ? TRAVELER : ADMINISTRATOR;
      throw new Fault(badToken, 'FORBIDDEN', 'Forbidden. Please check your Instance URL and OAuth token.');
    },
  };
}
