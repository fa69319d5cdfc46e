import type { Faults, PointerSegments } from '../mappings/faults.ts';
import { RESOURCE_METHODS, type ResourceMethod } from './model.ts';

/** Method and path of a formula that is a resource. */
export interface ResourceName {
  readonly method: ResourceMethod;
  readonly uri: string;
}

/** Returns what the first segment of a path means already. Undefined: nothing. */
export type FindUse = (segment: string) => 'platform' | 'object' | undefined;

const LONGEST_URI = 255;
const URI = /^(?:\/[\w.~-]+)+$/;

/** Returns why a path cannot be that of a resource, as the end of a sentence. Undefined: it can. */
function findUriFault(uri: string, findUse: FindUse): string | undefined {
  if (uri.length > LONGEST_URI) return `must have at most ${LONGEST_URI} characters.`;
  if (!URI.test(uri) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(uri))
    return 'must be a path such as /sync, of letters, digits, -, _, . and ~.';
  const [, segment = ''] = uri.split('/', 2);
  const use = findUse(segment);
  if (use === 'platform') return `must not begin with /${segment}: paths of the platform do. Choose another path.`;
  if (use === 'object')
    return `must not begin with /${segment}: that is the name of an object of an element. Choose another path.`;
  return undefined;
}

/**
 * Reads method and path of a formula. An empty text is none.
 * @returns null: the formula is no resource
 */
export function readResource(
  given: { readonly method?: unknown; readonly uri?: unknown },
  faults: Faults,
  findUse: FindUse,
): ResourceName | null {
  const [method, uri] = [given.method, given.uri].map((value) => (value === '' ? null : (value ?? null)));
  if (method === null && uri === null) return null;
  const found = readMethod(method, ['method'], faults);
  if (typeof uri !== 'string') {
    faults.note(['uri'], uri === null ? 'is missing. A method needs a uri such as /sync.' : 'must be a text.');
    return null;
  }
  const fault = findUriFault(uri, findUse);
  if (fault !== undefined) faults.note(['uri'], fault);
  return found === undefined || fault !== undefined ? null : { method: found, uri };
}

function readMethod(given: unknown, segments: PointerSegments, faults: Faults): ResourceMethod | undefined {
  const method = RESOURCE_METHODS.find((each) => each === given);
  if (method === undefined)
    faults.note(
      segments,
      given === null
        ? 'is missing. A uri needs a method such as POST.'
        : `must be one of ${RESOURCE_METHODS.join(', ')}.`,
      { expected: RESOURCE_METHODS },
    );
  return method;
}

/** Reads the method and the path in a setting such as `GET /sync`. */
export function readApiSetting(text: string, findUse: FindUse): ResourceName | { readonly fault: string } {
  const [, word = '', uri = ''] = /^(\S+) +(\S+)$/.exec(text.trim()) ?? [];
  const method = RESOURCE_METHODS.find((each) => each === word);
  if (method === undefined) return { fault: 'must be a method and a path, such as GET /sync.' };
  const fault = findUriFault(uri, findUse);
  return fault === undefined ? { method, uri } : { fault };
}
