import { useState } from 'preact/hooks';
import { api, ask, askPage, type Schemas } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { Invite } from './invite.tsx';
import { useUserNames } from './names.ts';

type Invitation = Schemas['Invitation'];

const PAGE_SIZE = 50;
const OPEN = "status = 'open'";

interface InvitationsProps {
  /** Whether the dialog for an invitation is open. */
  readonly isInviting: boolean;
  readonly onClose: () => void;
}

/** Lists the open invitations of the account. */
export function Invitations({ isInviting, onClose }: InvitationsProps) {
  const [revoked, setRevoked] = useState<Invitation>();
  const list = usePages((nextPage, signal) => {
    const query = { where: OPEN, pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) };
    return askPage(api.GET('/organizations/me/invitations', { signal, params: { query } }));
  }, []);
  const inviters = useUserNames((list.value?.rows ?? []).map(({ invitedBy }) => invitedBy));
  const columns: readonly Column<Invitation>[] = [
    { title: 'E-mail', cell: ({ email }) => email },
    { title: 'Roles', isMinor: true, cell: ({ roles }) => roles.join(', ') },
    { title: 'Invited by', isMinor: true, cell: ({ invitedBy }) => inviters.get(invitedBy) ?? `user ${invitedBy}` },
    { title: 'Expires', cell: ({ expiresDate }) => <Time at={expiresDate} /> },
    {
      title: 'Actions',
      cell: (invitation) => (
        <button
          type="button"
          class="plain"
          aria-label={`Revoke the invitation of ${invitation.email}`}
          onClick={() => setRevoked(invitation)}
        >
          Revoke
        </button>
      ),
    },
  ];
  return (
    <>
      <Show loaded={list} lines={2}>
        {({ rows }) =>
          rows.length > 0 && (
            <section class="stack tight" aria-label="Invitations">
              <h2>Invitations</h2>
              <Table label="Open invitations" columns={columns} rows={rows} keyOf={({ id }) => id} />
            </section>
          )
        }
      </Show>
      <Pager {...list} />
      {isInviting && <Invite onInvited={list.reload} onClose={onClose} />}
      {revoked !== undefined && (
        <Revoke invitation={revoked} onRevoked={list.reload} onClose={() => setRevoked(undefined)} />
      )}
    </>
  );
}

interface RevokeProps {
  readonly invitation: Invitation;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function Revoke({ invitation: { id, email }, onRevoked, onClose }: RevokeProps) {
  const revoke = async () => {
    await ask(api.DELETE('/organizations/me/invitations/{id}', { params: { path: { id } } }));
    onRevoked();
  };
  return (
    <Confirm title="Revoke the invitation?" action="Revoke it" onConfirm={revoke} onClose={onClose}>
      <p>The link that {email} has stops working. You can invite the same person again.</p>
    </Confirm>
  );
}
