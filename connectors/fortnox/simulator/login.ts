import { randomUUID } from 'node:crypto';
import {
  type Answer,
  type Call,
  Fault,
  type Guard,
  json,
  type RouteHandler,
  type Routes,
  readBearer,
  type SimulatorMemory,
} from '#connector/simulator';
import { badLogin, noLogin } from './faults.ts';

const HOST = 'api.fortnox.se';

export const CLIENT_SECRET = 'demo-client-secret';
/** Good from the start, for those who test something else than the login. */
export const ACCESS_TOKEN = 'demo-access-token';
/** Each start takes every code that begins with `demo-` once. */
export const DEMO_AUTHORIZATION_CODE = 'demo-authorization-code';

/** The flow before OAuth: a code of the user becomes a token without an end. */
export interface Login {
  readonly authenticate: Guard;
  /** The same routes, of which each GET that comes with a code answers a token instead. */
  readonly exchanging: (routes: Routes) => Routes;
  /** As when the user removes the integration. */
  readonly deactivate: () => void;
}

/** @param deactivatesOnReuse whether a code that is shown twice also ends the token that it was exchanged for */
export function createLogin(memory: SimulatorMemory | undefined, deactivatesOnReuse: boolean): Login {
  const byCode = new Map<string, string>();
  let tokens = new Set([ACCESS_TOKEN, ...readTokens(memory?.load())]);

  function keep(changed: ReadonlySet<string>): void {
    tokens = new Set(changed);
    memory?.save({ tokens: [...tokens] });
  }

  /** @throws Fault 403 */
  function exchange({ headers }: Call, code: string): Answer {
    if (headers['client-secret'] !== CLIENT_SECRET || !code.startsWith('demo-')) throw badLogin();
    const issued = byCode.get(code);
    if (issued !== undefined) {
      if (deactivatesOnReuse) keep(tokens.difference(new Set([issued])));
      throw badLogin();
    }
    const token = randomUUID();
    byCode.set(code, token);
    keep(tokens.union(new Set([token])));
    return json({ Authorization: { AccessToken: token } });
  }

  return {
    authenticate: (call) => {
      if ((call.host ?? HOST) !== HOST) throw new Fault(404, 'NOT_FOUND', 'Not Found');
      if (isExchange(call)) return;
      const { authorization, 'access-token': token, 'client-secret': secret } = call.headers;
      const bearer = readBearer(authorization);
      if (bearer !== undefined) {
        if (tokens.has(bearer)) return;
        throw new Fault(401, 'UNAUTHORIZED', 'unauthorized');
      }
      if (token === undefined || secret === undefined) throw noLogin();
      if (!tokens.has(String(token)) || secret !== CLIENT_SECRET) throw badLogin();
    },
    exchanging: (routes) =>
      Object.fromEntries(
        Object.entries(routes).map(([route, handle]): [string, RouteHandler] => [
          route,
          (call) => (isExchange(call) ? exchange(call, String(call.headers['authorization-code'])) : handle(call)),
        ]),
      ),
    deactivate: () => keep(new Set()),
  };
}

function isExchange({ method, headers }: Call): boolean {
  return method === 'GET' && headers['authorization-code'] !== undefined;
}

function readTokens(saved: unknown): readonly string[] {
  const tokens: unknown = Object(saved).tokens;
  return Array.isArray(tokens) ? tokens.map(String) : [];
}
