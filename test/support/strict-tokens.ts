import { randomBytes } from 'node:crypto';
import type { TokenGrant } from '../../src/instances/oauth/token-endpoint.ts';
import { TokenError } from '../../src/instances/oauth/token-failure.ts';

/**
 * An authorization server's book of tokens, as strict as the strictest: a refresh token is good for one use, and a
 * second one, unless it comes within the grace period, ends everything that was ever granted to its family.
 */
export interface StrictTokens {
  /** A new family; the first tokens of one instance. */
  readonly issue: (options?: { readonly graceMs?: number }) => TokenGrant;
  /** @throws TokenError `refused` with `invalid_grant` */
  readonly refresh: (refreshToken: string) => TokenGrant;
  readonly accepts: (accessToken: string) => boolean;
  /** The access tokens issued so far are refused from now on; refresh tokens stay good. */
  readonly endAccess: () => void;
  /** Everything that belongs to the family of this token is refused from now on. */
  readonly revoke: (token: string) => void;
  /** How often refresh tokens were presented. */
  readonly presentations: () => number;
  /** How often tokens that had been used were presented, within a grace period or not. */
  readonly reuses: () => number;
  readonly isAlive: (token: string) => boolean;
}

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

export interface StrictTokensOptions {
  readonly now: () => number;
  /** Of an access token. */
  readonly lifeSeconds: () => number;
}

export function createStrictTokens({ now, lifeSeconds }: StrictTokensOptions): StrictTokens {
  const refreshTokens = new Map<string, RefreshToken>();
  const accessTokens = new Map<string, AccessToken>();
  let presentations = 0;
  let reuses = 0;

  function grant(family: Family): TokenGrant {
    const accessToken = `access-${randomBytes(12).toString('hex')}`;
    const refreshToken = `refresh-${randomBytes(12).toString('hex')}`;
    const expiresInSeconds = lifeSeconds();
    accessTokens.set(accessToken, { family, expiresAtMs: now() + expiresInSeconds * 1000 });
    refreshTokens.set(refreshToken, { family, usedAtMs: undefined });
    return { accessToken, refreshToken, expiresInSeconds, values: {} };
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

  const familyOf = (token: string) => (refreshTokens.get(token) ?? accessTokens.get(token))?.family;

  return {
    issue: ({ graceMs = -1 } = {}) => grant({ graceMs, isAlive: true }),
    refresh: (refreshToken) => {
      presentations++;
      const token = refreshTokens.get(refreshToken);
      if (token === undefined) throw invalidGrant();
      return present(token);
    },
    accepts: (accessToken) => {
      const token = accessTokens.get(accessToken);
      return token?.family.isAlive === true && now() < token.expiresAtMs;
    },
    endAccess: () => accessTokens.clear(),
    revoke: (token) => {
      const family = familyOf(token);
      if (family !== undefined) family.isAlive = false;
    },
    presentations: () => presentations,
    reuses: () => reuses,
    isAlive: (token) => familyOf(token)?.isAlive === true,
  };
}

function invalidGrant(): TokenError {
  const providerMessage = 'the refresh token was used before or revoked';
  return new TokenError('refused', 'The provider refused.', { oauthError: 'invalid_grant', providerMessage });
}
