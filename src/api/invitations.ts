import type { InvitationRow } from '../accounts/invitation-store.ts';
import { statusOf } from '../accounts/invitations.ts';
import type { TokenBuckets } from '../http/rate-limits.ts';
import { networkOf } from '../http/remote-address.ts';
import type { Platform } from '../platform.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationResult } from './operation.ts';
import { respondWithPage } from './page-tokens.ts';

type InvitationView = OperationResult<'revokeInvitation'>;

export function createInvitationHandlers(
  { invitations }: ApiServices,
  { keys, clock }: Platform,
  /** Rate limits, per network, for requests with the key of an invitation. */
  requests: TokenBuckets,
) {
  const toRecord = (invitation: InvitationRow) => toInvitationView(invitation, clock.now());

  return {
    createInvitation: async ({ principal, body }) => {
      const { invitation, url } = await invitations.create(principal, body);
      return { body: { ...toRecord(invitation), url } };
    },

    listInvitations: ({ principal: { accountId }, ...request }) =>
      respondWithPage(keys, request, {
        context: ['invitations', accountId, request.query.where],
        read: (page) => invitations.list(accountId, page),
        toView: toRecord,
      }),

    revokeInvitation: async ({ principal, path }) => ({
      body: toRecord(await invitations.revoke(principal.accountId, path.id)),
    }),

    showInvitation: async ({ body, address }) => {
      requests.take(networkOf(address));
      const { invitation, names } = await invitations.show(body.token);
      const { emailAddress: email, expiresAt } = invitation;
      return { body: { email, ...names, expiresDate: expiresAt.toISOString() } };
    },

    acceptInvitation: async ({ body: { token, ...chosen }, address, runAs }) => {
      requests.take(networkOf(address));
      return runAs(await invitations.findInviter(token), async () => {
        const { id, organizationId, emailAddress: email } = await invitations.accept(token, chosen);
        return { body: { userId: id, organizationId, email } };
      });
    },
  } satisfies Partial<Handlers>;
}

function toInvitationView(invitation: InvitationRow, nowMs: number): InvitationView {
  const { id, accountId, emailAddress, roles, inviterId, userId, createdAt, expiresAt, endedAt } = invitation;
  return {
    id,
    email: emailAddress,
    accountId,
    roles: [...roles],
    status: statusOf(invitation, nowMs),
    invitedBy: inviterId,
    ...(userId !== null && { userId }),
    createdDate: createdAt.toISOString(),
    expiresDate: expiresAt.toISOString(),
    ...(endedAt !== null && { endedDate: endedAt.toISOString() }),
  };
}
