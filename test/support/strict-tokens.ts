import { randomBytes } from 'node:crypto';
import type { TokenGrant } from '../../src/instances/oauth/token-endpoint.ts';
import { TokenError } from '../../src/instances/oauth/token-failure.ts';

interface Family {
  readonly graceMs: number;
  isAlive: boolean;
}

interface RefreshToken {
  readonly family: Family;
  usedAtMs: number | undefined;
}

interface AccessToken {
  readonly family: Family;
  readonly expiresAtMs: number;
}

/**
 * Issues and verifies tokens as the strictest authorization server does. A refresh token can be used once. A second use, except within the
 * grace period, revokes everything that was granted to its family.
 * `lifeSeconds` is the lifetime of an access token.
 */
export function createStrictTokens({ now, lifeSeconds }: { readonly now: () => number; readonly lifeSeconds: number }) {
  const refreshTokens = new Map<string, RefreshToken>();
  const accessTokens = new Map<string, AccessToken>();
  let presentations = 0;
  let reuses = 0;

  function grant(family: Family): TokenGrant {
    const accessToken = `access-${randomBytes(12).toString('hex')}`;
    const refreshToken = `refresh-${randomBytes(12).toString('hex')}`;
    accessTokens.set(accessToken, { family, expiresAtMs: now() + lifeSeconds * 1000 });
    refreshTokens.set(refreshToken, { family, usedAtMs: undefined });
    return { accessToken, refreshToken, expiresInSeconds: lifeSeconds, values: {} };
  }

  function present(token: RefreshToken): TokenGrant {
    const { family, usedAtMs } = token;
    if (usedAtMs !== undefined) {
      reuses++;
      if (now() - usedAtMs > family.graceMs) family.isAlive = false;
    }
    if (!family.isAlive) throw invalidGrant();
    token.usedAtMs ??= now();
    return grant(family);
  }

  return {
    /** Creates a new family with the first tokens of an instance. */
    issue: ({ graceMs = -1 } = {}) => grant({ graceMs, isAlive: true }),
    /**
     * Exchanges a refresh token for new tokens.
     * @throws TokenError `refused` with `invalid_grant`
     */
    refresh: (refreshToken: string) => {
      presentations++;
      const token = refreshTokens.get(refreshToken);
      if (token === undefined) throw invalidGrant();
      return present(token);
    },
    accepts: (accessToken: string) => {
      const token = accessTokens.get(accessToken);
      return token?.family.isAlive === true && now() < token.expiresAtMs;
    },
    /** Rejects the access tokens issued so far. Refresh tokens stay valid. */
    endAccess: () => accessTokens.clear(),
    /** Revokes everything that belongs to the family of this token. */
    revoke: (token: string) => {
      const family = (refreshTokens.get(token) ?? accessTokens.get(token))?.family;
      if (family !== undefined) family.isAlive = false;
    },
    /** Returns how often refresh tokens were presented. */
    presentations: () => presentations,
    /** Returns how often used tokens were presented again, within a grace period or not. */
    reuses: () => reuses,
  };
}

function invalidGrant(): TokenError {
  const providerMessage = 'the refresh token was used before or revoked';
  return new TokenError('refused', 'The provider refused.', { oauthError: 'invalid_grant', providerMessage });
}
