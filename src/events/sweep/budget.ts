import type { Dispatcher } from '../push/dispatch.ts';

/** What one claim may bring into memory of each account. */
export interface Budget {
  /** @returns how many of them, at most all */
  readonly take: (accountId: number, wanted: number) => number;
}

export function createBudget({ accountRoom, wantRoom }: Pick<Dispatcher, 'accountRoom' | 'wantRoom'>): Budget {
  const left = new Map<number, number>();
  return {
    take: (accountId, wanted) => {
      const room = left.get(accountId) ?? accountRoom(accountId);
      const taken = Math.min(room, wanted);
      left.set(accountId, room - taken);
      if (taken < wanted) wantRoom(accountId);
      return taken;
    },
  };
}
