import type { Platform } from '../../platform.ts';
import { createPasswords, type PasswordParts } from './passwords.ts';
import { createSessions } from './sessions.ts';

/** Log-in to the console. */
export type LogIn = ReturnType<typeof composeLogIn>;

export function composeLogIn(platform: Platform, parts: PasswordParts) {
  const passwords = createPasswords(platform, parts);
  const sessions = createSessions(platform, parts.principals);
  return {
    passwords,
    sessions,
    /** Deletes what was over at that time. @returns how many rows */
    purge: async (at: Date) => (await passwords.purge(at)) + (await sessions.purge(at)),
  };
}
