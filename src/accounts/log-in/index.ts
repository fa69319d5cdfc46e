import type { Platform } from '../../platform.ts';
import { createPasswords, type PasswordParts } from './passwords.ts';
import { createSessions } from './sessions.ts';

/** The service for log-ins to the console. */
export function composeLogIn(platform: Platform, parts: PasswordParts) {
  const passwords = createPasswords(platform, parts);
  const sessions = createSessions(platform, parts.principals);
  return {
    passwords,
    sessions,
    /**
     * Deletes tries, passwords and sessions that were over at the given time.
     * @returns the number of deleted rows
     */
    purge: async (at: Date) => (await passwords.purge(at)) + (await sessions.purge(at)),
  };
}
