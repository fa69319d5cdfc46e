import { AppError } from '../../errors.ts';

export type ByteBudget = ReturnType<typeof createByteBudget>;

/** What one request holds of the memory for responses of providers. */
export type Hold = ReturnType<ByteBudget['open']>;

/** One account may hold half of it, so that there is always room for the others. */
const ACCOUNT_SHARE = 0.5;

/** The memory of this process for responses of providers, shared by all accounts. */
export function createByteBudget(maxBytes: number) {
  const accounts = new Map<number | undefined, AccountBytes>();
  const maxAccountBytes = maxBytes * ACCOUNT_SHARE;
  let held = 0;

  return {
    heldBytes: () => held,
    /** For an account, by its id; undefined stands for all that are not known. */
    open: (account: number | undefined) => {
      const ofAccount = accounts.get(account) ?? { bytes: 0, holds: 0 };
      accounts.set(account, ofAccount);
      ofAccount.holds++;
      let own = 0;
      let isOpen = true;
      const change = (bytes: number) => {
        if (!isOpen) return;
        own += bytes;
        held += bytes;
        ofAccount.bytes += bytes;
      };
      return {
        /** @returns false when there is no room, and nothing was taken */
        take: (bytes: number): boolean => {
          if (isOpen && (held + bytes > maxBytes || ofAccount.bytes + bytes > maxAccountBytes)) return false;
          change(bytes);
          return true;
        },
        give: (bytes: number) => change(-Math.min(bytes, own)),
        /** What is held now. */
        held: () => own,
        /** All that is held from here on. */
        keep: (bytes: number) => change(bytes - own),
        /** Gives everything back; what is taken later does not count. */
        close: () => {
          if (!isOpen) return;
          change(-own);
          isOpen = false;
          ofAccount.holds--;
          if (ofAccount.holds === 0) accounts.delete(account);
        },
      };
    },
  };
}

/** The memory that the open holds of an account have together. */
interface AccountBytes {
  bytes: number;
  holds: number;
}

/** Other responses end within seconds. */
const RETRY_AFTER_SECONDS = 2;

export function noRoom(cause?: unknown): AppError {
  return new AppError(
    'OVERLOADED',
    "The service has no memory left for the provider's response at the moment. Try again later, or request less: fewer fields, a smaller pageSize, a narrower filter.",
    { retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );
}
