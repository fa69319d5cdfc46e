import type { SimulatorMemory } from '#connector';

/** What a user allowed a client, and the tokens that it got for it. */
export interface Session {
  readonly clientId: string;
  readonly scope: string;
  /** Undefined where the scope has none. */
  readonly refreshToken?: string | undefined;
  readonly accessTokens: readonly string[];
}

export interface Sessions {
  readonly open: (session: Session) => void;
  readonly find: (refreshToken: string) => Session | undefined;
  readonly findByAccess: (accessToken: string) => Session | undefined;
  /** Undefined ends it. */
  readonly replace: (old: Session, changed: Session | undefined) => void;
  /** Refresh tokens stay good. */
  readonly endAll: () => void;
}

/** The oldest go first. */
const MAX_SESSIONS = 1000;
const MAX_ACCESS_TOKENS = 50;

export function createSessions(memory: SimulatorMemory | undefined): Sessions {
  const byRefresh = new Map<string, Session>();
  const byAccess = new Map<string, Session>();
  let sessions: readonly Session[] = [];
  index(readSessions(memory?.load()));

  function index(changed: readonly Session[]): void {
    sessions = changed.slice(-MAX_SESSIONS);
    byRefresh.clear();
    byAccess.clear();
    for (const session of sessions) {
      if (session.refreshToken !== undefined) byRefresh.set(session.refreshToken, session);
      for (const accessToken of session.accessTokens) byAccess.set(accessToken, session);
    }
  }

  function change(changed: readonly Session[]): void {
    index(changed.map((session) => ({ ...session, accessTokens: session.accessTokens.slice(-MAX_ACCESS_TOKENS) })));
    memory?.save({ sessions });
  }

  return {
    open: (session) => change([...sessions, session]),
    find: (refreshToken) => byRefresh.get(refreshToken),
    findByAccess: (accessToken) => byAccess.get(accessToken),
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
  const { clientId, scope, refreshToken, accessTokens }: Readonly<Record<string, unknown>> = Object(value);
  return (
    typeof clientId === 'string' &&
    typeof scope === 'string' &&
    (refreshToken === undefined || typeof refreshToken === 'string') &&
    Array.isArray(accessTokens) &&
    accessTokens.every((token) => typeof token === 'string')
  );
}
