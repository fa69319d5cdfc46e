import type { Knex } from 'knex';
import { firstOf, type RowOf } from '../../../db/row.ts';
import type { InstanceKey } from '../../instance.ts';
import { type Lifetime, LONG_LIFE_AHEAD_MS } from './lifetime.ts';

/** A row of `oauth_token`, still encrypted. Times are relative to now by the clock of the database, and negative in the past. */
export interface TokenRow
  extends Lifetime,
    RowOf<'oauth_token', 'tokens' | 'generation' | 'interrupted' | 'failures' | 'refused_reason'> {
  readonly retryInMs: number | null;
}

export interface RefreshLease {
  readonly leaseId: string;
  /** Generation of the tokens that the refresh starts from. */
  readonly generation: number;
}

/** The rejection of a refresh. While it is stored, tokens are not refreshed. */
export interface Refusal {
  /** `grant`: until re-authentication. `client`: until its secret is corrected; the tokens may still be valid. */
  readonly kind: 'grant' | 'client';
  /** Reason as a text for people. */
  readonly reason: string;
}

export interface NewTokens extends Lifetime {
  /** Encrypted tokens. */
  readonly tokens: string;
}

/** The position after which a list of due tokens continues. */
export interface DueToken extends InstanceKey {
  /** Time as PostgreSQL prints it, with microseconds. */
  readonly refreshAt: string;
}

const fromNow = (column: string) => `(extract(epoch from ${column} - now()) * 1000)::float8`;
/** Null stays null. */
const AT = `now() + ?::float8 * interval '1 millisecond'`;

const COLUMNS = `tokens, generation, interrupted, failures, refused_reason as "refusedReason",
  ${fromNow('access_expires_at')} as "expiresInMs",
  ${fromNow('refresh_at')} as "refreshInMs",
  ${fromNow('retry_at')} as "retryInMs"`;

const FREE_LEASE = 'lease_id = null, lease_until = null';
const NOT_REFUSED = 'refused_kind = null, refused_reason = null';

export type TokenStore = ReturnType<typeof createTokenStore>;

