import { createHash } from 'node:crypto';
import {
  type Call,
  createOAuthServer,
  type MovableClock,
  type OAuthOptions,
  type OAuthServer,
  type RegisteredClient,
  type SimulatorMemory,
} from '#connector/simulator';
import { DEMO_USER_ID, ORGANIZATION_ID } from './ids.ts';

/** The registered clients. The refresh tokens of the second one rotate. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret' },
  'rotating-client': { secret: 'rotating-secret', rotates: {} },
};

const SESSION_PREFIX = `${ORGANIZATION_ID.slice(0, 15)}!`;

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = `${SESSION_PREFIX}demo-access-token`;

const ERRORS: OAuthOptions['errors'] = {
  badAuthorization: ['invalid_client_id', 'client identifier invalid'],
  denied: ['access_denied', 'end-user denied authorization'],
  unknownClient: ['invalid_client_id', 'client identifier invalid'],
  wrongSecret: ['invalid_client', 'invalid client credentials'],
  unknownCode: ['invalid_grant', 'expired authorization code'],
  otherClient: ['invalid_grant', 'client identifier does not match'],
  otherRedirect: ['redirect_uri_mismatch', 'redirect_uri must match configuration'],
  wrongVerifier: ['invalid_grant', 'invalid code verifier'],
  unknownRefreshToken: ['invalid_grant', 'expired access/refresh token'],
  unsupportedGrant: ['unsupported_grant_type', 'grant type not supported'],
  unknownToken: ['unsupported_token_type', 'this token is not supported'],
};

/** Creates the OAuth server. Salesforce documents no lifetime of access tokens, and issues a refresh token only with the scope for it. */
export function createLogin(memory: SimulatorMemory | undefined, clock: MovableClock): OAuthServer {
  return createOAuthServer({
    title: 'Salesforce simulator',
    clients: CLIENTS,
    clock,
    memory,
    unsaidMethod: 'S256',
    defaultScope: 'api refresh_token',
    isLasting: (scope) => /\b(?:refresh_token|offline_access)\b/.test(scope),
    prefixes: { code: 'aPrx', access: SESSION_PREFIX, refresh: '5Aep861' },
    accessTokens: [DEMO_ACCESS_TOKEN],
    errors: ERRORS,
    isFormResponse: ({ headers }, form) =>
      form.get('format') === 'urlencoded' || headers.accept?.startsWith('application/x-www-form-urlencoded') === true,
    tokenResponse: (standard, call) => {
      const issuedAt = String(clock.now());
      return {
        ...standard,
        signature: createHash('sha256').update(`${call.origin}${issuedAt}`).digest('base64'),
        instance_url: instanceUrlOf(call),
        id: `${call.origin}/id/${ORGANIZATION_ID}/${DEMO_USER_ID}`,
        issued_at: issuedAt,
      };
    },
  });
}

const INSTANCE_HOSTS: Readonly<Record<string, string>> = {
  'login.salesforce.com': 'acme.my.salesforce.com',
  'test.salesforce.com': 'acme--dev.sandbox.my.salesforce.com',
};

function instanceUrlOf({ host = '', origin }: Call): string {
  const instance = INSTANCE_HOSTS[host];
  return instance === undefined ? origin : `https://${instance}`;
}
