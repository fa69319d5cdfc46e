import { OPERATIONS, type OperationId } from '../../generated/operations.ts';
import type { Scope } from './validation.ts';

/** The operations behind one path. */
export interface Route {
  /** By method in capitals. */
  readonly operations: Readonly<Record<string, OperationId>>;
  /** Decoded. */
  readonly params: Readonly<Record<string, string>>;
}

type Segment = { readonly literal: string } | { readonly param: string };

interface Template {
  readonly segments: readonly Segment[];
  readonly operations: Record<string, OperationId>;
}

/** Of a path that is well percent-encoded. @returns undefined for one that means nothing */
export type FindRoute = (path: string) => Route | undefined;

/**
 * Finds what a path means in a scope, concrete paths before those with parameters: `OPERATIONS` has them in this order. Paths are taken as
 * they are written, in upper and lower case, with or without a slash at the end.
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
      ?.find(({ segments }) => segments.every((each, at) => fits(each, given[at])));
    return found && { operations: found.operations, params: readParams(found, given) };
  };
}

function readSegment(text: string): Segment {
  return text.startsWith('{') ? { param: text.slice(1, -1) } : { literal: text };
}

function fits(segment: Segment, text: string | undefined): boolean {
  return 'literal' in segment ? text === segment.literal : text !== '';
}

function readParams({ segments }: Template, given: readonly string[]): Readonly<Record<string, string>> {
  const params: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    if ('param' in segment) params[segment.param] = decodeURIComponent(given[at] ?? '');
  }
  return params;
}