/** Creates the store of tokens. Each state change of a refresh is one statement, with its conditions in the `where`. */
export function createTokenStore(knex: Knex) {
  return {
    find: async ({ accountId, id }: InstanceKey, via: Knex = knex): Promise<TokenRow | undefined> => {
      const { rows } = await via.raw<{ rows: TokenRow[] }>(
        `select ${COLUMNS} from oauth_token where account_id = ? and instance_id = ?`,
        [accountId, id],
      );
      return rows[0];
    },

    /** Stores the tokens of a new authentication. It fences out refreshes of earlier tokens that are in progress. */
    replace: async (via: Knex, { accountId, id }: InstanceKey, fresh: NewTokens): Promise<number> => {
      const { rows } = await via.raw<{ rows: RowOf<'oauth_token', 'generation'>[] }>(
        `insert into oauth_token (account_id, instance_id, tokens, access_expires_at, refresh_at)
         values (?, ?, ?, ${AT}, ${AT})
         on conflict (account_id, instance_id) do update set
           tokens = excluded.tokens, access_expires_at = excluded.access_expires_at, refresh_at = excluded.refresh_at,
           generation = oauth_token.generation + 1, ${FREE_LEASE}, interrupted = false, failures = 0,
           retry_at = null, ${NOT_REFUSED}, updated_at = excluded.updated_at
         returning generation`,
        [accountId, id, fresh.tokens, fresh.expiresInMs, fresh.refreshInMs],
      );
      return firstOf(rows).generation;
    },

    /**
     * Takes the lease for a refresh, and with it stores the intent to send the request. An expired lease that is still stored belongs to a
     * process that has not stored the provider's response, so the row is taken over.
     */
    takeLease: async (
      { accountId, id }: InstanceKey,
      { leaseId, generation }: RefreshLease,
      leaseMs: number,
    ): Promise<(TokenRow & { readonly isTakenOver: boolean }) | undefined> => {
      const { rows } = await knex.raw<{ rows: (TokenRow & { readonly isTakenOver: boolean })[] }>(
        `with taken as (
           update oauth_token as token set lease_id = ?, lease_until = ${AT},
             interrupted = token.interrupted or before.lease_id is not null, updated_at = now()
           from (
             select instance_id, lease_id from oauth_token where account_id = ? and instance_id = ? for update
           ) as before
           where token.account_id = ? and token.instance_id = ? and token.instance_id = before.instance_id
             and token.generation = ? and token.refused_reason is null
             and (token.lease_until is null or token.lease_until <= now())
             and (token.retry_at is null or token.retry_at <= now())
           returning token.*, before.lease_id is not null as "isTakenOver"
         )
         select ${COLUMNS}, "isTakenOver" from taken`,
        [leaseId, leaseMs, accountId, id, accountId, id, generation],
      );
      return rows[0];
    },

    /**
     * Stores granted tokens, unless newer ones are stored; also if the lease expired or the tokens were given up. The holder of the lease
     * has the newest response, even if a late response was stored in between. If another process took the lease meanwhile, the refresh
     * token was sent twice, and that is recorded.
     * @returns undefined when the grant came too late
     */
    commit: async (
      { accountId, id }: InstanceKey,
      { leaseId, generation }: RefreshLease,
      fresh: NewTokens,
    ): Promise<(RowOf<'oauth_token', 'generation'> & { readonly wasRefused: boolean }) | undefined> => {
      const { rows } = await knex.raw<{
        rows: (RowOf<'oauth_token', 'generation'> & { readonly wasRefused: boolean })[];
      }>(
        `update oauth_token as token set tokens = ?, generation = token.generation + 1,
           access_expires_at = ${AT}, refresh_at = ${AT},
           interrupted = token.lease_id is distinct from ?::uuid,
           lease_until = case when token.lease_id = ?::uuid then null else token.lease_until end,
           lease_id = nullif(token.lease_id, ?::uuid),
           failures = 0, retry_at = null, ${NOT_REFUSED}, updated_at = now()
         from (
           select account_id, instance_id, refused_reason from oauth_token
           where account_id = ? and instance_id = ? for update
         ) as before
         where token.account_id = ? and token.instance_id = ? and token.instance_id = before.instance_id
           and (token.generation = ? or token.lease_id = ?::uuid)
         returning token.generation, before.refused_reason is not null as "wasRefused"`,
        [
          fresh.tokens,
          fresh.expiresInMs,
          fresh.refreshInMs,
          leaseId,
          leaseId,
          leaseId,
          accountId,
          id,
          accountId,
          id,
          generation,
          leaseId,
        ],
      );
      return rows[0];
    },

    /** Ends an attempt without new tokens and sets the next one. `interrupted`: the provider may have used up the refresh token. */
    postpone: async (
      { accountId, id }: InstanceKey,
      { leaseId }: RefreshLease,
      { retryInMs, interrupted }: { readonly retryInMs: number; readonly interrupted: boolean },
    ): Promise<boolean> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `update oauth_token set ${FREE_LEASE}, failures = failures + 1, retry_at = ${AT},
           interrupted = interrupted or ?::boolean, updated_at = now()
         where account_id = ? and instance_id = ? and lease_id = ?::uuid`,
        [retryInMs, interrupted, accountId, id, leaseId],
      );
      return rowCount > 0;
    },

    /**
     * Locks the instance's settings until the end of the transaction. Call it first, because every change of an instance and its tokens
     * locks them in this order.
     * @returns the settings version; undefined when the instance no longer exists
     */
    lockSettings: async (via: Knex, { accountId, id }: InstanceKey): Promise<number | undefined> => {
      const { rows } = await via.raw<{ rows: RowOf<'instance', 'settings_version'>[] }>(
        'select settings_version as "settingsVersion" from instance where account_id = ? and id = ? for no key update',
        [accountId, id],
      );
      return rows[0]?.settingsVersion;
    },

    /** Stores a rejection: no further grant with this refresh token, or with this client until it is corrected. */
    refuse: async (
      via: Knex,
      { accountId, id }: InstanceKey,
      { leaseId, generation }: RefreshLease,
      { kind, reason }: Refusal,
    ): Promise<boolean> => {
      const { rowCount } = await via.raw<{ rowCount: number }>(
        `update oauth_token set ${FREE_LEASE}, refused_kind = ?, refused_reason = ?, updated_at = now()
         where account_id = ? and instance_id = ? and lease_id = ?::uuid and generation = ? and refused_reason is null`,
        [kind, reason, accountId, id, leaseId, generation],
      );
      return rowCount > 0;
    },

    /**
     * Removes the rejection of a client whose secret was corrected.
     * @returns false when it was not the client that the provider rejected
     */
    acceptClient: async (via: Knex, { accountId, id }: InstanceKey): Promise<boolean> => {
      const { rowCount } = await via.raw<{ rowCount: number }>(
        `update oauth_token set ${NOT_REFUSED}, failures = 0, retry_at = null, updated_at = now()
         where account_id = ? and instance_id = ? and refused_kind = 'client'`,
        [accountId, id],
      );
      return rowCount > 0;
    },

    /** Lets the lease begin anew. @returns false if it was lost, or newer tokens were stored */
    renewLease: async (
      { accountId, id }: InstanceKey,
      { leaseId, generation }: RefreshLease,
      leaseMs: number,
    ): Promise<boolean> => {
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `update oauth_token set lease_until = ${AT}
         where account_id = ? and instance_id = ? and lease_id = ?::uuid and generation = ? and refused_reason is null`,
        [leaseMs, accountId, id, leaseId, generation],
      );
      return rowCount > 0;
    },

    /** Releases the lease of a refresh that sent no request, because another process stored its response. */
    releaseUnused: async ({ accountId, id }: InstanceKey, { leaseId }: RefreshLease): Promise<void> => {
      await knex.raw(
        `update oauth_token set ${FREE_LEASE}, interrupted = false
         where account_id = ? and instance_id = ? and lease_id = ?::uuid`,
        [accountId, id, leaseId],
      );
    },

    /** Releases the lease and changes nothing else. */
    release: async ({ accountId, id }: InstanceKey, { leaseId }: RefreshLease): Promise<void> => {
      await knex.raw(
        `update oauth_token set ${FREE_LEASE} where account_id = ? and instance_id = ? and lease_id = ?::uuid`,
        [accountId, id, leaseId],
      );
    },

    /** Lists due tokens of all accounts, the longest due first. Tokens with a short lifetime are left out, because calls refresh them. */
    findDue: async (after: DueToken | undefined, limit: number): Promise<DueToken[]> => {
      const { refreshAt = '-infinity', accountId = 0, id = 0 } = after ?? {};
      const { rows } = await knex.raw<{ rows: DueToken[] }>(
        `select account_id as "accountId", instance_id as id, refresh_at::text as "refreshAt" from oauth_token
         where refused_reason is null and refresh_at <= now()
           and access_expires_at - refresh_at >= ? * interval '1 millisecond'
           and (retry_at is null or retry_at <= now()) and (lease_until is null or lease_until <= now())
           and (refresh_at, account_id, instance_id) > (?::timestamptz, ?, ?)
           and not exists (select from account where id = account_id and deleted_at is not null)
         order by refresh_at, account_id, instance_id
         limit ?`,
        [LONG_LIFE_AHEAD_MS, refreshAt, accountId, id, limit],
      );
      return rows;
    },

    transaction: <Result>(work: (via: Knex.Transaction) => Promise<Result>): Promise<Result> => knex.transaction(work),
  };
}
