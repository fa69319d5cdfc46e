import type { ServerResponse } from 'node:http';
import type { ByteBudget, Hold } from '../connector/client/index.ts';

/** Everyday bodies are smaller. They are not counted, and not worked on in steps. */
export const LARGE_BYTES = 64 * 1024;

/** The memory for one body. */
export interface BodyRoom {
  /** @returns false when there is no room for more of it */
  readonly take: (bytes: number) => boolean;
  /** Nothing of the body is kept. */
  readonly give: () => void;
}

export interface BodyRoomInput {
  /** The memory of this process for the bodies of requests, shared by all accounts. */
  readonly budget: ByteBudget;
  /** Undefined stands for all that are not known. */
  readonly account: number | undefined;
  readonly response: ServerResponse;
}

/** A body is counted until its request ends: what it was parsed to takes about as much. */
export function createBodyRoom({ budget, account, response }: BodyRoomInput): BodyRoom {
  let hold: Hold | undefined;
  let size = 0;
  let counted = 0;

  function open(): Hold {
    const opened = budget.open(account);
    if (response.destroyed) opened.close();
    else response.once('close', opened.close);
    return opened;
  }

  return {
    take: (bytes) => {
      size += bytes;
      if (size <= LARGE_BYTES) return true;
      hold ??= open();
      if (!hold.take(size - counted)) return false;
      counted = size;
      return true;
    },
    give: () => hold?.close(),
  };
}
