import type { Clock } from '../../clock.ts';
import type { SimulatorMemory } from '../contract.ts';

/** A token and its end. */
export interface Token {
  readonly text: string;
  /** Undefined: it has none. */
  readonly untilMs?: number;
}

/** What a user allowed a client, and the tokens that it got for it. */
export interface Session {
  readonly clientId: string;
  readonly scope: string;
  /** The newest last: those in front of it were rotated and are in their grace. None where the scope gives none. */
  readonly refreshTokens: readonly Token[];
  /** When the newest refresh token was issued. */
  readonly refreshedMs: number;
  readonly accessTokens: readonly Token[];
}

export interface Sessions {
  readonly open: (session: Session) => void;
  /** By a token that has not ended. */
  readonly findByRefresh: (text: string) => Session | undefined;
  readonly findByAccess: (text: string) => Session | undefined;
  /** Undefined ends it. */
  readonly replace: (old: Session, changed: Session | undefined) => void;
  /** Refresh tokens stay good. */
  readonly endAll: () => void;
}

/** The oldest go first. */
const MAX_SESSIONS = 1000;
const MAX_ACCESS_TOKENS = 50;

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

/** What is no session is left out: the file may be of another version. */
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
