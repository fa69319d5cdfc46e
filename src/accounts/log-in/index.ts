import type { Platform } from '../../platform.ts';
import { createPasswords, type PasswordParts, type Passwords } from './passwords.ts';
import { type ConsoleSessions, createSessions } from './sessions.ts';

/** Log-in to the console. */
export interface LogIn {
  readonly passwords: Passwords;
  readonly sessions: ConsoleSessions;
  /** Deletes what was over at that time. @returns how many rows */
  readonly purge: (at: Date) => Promise<number>;
}

export function composeLogIn(platform: Platform, parts: PasswordParts): LogIn {
  const passwords = createPasswords(platform, parts);
  const sessions = createSessions(platform, parts.principals);
  return {
    passwords,
    sessions,
    purge: async (at) => (await passwords.purge(at)) + (await sessions.purge(at)),
  };
}
