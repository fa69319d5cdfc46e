import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from './answer.ts';
import type { Body } from './body.ts';
import { fault } from './fault.ts';

/** A request, taken apart. */
export interface Call {
  readonly method: string;
  /** Still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** As it was sent, with its question mark: for providers that do not take `+` for a blank. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** The host that the caller meant (RFC 7239), in lower case; undefined when it called the simulator as such. */
  readonly host: string | undefined;
  /** Where the caller takes itself to be, without a slash at the end: for absolute links in answers. */
  readonly origin: string;
  readonly body: Body;
  /** What the braces of the route's template matched, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** A list is asked to answer the position it was given as the next one: a provider that runs in a circle. */
  readonly isStuck: boolean;
}

export type RouteHandler = (call: Call) => Answer | Promise<Answer>;

/**
 * By method and path template: `GET /employees/{id}`. Braces match one segment, decoded; with a star behind the name
 * (`{rest*}`) all that is left, as it was sent. A slash at the end of a path does not count. The first that matches is taken.
 */
export type Routes = Readonly<Record<string, RouteHandler>>;

interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly handler: RouteHandler;
}

export interface Router {
  /** Whether a template matches, whatever the method. */
  readonly has: (path: string) => boolean;
  /** @throws Fault 404 where no template matches, 405 where one does for other methods, 400 for a bad encoding */
  readonly dispatch: RouteHandler;
}

export function createRouter(routes: Routes): Router {
  const compiled = Object.entries(routes).map(compileRoute);
  const has: Router['has'] = (path) => compiled.some(({ pattern }) => pattern.test(path));
  const dispatch: RouteHandler = (call) => {
    for (const route of compiled) {
      const match = route.method === call.method ? route.pattern.exec(call.path) : null;
      if (match !== null) return route.handler({ ...call, params: readParams(route.names, match.slice(1)) });
    }
    const methods = compiled.filter(({ pattern }) => pattern.test(call.path)).map(({ method }) => method);
    if (methods.length === 0) throw fault(404, `There is nothing at ${call.path}.`);
    const allow = [...new Set(methods)].join(', ');
    throw fault(405, `${call.method} is not supported here, but ${allow}.`, { headers: { allow } });
  };
  return { has, dispatch };
}

function compileRoute([key, handler]: [string, RouteHandler]): Route {
  const [method = '', template = ''] = key.split(' ');
  const names: string[] = [];
  const source = template.split(/(\{\w+\*?\})/).map((piece) => {
    const [, name, star] = /^\{(\w+)(\*?)\}$/.exec(piece) ?? [];
    if (name === undefined) return piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
    names.push(name + star);
    return star === '*' ? '(.*)' : '([^/]+)';
  });
  return { method, names, handler, pattern: new RegExp(`^${source.join('')}/?$`, 's') };
}

function readParams(names: readonly string[], values: readonly string[]): Call['params'] {
  return Object.fromEntries(
    names.map((name, index) => {
      const value = values[index] ?? '';
      return name.endsWith('*') ? [name.slice(0, -1), value] : [name, decode(value)];
    }),
  );
}

/** A handler for callers that meant one of these hosts, or the simulator as such. @throws Fault (the handler) 404 */
export function atHosts(hosts: readonly string[], handler: RouteHandler): RouteHandler {
  return (call) => {
    if (call.host === undefined || hosts.includes(call.host)) return handler(call);
    throw fault(404, `There is nothing at ${call.host}${call.path}.`);
  };
}

/** @throws Fault 400 */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault(400, `'${text}' is not encoded as a URL is.`);
  }
}
