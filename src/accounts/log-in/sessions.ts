import { changeInTurn } from '../../db/change.ts';
import { AppError } from '../../errors.ts';
import type { Platform } from '../../platform.ts';
import { type FoundPrincipal, toPrincipal } from '../accounts.ts';
import type { PrincipalChanges } from '../principal-changes.ts';
import type { TenantIds } from '../store.ts';
import type { PasswordVersion } from './password-store.ts';
import { createSessionStore, type SessionUser, type StoredSession } from './session-store.ts';

/** A log-in to the console. */
export interface ConsoleSession {
  readonly id: number;
  /** Token by which the console's pages prove that a request is theirs. No cookie contains it. */
  readonly csrfToken: string;
  readonly createdAt: Date;
  /** Time at which the session ends, even if it is in use. */
  readonly endsAt: Date;
}

export interface FoundSession extends FoundPrincipal {
  readonly session: ConsoleSession;
}

const IDLE_MS = 30 * 60_000;
const LONGEST_MS = 8 * 60 * 60_000;
const MOST_OF_A_USER = 20;
const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/**
 * The sessions of the console. They are in the database, so every process knows them and an ended session ends everywhere. A session ends
 * after 8 hours, after 30 minutes without a request, and when its user is deactivated. A user has at most 20 sessions; a new one replaces
 * the oldest, which other processes may accept for another 30 s.
 */
export function createSessions(
  platform: Pick<Platform, 'knex' | 'keys' | 'clock' | 'random'>,
  principals: Pick<PrincipalChanges, 'change'>,
) {
  const { knex, keys, clock, random } = platform;
  const store = createSessionStore(platform);
  const csrfTokenOf = (token: string) => keys.digest(token, 'console_session.csrf').toString('base64url');
  const idleSince = (atMs: number) => new Date(atMs - IDLE_MS);

  return {
    /**
     * Begins a session with a new token.
     * @param password the one that the user logged in with; undefined for a user with a secret
     * @throws AppError UNAUTHENTICATED for a user who was deactivated or deleted meanwhile, or whose password was changed
     */
    begin: async (user: SessionUser, password?: PasswordVersion) => {
      const token = random.bytes(TOKEN_BYTES).toString('base64url');
      const createdAt = new Date(clock.now());
      const times = { createdAt, endsAt: new Date(clock.now() + LONGEST_MS) };
      const id = await changeInTurn(
        knex,
        (via) => store.insert(via, user, password, { token, ...times, most: MOST_OF_A_USER }),
        (made) => ({ targetId: String(made) }),
      );
      return { id, token, csrfToken: csrfTokenOf(token), ...times };
    },

    /** Returns the user of a session, in one statement that also notes its use. Undefined for a session that ended or never existed. */
    find: async (token: string) => {
      const atMs = clock.now();
      const stored = TOKEN.test(token) ? await store.use(token, new Date(atMs), idleSince(atMs)) : undefined;
      return stored && { ...toPrincipal(stored, true, stored.endsAt), session: toSession(stored, csrfTokenOf(token)) };
    },

    /**
     * Ends the session of the request.
     * @throws AppError NOT_FOUND without a session
     */
    end: async (user: TenantIds, session: ConsoleSession | undefined) => {
      if (session === undefined) throw noSession();
      const note = () => ({ targetId: String(session.id) });
      await principals.change(user.organizationId, (via) => store.remove(via, user, session.id), note);
    },

    namesOf: store.findNames,

    /**
     * Deletes the sessions that were over at the given time.
     * @returns the number of deleted sessions
     */
    purge: (at: Date) => store.purge(at, idleSince(at.getTime())),
  };
}

function toSession({ id, createdAt, endsAt }: StoredSession, csrfToken: string): ConsoleSession {
  return { id, csrfToken, createdAt, endsAt };
}

export function noSession(): AppError {
  return new AppError(
    'NOT_FOUND',
    'There is no session: this request was sent with secrets, not with the cookie of the console.',
  );
}
