import type { Request } from 'express';
import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Connector } from '../connector/contract.ts';
import type { Scope } from './validation.ts';

/** The operations behind one path. */
export interface Route {
  /** Operations by method in capital letters. */
  readonly operations: Readonly<Record<string, OperationId>>;
  /** Returns the decoded parameters of the path, which must be percent-encoded correctly. */
  readonly readParams: () => Readonly<Record<string, string>>;
}

type Segment = { readonly literal: string } | { readonly param: string };

interface Template {
  readonly segments: readonly Segment[];
  readonly operations: Record<string, OperationId>;
}

/** Finds the route of a path; undefined for an unknown path. */
export type FindRoute = (path: string) => Route | undefined;

/**
 * Creates the look-up of paths in a scope. Concrete paths come before those with parameters, in the order of `OPERATIONS`. A path matches
 * in upper and lower case, with or without a slash at the end.
 */
export function createRoutes(scope: Scope): FindRoute {
  const templates = new Map<string, Template>();
  for (const [id, { method, path, scopes }] of Object.entries(OPERATIONS)) {
    if (!(scopes as readonly Scope[]).includes(scope)) continue;
    const template = templates.get(path) ?? { segments: path.slice(1).split('/').map(readSegment), operations: {} };
    template.operations[method.toUpperCase()] = id as OperationId;
    templates.set(path, template);
  }
  const byLength = Map.groupBy(templates.values(), ({ segments }) => segments.length);

  return (path) => {
    const given = path.slice(1, path.endsWith('/') ? -1 : undefined).split('/');
    const found = byLength
      .get(given.length)
      ?.find(({ segments }) =>
        segments.every((each, at) => ('literal' in each ? each.literal === given[at] : given[at] !== '')),
      );
    if (found === undefined) return undefined;
    return {
      operations: found.operations,
      readParams: () => {
        const params: Record<string, string> = {};
        found.segments.forEach((segment, at) => {
          if ('param' in segment) params[segment.param] = decodeURIComponent(given[at] ?? '');
        });
        return params;
      },
    };
  };
}

function readSegment(text: string): Segment {
  return text.startsWith('{') ? { param: text.slice(1, -1) } : { literal: text };
}

/**
 * Routes requests for the configuration of an instance as clients of the original API expect it. They send a token with every request and
 * read the configuration as a list (decisions D16).
 */
export function asOriginal(request: Request): void {
  if (request.method === 'GET')
    request.url = request.url.replace(/^(\/instances\/[1-9]\d*\/configuration)\/?(?=\?|$)/, '$1/properties');
}

/** Where the name of an object of two words stands in a path, by connector; null where no object has such a name. */
const joinedNames = new WeakMap<Connector, RegExp | null>();

/** Encodes the slash in an object name of two words as `%2F`, so that it does not separate segments of the path. */
export function joinName(request: Request, connector: Connector | undefined): void {
  if (connector === undefined) return;
  let names = joinedNames.get(connector);
  if (names === undefined) {
    names = namesOfTwoWords(connector);
    joinedNames.set(connector, names);
  }
  const [before, name] = names?.exec(request.path)?.slice(1) ?? [];
  if (before === undefined || name === undefined) return;
  const start = request.url.indexOf(`${before}${name}`) + before.length;
  request.url = request.url.slice(0, start) + name.replace('/', '%2F') + request.url.slice(start + name.length);
}

function namesOfTwoWords({ objects }: Connector): RegExp | null {
  const known = typeof objects === 'function' ? [] : Object.entries(objects);
  const names = known.flatMap(([name, { aliases = [] }]) => [name, ...aliases]).filter((name) => name.includes('/'));
  if (names.length === 0) return null;
  const choices = names.map((name) => name.replaceAll('.', '\\.')).join('|');
  return new RegExp(`^(/(?:hubs/[^/]+/)?(?:objects/)?)(${choices})(?=/|$)`);
}
