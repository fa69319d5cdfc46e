import type { Knex } from 'knex';
import { isDistributed } from '../../db/distributed.ts';
import type { RowOf } from '../../db/row.ts';
import type { InstanceKey } from '../../instances/instance.ts';

type Column =
  | 'account_id'
  | 'instance_id'
  | 'version'
  | 'provider_id'
  | 'url'
  | 'base_url'
  | 'secret'
  | 'failures'
  | 'renew_at'
  | 'lease_until';

/** Stored state of a webhook registration at a provider, with its secret still encrypted. */
export type RegistrationRow = RowOf<'webhook_registration', Column>;

/** Result of checking a registration. */
export interface SettledRegistration
  extends Pick<RegistrationRow, 'providerId' | 'url' | 'baseUrl' | 'secret' | 'failures'> {
  readonly renewAt: Date | null;
  /** Time of the next check; null if only a change requires one. */
  readonly due: Date | null;
}

const COLUMNS = `account_id as "accountId", instance_id as "instanceId", version, provider_id as "providerId", url, base_url as "baseUrl", secret,
  failures,
  renew_at as "renewAt", lease_until as "leaseUntil"`;

interface ClaimOptions {
  readonly limit: number;
  readonly now: Date;
  readonly leaseUntil: Date;
}

export function createRegistrationStore(knex: Knex) {
  /** A distributed database locks rows of one account at a time only, so the due ones are found first, without a lock. */
  async function claimByRow({ limit, now, leaseUntil }: ClaimOptions): Promise<RegistrationRow[]> {
    const { rows: due } = await knex.raw<{ rows: RowOf<'webhook_registration', 'account_id' | 'instance_id'>[] }>(
      `select account_id as "accountId", instance_id as "instanceId" from webhook_registration
       where due <= ? and (lease_until is null or lease_until <= ?)
         and not exists (select from account where id = account_id and deleted_at is not null)
       order by due limit ?`,
      [now, now, limit],
    );
    const claimed: RegistrationRow[] = [];
    for (const { accountId, instanceId } of due) {
      const { rows } = await knex.raw<{ rows: RegistrationRow[] }>(
        `update webhook_registration set lease_until = ?
         where account_id = ? and instance_id = ? and due <= ? and (lease_until is null or lease_until <= ?)
         returning ${COLUMNS}`,
        [leaseUntil, accountId, instanceId, now, now],
      );
      claimed.push(...rows);
    }
    return claimed;
  }

  return {
    /** Notes that a registration must be checked. A missing registration is noted only if one is wanted. */
    note: async (via: Knex, { accountId, id }: InstanceKey, isWanted: boolean): Promise<void> => {
      const again = (time: string) =>
        `version = webhook_registration.version + 1, due = ${time}, failures = 0, updated_at = ${time}`;
      await via.raw(
        isWanted
          ? `insert into webhook_registration (account_id, instance_id) values (?, ?)
             on conflict (account_id, instance_id) do update set ${again('excluded.updated_at')}`
          : `update webhook_registration set ${again('now()')} where account_id = ? and instance_id = ?`,
        [accountId, id],
      );
    },

    find: async ({ accountId, id }: InstanceKey): Promise<RegistrationRow | undefined> => {
      const { rows } = await knex.raw<{ rows: RegistrationRow[] }>(
        `select ${COLUMNS} from webhook_registration where account_id = ? and instance_id = ?`,
        [accountId, id],
      );
      return rows[0];
    },

    /**
     * Claims due registrations, the oldest first, for one process and a limited time; or a single one. Those of a deleted account are
     * removed with it.
     */
    claim: async ({ limit, now, leaseUntil }: ClaimOptions, one?: InstanceKey): Promise<RegistrationRow[]> => {
      if (one === undefined && (await isDistributed(knex))) return claimByRow({ limit, now, leaseUntil });
      const { rows } = await knex.raw<{ rows: RegistrationRow[] }>(
        `update webhook_registration set lease_until = ?
         from (
           select account_id as of_account, instance_id as of_instance from webhook_registration
           where due <= ? and (lease_until is null or lease_until <= ?)
             and not exists (select from account where id = account_id and deleted_at is not null)
             ${one === undefined ? '' : 'and account_id = ? and instance_id = ?'}
           order by due limit ? for update skip locked
         ) claimed
         where account_id = of_account and instance_id = of_instance ${one === undefined ? '' : 'and account_id = ?'}
         returning ${COLUMNS}`,
        one === undefined
          ? [leaseUntil, now, now, limit]
          : [leaseUntil, now, now, one.accountId, one.id, limit, one.accountId],
      );
      return rows;
    },

    /**
     * Stores a result, and ends the lease of the claim. A registration that was noted again meanwhile stays due. Returns false when the
     * instance no longer exists, or when another process claimed the registration because the lease was over.
     */
    settle: async (
      { accountId, instanceId, version, leaseUntil }: RegistrationRow,
      settled: SettledRegistration,
    ): Promise<boolean> => {
      const { providerId, url, baseUrl, secret, failures, renewAt, due } = settled;
      const { rowCount } = await knex.raw<{ rowCount: number }>(
        `update webhook_registration set provider_id = :providerId, url = :url, base_url = :baseUrl, secret = :secret, failures = :failures,
           renew_at = :renewAt, due = case when version = :version then :due::timestamptz else due end, lease_until = null,
           updated_at = now()
         where account_id = :accountId and instance_id = :instanceId and lease_until = :leaseUntil`,
        { accountId, instanceId, version, leaseUntil, providerId, url, baseUrl, secret, failures, renewAt, due },
      );
      return rowCount > 0;
    },

    /** Removes a registration that is no longer needed, unless this changed in the meantime. */
    remove: async ({ accountId, instanceId, version }: RegistrationRow): Promise<boolean> =>
      (await knex('webhook_registration').where({ account_id: accountId, instance_id: instanceId, version }).delete()) >
      0,

    /** Marks all registrations with another public URL as due. */
    noteMoved: async (publicUrl: string): Promise<void> => {
      await knex('webhook_registration')
        .whereRaw('url is not null and not starts_with(url, ?)', [`${publicUrl}/`])
        .update({ due: knex.fn.now() });
    },
  };
}
