import { AppError } from '../../errors.ts';

/** What one request holds of the memory for responses of providers. */
export interface Hold {
  /** @returns false when there is no room, and nothing was taken */
  readonly take: (bytes: number) => boolean;
  readonly give: (bytes: number) => void;
  /** What is held now. */
  readonly held: () => number;
  /** All that is held from here on. */
  readonly keep: (bytes: number) => void;
  /** Gives everything back; what is taken later does not count. */
  readonly close: () => void;
}

/** The memory of this process for responses of providers, shared by all accounts. */
export interface ByteBudget {
  /** For an account, by its id; undefined stands for all that are not known. */
  readonly open: (account: number | undefined) => Hold;
  readonly heldBytes: () => number;
}

/** One account may hold half of it, so that there is always room for the others. */
const ACCOUNT_SHARE = 0.5;

export function createByteBudget(maxBytes: number): ByteBudget {
  const heldBy = new Map<number | undefined, number>();
  const maxAccountBytes = maxBytes * ACCOUNT_SHARE;
  let held = 0;

  function add(account: number | undefined, bytes: number): void {
    held += bytes;
    const rest = (heldBy.get(account) ?? 0) + bytes;
    if (rest > 0) heldBy.set(account, rest);
    else heldBy.delete(account);
  }

  return {
    heldBytes: () => held,
    open: (account) => {
      let own = 0;
      let isOpen = true;
      const change = (bytes: number) => {
        if (!isOpen) return;
        own += bytes;
        add(account, bytes);
      };
      const hasRoom = (bytes: number) =>
        held + bytes <= maxBytes && (heldBy.get(account) ?? 0) + bytes <= maxAccountBytes;
      return {
        take: (bytes) => {
          if (isOpen && !hasRoom(bytes)) return false;
          change(bytes);
          return true;
        },
        give: (bytes) => change(-Math.min(bytes, own)),
        held: () => own,
        keep: (bytes) => change(bytes - own),
        close: () => {
          change(-own);
          isOpen = false;
        },
      };
    },
  };
}

/** Other responses end within seconds. */
const RETRY_AFTER_SECONDS = 2;

export function noRoom(cause?: unknown): AppError {
  return new AppError(
    'OVERLOADED',
    "There is no room at the moment for the provider's answer: others, or other calls of this account, take it up. Try again later, or ask for less: fewer fields, a smaller pageSize, a narrower filter.",
    { retryAfterSeconds: RETRY_AFTER_SECONDS, cause },
  );
}
