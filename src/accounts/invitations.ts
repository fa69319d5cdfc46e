import type { Knex } from 'knex';
import { changeInTurn } from '../db/change.ts';
import { listPage, type PageQuery } from '../db/listing.ts';
import { assertAllStorable } from '../db/storable.ts';
import { AppError } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { missing } from '../shared-errors.ts';
import type { Accounts, Principal } from './accounts.ts';
import { createInvitationStore, FILTERABLE_INVITATION, type InvitationRow } from './invitation-store.ts';
import type { Privilege } from './privileges.ts';
import { readRoles } from './roles.ts';
import { DEFAULT_ROLES, type Users } from './users.ts';

interface NewInvitation {
  readonly email: string;
  /** Role keys. Default: `default-user` alone. */
  readonly roles?: readonly string[] | undefined;
  /** Validity in seconds. */
  readonly expiresIn?: number | undefined;
}

/** Name and password that an invited person chooses. */
interface JoiningPerson {
  readonly firstName: string;
  readonly lastName: string;
  readonly password: string;
}

interface InvitationNeighbours {
  readonly accounts: Pick<Accounts, 'findActing'>;
  readonly users: Pick<Users, 'create' | 'assertMayAdd'>;
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

/** The page of the console that opens an invitation. The key is behind a `#`, which browsers never send. */
const INVITATION_PATH = '/console/invitation';
/** Privileges, one of which the inviting user needs: at the invitation and when it is accepted. */
const NEEDED: readonly Privilege[] = ['addOrganizationUsers', 'addAccountUsers'];
const KEY_BYTES = 32;
const KEY = /^[\w-]{43}$/;
/** Seconds, as the spec has it. */
const EXPIRES_IN = 604_800;
const MOST_OPEN = 500;
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Invitations: links by which one person each becomes a user and chooses a name and a password. An invitation acts for the user who created
 * it, with that user's current privileges. So it never adds a user whom its creator could not add now.
 */
export function createInvitations(
  { knex, shares, keys, random, clock }: Pick<Platform, 'knex' | 'shares' | 'keys' | 'random' | 'clock'>,
  { accounts, users, publicUrl }: InvitationNeighbours,
) {
  const store = createInvitationStore(knex);
  const now = () => new Date(clock.now());

  /** Returns the user who created the invitation, if that user may still add users to its account. */
  async function findInviterOf({ accountId, inviterId }: InvitationRow): Promise<Principal | undefined> {
    const inviter = await accounts.findActing({ accountId, userId: inviterId });
    return inviter !== undefined && NEEDED.some((privilege) => inviter.privileges.has(privilege)) ? inviter : undefined;
  }

  async function open(key: string) {
    const keyHash = KEY.test(key) ? keys.lookupHash(key) : undefined;
    const found = keyHash && (await shares.lookUp('stranger', () => store.findOpen(keyHash, now())));
    const inviter = found && (await findInviterOf(found));
    if (found === undefined || inviter === undefined) throw noInvitation();
    return { invitation: found, inviter };
  }

  async function assertRoom(via: Knex, accountId: number): Promise<void> {
    if ((await store.countOpen(via, accountId, now())) < MOST_OPEN) return;
    const message = `The account has ${MOST_OPEN} open invitations, the maximum. Revoke some, or wait until some are accepted or expire.`;
    throw new AppError('CONFLICT', message);
  }

  return {
    /**
     * Invites a person to the account that the request is about.
     * @throws AppError REQUEST_INVALID; CONFLICT if the organization already has the e-mail address; FORBIDDEN for a role above the
     * caller's
     */
    create: async (inviter: Principal, { email, roles: given, expiresIn = EXPIRES_IN }: NewInvitation) => {
      const { accountId, userId: inviterId } = inviter;
      assertAllStorable({ email });
      const roles = readRoles(given ?? DEFAULT_ROLES);
      const id = await store.nextId();
      const key = random.bytes(KEY_BYTES).toString('base64url');
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + expiresIn * 1000);
      const row = { accountId, id, inviterId, emailAddress: email, roles, createdAt, expiresAt };
      const insert = async (via: Knex.Transaction) => {
        await users.assertMayAdd(via, inviter, { accountId, email, roles });
        await assertRoom(via, accountId);
        return store.insert(via, { ...row, keyHash: keys.lookupHash(key) });
      };
      const invitation = await changeInTurn(knex, insert, toAudit);
      return { invitation, url: `${publicUrl()}${INVITATION_PATH}#${key}` };
    },

    /**
     * Lists invitations from old to new.
     * @throws AppError WHERE_SYNTAX, WHERE_INVALID
     */
    list: (accountId: number, query: PageQuery) =>
      listPage(FILTERABLE_INVITATION, query, (selection) =>
        shares.list(accountId, (via) => createInvitationStore(via).list(accountId, selection)),
      ),

    /**
     * Revokes an invitation.
     * @throws AppError NOT_FOUND; CONFLICT for an invitation that has ended
     */
    revoke: async (accountId: number, id: number) => {
      const found = await store.find({ accountId, id });
      if (found === undefined) throw missing('invitation', id);
      const endedAt = now();
      const revoke = async (via: Knex) => {
        if (!(await store.revoke(via, found, endedAt))) throw alreadyEnded(id);
        return { ...found, status: 'revoked', endedAt } as const;
      };
      return changeInTurn(knex, revoke, toAudit);
    },

    /**
     * Returns the public facts of an invitation.
     * @throws AppError NOT_FOUND
     */
    show: async (key: string) => {
      const { invitation } = await open(key);
      return { invitation, names: await store.findNames(invitation) };
    },

    /**
     * Returns the user who created an invitation, for the audit log.
     * @throws AppError NOT_FOUND
     */
    findInviter: async (key: string) => (await open(key)).inviter,

    /**
     * Makes the invited person a user, exactly once however many requests arrive at the same time.
     * @throws AppError NOT_FOUND; REQUEST_INVALID for the password; CONFLICT if the organization has the e-mail address by now; FORBIDDEN
     * for a role that is above the inviter's by now
     */
    accept: async (key: string, chosen: JoiningPerson) => {
      const { invitation, inviter } = await open(key);
      const { emailAddress: email, roles, accountId } = invitation;
      const work = async (via: Knex, userId: number) => {
        if (!(await store.accept(via, invitation, userId, now()))) throw noInvitation();
      };
      const noted = { invitation: invitation.id };
      const { user } = await users.create(inviter, accountId, { ...chosen, email, roles }, { work, noted });
      return user;
    },

    /** Deletes a batch of an account's invitations. */
    removeSome: store.removeSome,
    /**
     * Deletes the invitations that had ended 30 days before the given time.
     * @returns the number of deleted invitations
     */
    purge: (at: Date) => store.purge(new Date(at.getTime() - KEPT_MS)),
  };
}

/** Returns the current status, because the expiry of an invitation is not written. */
export function statusOf({ status, expiresAt }: InvitationRow, nowMs: number): InvitationRow['status'] | 'expired' {
  return status === 'open' && expiresAt.getTime() <= nowMs ? 'expired' : status;
}

/** Returns the values for the audit log. */
function toAudit({ id, emailAddress, accountId, roles, expiresAt }: InvitationRow) {
  return {
    targetId: String(id),
    changes: { email: emailAddress, accountId, roles, expiresAt: expiresAt.toISOString() },
  };
}

/** The same error in all cases, so that it does not show which invitations exist. */
function noInvitation(): AppError {
  const message = 'This invitation was used or revoked, has expired, or its link is incomplete. Ask for a new one.';
  return new AppError('NOT_FOUND', message);
}

function alreadyEnded(id: number): AppError {
  return new AppError('CONFLICT', `Invitation ${id} was accepted, revoked, or has expired.`);
}
