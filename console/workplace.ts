import { useEffect, useState } from 'preact/hooks';
import { ApiError, api, ask, type Session, workIn } from './api.ts';
import { type Loaded, useLoad } from './load.ts';

type Account = Session['account'];

/** The account that the user works in, and the function that switches to another one. */
export interface Workplace extends Pick<Loaded<Account>, 'error' | 'reload'> {
  /** The account. Undefined until it has loaded. */
  readonly account: Account | undefined;
  readonly choose: (accountId: number | undefined) => void;
}

/**
 * Key of the account in the session storage of the tab: reloading the page stays in the account, and a new tab begins in the user's own.
 */
const KEY = 'account';

export function useWorkplace({ account: own, privileges }: Session): Workplace {
  const [id, setId] = useState(privileges.includes('manageOrganization') ? readKept() : undefined);
  // Set before a page sends its first request.
  workIn(id);
  const chosen = useLoad(
    async (signal): Promise<Account> =>
      id === undefined ? own : ask(api.GET('/accounts/{id}', { signal, params: { path: { id: String(id) } } })),
    [id],
  );
  const choose = (accountId: number | undefined) => {
    const other = accountId === own.id ? undefined : accountId;
    if (other === undefined) forgetWorkplace();
    else sessionStorage.setItem(KEY, String(other));
    setId(other);
  };
  useEffect(() => () => workIn(undefined), []);
  const isGone = chosen.error instanceof ApiError && chosen.error.status === 404;
  useEffect(() => {
    if (isGone) choose(undefined);
  }, [isGone]);
  const { value, error, reload } = chosen;
  return { account: id === undefined ? own : value, error: isGone ? undefined : error, reload, choose };
}

/** Removes the stored account after a log-out, so that the next user begins in the own account. */
export function forgetWorkplace(): void {
  sessionStorage.removeItem(KEY);
  workIn(undefined);
}

function readKept(): number | undefined {
  const kept = sessionStorage.getItem(KEY);
  return kept === null ? undefined : Number(kept);
}
