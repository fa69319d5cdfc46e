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
 * An authorization server's book of tokens, as strict as the strictest: a refresh token is good for one use, and a
 * second one, unless it comes within the grace period, ends everything that was ever granted to its family.
 * `lifeSeconds`: of an access token.
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
    /** A new family; the first tokens of one instance. */
    issue: ({ graceMs = -1 } = {}) => grant({ graceMs, isAlive: true }),
    /** @throws TokenError `refused` with `invalid_grant` */
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
    /** The access tokens issued so far are refused from now on; refresh tokens stay good. */
    endAccess: () => accessTokens.clear(),
    /** Everything that belongs to the family of this token is refused from now on. */
    revoke: (token: string) => {
      const family = (refreshTokens.get(token) ?? accessTokens.get(token))?.family;
      if (family !== undefined) family.isAlive = false;
    },
    /** How often refresh tokens were presented. */
    presentations: () => presentations,
    /** How often tokens that had been used were presented, within a grace period or not. */
    reuses: () => reuses,
  };
}

function invalidGrant(): TokenError {
  const providerMessage = 'the refresh token was used before or revoked';
  return new TokenError('refused', 'The provider refused.', { oauthError: 'invalid_grant', providerMessage });
}
