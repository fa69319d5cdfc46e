import type { Platform } from '../platform.ts';

/** A user on whose behalf this process calls its own API, and the element instance of the call. */
export interface InnerCaller {
  readonly accountId: number;
  readonly userId: number;
  readonly instanceId?: number | undefined;
}

export type InnerCallers = ReturnType<typeof createInnerCallers>;

/** Maximum number of tickets. The oldest are forgotten first; their callers get new ones. */
const MOST_TICKETS = 10_000;
const TICKET_BYTES = 32;

/**
 * Creates tickets, which stand in place of secrets when this process calls its own API: the service stores only hashes of secrets. A ticket
 * names a user and an element instance, is known to this process only, and grants the rights that the user has at the time of the call.
 */
export function createInnerCallers({ random }: Pick<Platform, 'random'>) {
  const tickets = new Map<string, string>();
  const callers = new Map<string, InnerCaller>();

  return {
    /** Returns the value of the `Authorization` header for calls of a caller. */
    authorizationOf: (caller: InnerCaller): string => {
      const key = `${caller.accountId}:${caller.userId}:${caller.instanceId ?? ''}`;
      const known = tickets.get(key);
      if (known !== undefined) return known;
      const ticket = random.bytes(TICKET_BYTES).toString('base64url');
      if (tickets.size >= MOST_TICKETS) {
        const [[oldestKey, oldest] = []] = tickets;
        if (oldestKey !== undefined) tickets.delete(oldestKey);
        if (oldest !== undefined) callers.delete(oldest);
      }
      const authorization = `Inner ${ticket}`;
      tickets.set(key, authorization);
      callers.set(authorization, caller);
      return authorization;
    },
    /** Returns the caller that an `Authorization` header names by its ticket. */
    find: (authorization: string): InnerCaller | undefined => callers.get(authorization),
  };
}
