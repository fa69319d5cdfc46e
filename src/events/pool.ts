/** Something of which there is only so much, shared by all accounts. Amounts are counts or bytes. */
export interface Pool {
  /** What this account may take now, at least 0. */
  readonly room: (accountId: number) => number;
  /** What it has. */
  readonly usedBy: (accountId: number) => number;
  /** Below 0 when more was taken than there was room for. */
  readonly free: () => number;
  /** Default 1. Whoever must is not refused. */
  readonly take: (accountId: number, amount?: number) => void;
  readonly give: (accountId: number, amount?: number) => void;
}

/** Kept for accounts that have little. */
const RESERVED_SHARE = 1 / 4;
/** What every account may have whatever the others do. */
const ASSURED_SHARE = 1 / 128;
/** Beyond it an account may have so many times what is left outside the reserve. */
const GREED = 2;

/**
 * Shares by what is left. An account that is alone gets half of the whole, because then the other half is free, of which half is the reserve;
 * the more accounts take much, the less each gets, and none has to give anything back. Up to 32 accounts that take all they can leave every
 * other one its assured share.
 */
export function createPool(total: number): Pool {
  const reserved = Math.floor(total * RESERVED_SHARE);
  const assured = Math.max(1, Math.floor(total * ASSURED_SHARE));
  const uses = new Map<number, number>();
  let free = total;

  const usedBy = (accountId: number): number => uses.get(accountId) ?? 0;

  function change(accountId: number, amount: number): void {
    free -= amount;
    const used = usedBy(accountId) + amount;
    if (used === 0) uses.delete(accountId);
    else uses.set(accountId, used);
  }

  return {
    room: (accountId) => {
      const used = usedBy(accountId);
      // The largest amount after which it has at most GREED times what is then left outside the reserve.
      const fair = Math.floor((GREED * (free - reserved) - used) / (GREED + 1));
      return Math.max(0, fair, Math.min(free, assured - used));
    },
    usedBy,
    free: () => free,
    take: (accountId, amount = 1) => change(accountId, amount),
    give: (accountId, amount = 1) => change(accountId, -amount),
  };
}
