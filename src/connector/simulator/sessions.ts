import type { Clock } from '../../clock.ts';
import type { SimulatorMemory } from '../contract.ts';

/** A token and its expiry. */
export interface Token {
  readonly text: string;
  /** The expiry in milliseconds since 1970. Undefined if it does not expire. */
  readonly untilMs?: number;
}

/** The access that a user granted to a client, and its tokens. */
export interface Session {
  readonly clientId: string;
  readonly scope: string;
  /**
   * The refresh tokens, the newest last. Those before it were rotated and are in their grace period. Empty where the scope includes none.
   */
  readonly refreshTokens: readonly Token[];
  /** The time when the newest refresh token was issued, in milliseconds since 1970. */
  readonly refreshedMs: number;
  readonly accessTokens: readonly Token[];
}

/** The sessions of a simulated provider. */
export interface Sessions {
  readonly open: (session: Session) => void;
  /** Finds a session by a refresh token that has not expired. */
  readonly findByRefresh: (text: string) => Session | undefined;
  readonly findByAccess: (text: string) => Session | undefined;
  /** Replaces a session. `undefined` ends it. */
  readonly replace: (old: Session, changed: Session | undefined) => void;
  /** Ends all access tokens. Refresh tokens stay valid. */
  readonly endAll: () => void;
}

/** The oldest sessions are dropped first. */
const MAX_SESSIONS = 1000;
const MAX_ACCESS_TOKENS = 50;

/** Creates a store of sessions. */
export function createSessions(memory: SimulatorMemory | undefined, clock: Clock): Sessions {
  const byRefresh = new Map<string, Session>();
  const byAccess = new Map<string, Session>();
  let sessions: readonly Session[] = [];
  index(readSessions(memory?.load()));

  function index(changed: readonly Session[]): void {
    sessions = changed.slice(-MAX_SESSIONS);
    byRefresh.clear();
    byAccess.clear();
    for (const session of sessions) {
      for (const { text } of session.refreshTokens) byRefresh.set(text, session);
      for (const { text } of session.accessTokens) byAccess.set(text, session);
    }
  }

  function change(changed: readonly Session[]): void {
    index(changed.map(trim));
    memory?.save({ sessions });
  }

  function trim(session: Session): Session {
    const accessTokens = session.accessTokens.filter(isGood).slice(-MAX_ACCESS_TOKENS);
    return { ...session, accessTokens, refreshTokens: session.refreshTokens.filter(isGood) };
  }

  function isGood({ untilMs = Number.POSITIVE_INFINITY }: Token): boolean {
    return clock.now() < untilMs;
  }

  function find(by: ReadonlyMap<string, Session>, list: 'refreshTokens' | 'accessTokens') {
    return (text: string) => {
      const session = by.get(text);
      return session?.[list].some((token) => token.text === text && isGood(token)) === true ? session : undefined;
    };
  }

  return {
    open: (session) => change([...sessions, session]),
    findByRefresh: find(byRefresh, 'refreshTokens'),
    findByAccess: find(byAccess, 'accessTokens'),
    replace: (old, changed) => change(sessions.flatMap((each) => (each === old ? (changed ?? []) : each))),
    endAll: () => change(sessions.map((session) => ({ ...session, accessTokens: [] }))),
  };
}

/** Leaves out anything that is no session, because the file may have another version. */
function readSessions(saved: unknown): readonly Session[] {
  const { sessions }: Readonly<Record<string, unknown>> = Object(saved);
  return Array.isArray(sessions) ? sessions.filter(isSession) : [];
}

function isSession(value: unknown): value is Session {
  const session: Readonly<Record<string, unknown>> = Object(value);
  const { clientId, scope, refreshedMs, refreshTokens, accessTokens } = session;
  return (
    typeof clientId === 'string' &&
    typeof scope === 'string' &&
    typeof refreshedMs === 'number' &&
    isTokens(refreshTokens) &&
    isTokens(accessTokens)
  );
}

function isTokens(value: unknown): value is readonly Token[] {
  return Array.isArray(value) && value.every((token) => typeof Object(token).text === 'string');
}
