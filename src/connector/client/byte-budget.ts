import { AppError } from '../../errors.ts';

/** The memory of this process for responses of providers. */
export type ByteBudget = ReturnType<typeof createByteBudget>;

/** The part of the memory that one request holds. */
export type Hold = ReturnType<ByteBudget['open']>;

/** The share that one account may hold, so that there is always room for others. */
const ACCOUNT_SHARE = 0.5;

/** Creates the budget of memory for responses of providers, in bytes. All accounts share it. */
export function createByteBudget(maxBytes: number) {
  const accounts = new Map<number | undefined, AccountBytes>();
  const maxAccountBytes = maxBytes * ACCOUNT_SHARE;
  let held = 0;

  return {
    heldBytes: () => held,
    /** Opens a hold for an account, by its id. `undefined` stands for all unknown accounts. */
    open: (account: number | undefined) => {
      const ofAccount = accounts.get(account) ?? { bytes: 0, holds: 0 };
      accounts.set(account, ofAccount);
      ofAccount.holds++;
      let own = 0;
      let isOpen = true;
      const keep = (bytes: number) => {
        if (!isOpen) return;
        held += bytes - own;
        ofAccount.bytes += bytes - own;
        own = bytes;
      };
      return {
        /**
         * Takes bytes from the budget.
         * @returns false when there is no room; then nothing is taken
         */
        take: (bytes: number): boolean => {
          if (isOpen && (held + bytes > maxBytes || ofAccount.bytes + bytes > maxAccountBytes)) return false;
          keep(own + bytes);
          return true;
        },
        /** Returns bytes to the budget. */
        give: (bytes: number) => keep(Math.max(0, own - bytes)),
        /** Returns the number of bytes held now. */
        held: () => own,
        /** Sets the number of bytes that are held from now on. */
        keep,
        /** Returns all bytes to the budget. Bytes that are taken later do not count. */
        close: () => {
          if (!isOpen) return;
          keep(0);
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

/** Returns the error OVERLOADED for a response for which there is no memory. */
export function noRoom(cause?: unknown): AppError {
  return new AppError(
    'OVERLOADED',
    "The service has no memory left for the provider's response at the moment. Try again later, or request less: fewer fields, a smaller pageSize, a narrower filter.",
    { retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );
}
