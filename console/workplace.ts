import { useEffect, useState } from 'preact/hooks';
import { ApiError, api, ask, type Session, workIn } from './api.ts';
import { type Loaded, useLoad } from './load.ts';

type Account = Session['account'];

/** The account that the user works in, and how he goes to another one. */
export interface Workplace extends Pick<Loaded<Account>, 'error' | 'reload'> {
  /** Undefined until it is known. */
  readonly account: Account | undefined;
  readonly choose: (accountId: number | undefined) => void;
}

/** Kept for the tab: a reload works in the same account, another tab in the own one. */
const KEY = 'account';

export function useWorkplace({ account: own, privileges }: Session): Workplace {
  const [id, setId] = useState(privileges.includes('manageOrganization') ? readKept() : undefined);
  // Before a page requests anything.
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

/** Called after the log-out, so that the next user begins in the own account. */
export function forgetWorkplace(): void {
  sessionStorage.removeItem(KEY);
  workIn(undefined);
}

function readKept(): number | undefined {
  const kept = sessionStorage.getItem(KEY);
  return kept === null ? undefined : Number(kept);
}
