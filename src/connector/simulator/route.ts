import type { IncomingHttpHeaders } from 'node:http';
import type { Body } from './body.ts';
import { fault } from './fault.ts';
import type { SimulatedResponse } from './response.ts';

/** A request to a simulator in its parts. */
export interface Call {
  readonly method: string;
  /** The path, still encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The query as it was sent, with its question mark, for providers that do not read `+` as a blank. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  /** The host that the caller meant (RFC 7239), in lower case. Undefined for a request to the simulator itself. */
  readonly host: string | undefined;
  /** The address of the provider as the caller sees it, without a slash at the end, for absolute links in responses. */
  readonly origin: string;
  readonly body: Body;
  /** The decoded values of the braces in the route's template. */
  readonly params: Readonly<Record<string, string>>;
  /** Whether a list must return the requested position as the next one, like a provider that runs in a circle. */
  readonly isStuck: boolean;
}

/** Responds to a request. */
export type RouteHandler = (call: Call) => SimulatedResponse | Promise<SimulatedResponse>;

/**
 * Handlers by method and path template: `GET /employees/{id}`. Braces match one segment, decoded. With a star (`{rest*}`) they match the
 * rest of the path, still encoded. A slash at the end of a path is ignored. The first match is used.
 */
export type Routes = Readonly<Record<string, RouteHandler>>;

interface Template {
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

interface Route extends Template {
  readonly handler: RouteHandler;
}

/** Finds the handler of a request. */
export interface Router {
  /** Returns whether a template matches, whatever the method is. */
  readonly has: (path: string) => boolean;
  /**
   * Responds to a request.
   * @throws Fault 404 where no template matches, 405 where one matches for other methods, 400 for an invalid encoding
   */
  readonly dispatch: RouteHandler;
}

/** Creates a router. */
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

/**
 * Returns a function that finds the key (`GET /employees/{id}`) that matches a request. Where several match, it is the one with the fewest
 * braces, and then the longest: `/files/{id}:data` before `/files/{id}`.
 */
export function createRouteFinder(
  keys: readonly string[],
): (request: Pick<Call, 'method' | 'path'>) => string | undefined {
  const templates = keys.map((key) => ({ key, ...compileTemplate(key) }));
  templates.sort((a, b) => a.names.length - b.names.length || b.key.length - a.key.length);
  return ({ method, path }) => templates.find((each) => each.method === method && each.pattern.test(path))?.key;
}

function compileRoute([key, handler]: [string, RouteHandler]): Route {
  return { ...compileTemplate(key), handler };
}

function compileTemplate(key: string): Template {
  const [method = '', template = ''] = key.split(' ');
  const names: string[] = [];
  const source = template.split(/(\{\w+\*?\})/).map((piece) => {
    const [, name, star] = /^\{(\w+)(\*?)\}$/.exec(piece) ?? [];
    if (name === undefined) return piece.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
    names.push(name + star);
    return star === '*' ? '(.*)' : '([^/]+)';
  });
  return { method, names, pattern: new RegExp(`^${source.join('')}/?$`, 's') };
}

function readParams(names: readonly string[], values: readonly string[]): Call['params'] {
  return Object.fromEntries(
    names.map((name, index) => {
      const value = values[index] ?? '';
      return name.endsWith('*') ? [name.slice(0, -1), value] : [name, decode(value)];
    }),
  );
}

/**
 * Returns a handler that only responds to requests for one of these hosts, or for the simulator itself.
 * @throws Fault (the handler) 404
 */
export function atHosts(hosts: readonly string[], handler: RouteHandler): RouteHandler {
  return (call) => {
    assertHost(hosts, call);
    return handler(call);
  };
}

/** @throws Fault 404 for a call that is meant for another host */
export function assertHost(hosts: readonly string[], { host, path }: Call): void {
  if (host !== undefined && !hosts.includes(host)) throw fault(404, `There is nothing at ${host}${path}.`);
}

/**
 * Decodes a percent-encoded text.
 * @throws Fault 400 for an invalid encoding
 */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw fault(400, `'${text}' is not encoded as a URL is.`);
  }
}
