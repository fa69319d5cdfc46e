import { useState } from 'preact/hooks';
import { api, askPage, type Session } from './api.ts';
import { useLoad } from './load.ts';
import { Badge } from './parts/badge.tsx';
import { Dialog } from './parts/dialog.tsx';
import { Search } from './parts/search.tsx';
import { Empty, Show } from './parts/show.tsx';
import { containing } from './where-text.ts';
import { useMay, useWho } from './who.ts';

const SHOWN = 12;

/** The button that switches the account. Only users who may manage the organization see it. */
export function AccountSwitch() {
  const [isOpen, setOpen] = useState(false);
  if (!useMay()('manageOrganization')) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Switch account
      </button>
      {isOpen && <AccountDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function AccountDialog({ onClose }: { readonly onClose: () => void }) {
  const { account, workIn } = useWho();
  const [words, setWords] = useState('');
  const where = containing(['name', 'externalId'], words);
  const found = useLoad(
    (signal) =>
      askPage(api.GET('/accounts', { signal, params: { query: { pageSize: SHOWN, ...(where && { where }) } } })),
    [where],
  );
  const choose = (chosen: Session['account']) => {
    onClose();
    workIn(chosen);
  };
  return (
    <Dialog title="Work in another account" onClose={onClose}>
      <p class="soft">Every page shows the data of the account that you work in.</p>
      <Search label="Search accounts by name or external id" value={words} onSettled={setWords} />
      <Show loaded={found}>
        {({ rows, nextPage }) => (
          <>
            {rows.length === 0 && <Empty title="No account matches. Change the search." />}
            <ul class="choices">
              {rows.map(({ id, name, externalId, active }) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-current={id === account.id || undefined}
                    onClick={() => choose({ id, name })}
                  >
                    <span class="grow break">{name}</span>
                    {!active && <Badge tone="warn">inactive</Badge>}
                    <code class="soft break">{externalId}</code>
                  </button>
                </li>
              ))}
            </ul>
            {nextPage !== undefined && <p class="small soft">There are more accounts. Use the search to find one.</p>}
          </>
        )}
      </Show>
    </Dialog>
  );
}

/** Names the account that the user works in, where it is not the user's own. */
export function AccountMark() {
  const { session, account, workIn } = useWho();
  if (account.id === session.account.id) return null;
  return (
    <aside class="note warn elsewhere" aria-label="Account">
      <span class="row apart">
        <span>
          You work in the account <strong>{account.name}</strong>.
        </span>
        <button type="button" class="plain" onClick={() => workIn(undefined)}>
          Back to {session.account.name}
        </button>
      </span>
    </aside>
  );
}
