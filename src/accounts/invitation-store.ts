import type { Knex } from 'knex';
import { filterable, INSTANT, INTEGER, type Selection, selectPage, TEXT } from '../db/listing.ts';
import { nextId } from '../db/next-id.ts';
import { type Removal, removeRows } from '../db/removal.ts';
import { columnsOf, firstOf, type RowOf, type RowWith, toColumns } from '../db/row.ts';

export type InvitationRow = RowWith<'user_invitation', typeof COLUMNS>;

type NewInvitationRow = Omit<InvitationRow, 'status' | 'userId' | 'endedAt'> & RowOf<'user_invitation', 'key_hash'>;

type InvitationKey = Pick<InvitationRow, 'accountId' | 'id'>;

/** Names that the page behind an invitation's link shows. */
interface InvitationNames {
  readonly organizationName: string;
  readonly accountName: string;
  readonly inviterName: string;
}

const COLUMNS = columnsOf('user_invitation', [
  'account_id',
  'id',
  'inviter_id',
  'email_address',
  'roles',
  'status',
  'user_id',
  'created_at',
  'expires_at',
  'ended_at',
]);

/** The expiry of an invitation is not written, but computed. */
const STATUS = `case when status = 'open' and expires_at <= now() then 'expired' else status end`;

/** Fields that a list of invitations can be filtered by, under their names in the API. */
export const FILTERABLE_INVITATION = filterable({
  id: [INTEGER, 'id'],
  email: [{ ...TEXT, collation: 'ci' }, 'email_address'],
  status: [TEXT, STATUS],
  invitedBy: [INTEGER, 'inviter_id'],
  createdDate: [INSTANT, 'created_at'],
  expiresDate: [INSTANT, 'expires_at'],
});

export function createInvitationStore(knex: Knex) {
  const open = (via: Knex, { accountId, id }: InvitationKey) =>
    via('user_invitation').where({ account_id: accountId, id, status: 'open' });

  return {
    nextId: (): Promise<number> => nextId(knex, 'user_invitation'),

    insert: async (via: Knex, row: NewInvitationRow): Promise<InvitationRow> => {
      await via('user_invitation').insert(toColumns('user_invitation', row));
      const { keyHash: _, ...rest } = row;
      return { ...rest, status: 'open', userId: null, endedAt: null };
    },

    countOpen: async (via: Knex, accountId: number, at: Date): Promise<number> => {
      const { rows } = await via.raw<{ rows: { readonly count: number }[] }>(
        `select count(*)::int as count from user_invitation where account_id = ? and status = 'open' and expires_at > ?`,
        [accountId, at],
      );
      return firstOf(rows).count;
    },

    find: ({ accountId, id }: InvitationKey): Promise<InvitationRow | undefined> =>
      knex('user_invitation').where({ account_id: accountId, id }).first<InvitationRow>(COLUMNS),

    /** Finds an open invitation by its link: not used, not revoked and not expired. */
    findOpen: (keyHash: Buffer, at: Date): Promise<InvitationRow | undefined> =>
      knex('user_invitation')
        .where({ key_hash: keyHash, status: 'open' })
        .where('expires_at', '>', at)
        .first<InvitationRow>(COLUMNS),

    findNames: async ({ accountId, inviterId }: InvitationRow): Promise<InvitationNames> => {
      const { rows } = await knex.raw<{ rows: InvitationNames[] }>(
        `select organization.name as "organizationName", account.name as "accountName",
           trim(inviter.first_name || ' ' || inviter.last_name) as "inviterName"
         from account join organization on organization.id = account.organization_id
           join app_user inviter on inviter.organization_id = organization.id and inviter.id = ?
         where account.id = ?`,
        [inviterId, accountId],
      );
      return firstOf(rows);
    },

    /** Lists invitations from old to new. */
    list: async (accountId: number, selection: Selection): Promise<InvitationRow[]> =>
      selectPage(knex('user_invitation').where({ account_id: accountId }).select<InvitationRow[]>(COLUMNS), selection),

    /** Accepts an open invitation. Returns false when it is no longer open, so that only one of several concurrent attempts succeeds. */
    accept: async (via: Knex, invitation: InvitationKey, userId: number, at: Date): Promise<boolean> => {
      const accepted = { status: 'accepted', user_id: userId, ended_at: at } as const;
      return (await open(via, invitation).where('expires_at', '>', at).update(accepted)) > 0;
    },

    /** Revokes an open invitation. Returns false when it is no longer open. */
    revoke: async (via: Knex, invitation: InvitationKey, at: Date): Promise<boolean> =>
      (await open(via, invitation).where('expires_at', '>', at).update({ status: 'revoked', ended_at: at })) > 0,

    removeSome: (accountId: number): Promise<Removal> => removeRows(knex, 'user_invitation', accountId),

    /** Deletes old invitations of all accounts. */
    purge: (before: Date): Promise<number> =>
      knex('user_invitation').whereRaw('coalesce(ended_at, expires_at) < ?', [before]).delete(),
  };
}
