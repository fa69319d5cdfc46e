import { type ErrorDetail, invalidRequest, inWords, MOST_FAULTS, pointer, unknownName } from '../errors.ts';

/** Segments of the JSON pointer of a member of the body. */
export type PointerSegments = readonly string[];

/** The faults of a body, as they are found. More than a response lists are not kept. */
export interface Faults {
  /** Notes what a member must be or do. The message continues the name of the member: `must be a text.` */
  readonly note: (segments: PointerSegments, text: string, more?: Partial<ErrorDetail>) => void;
  /** Notes a name that is not one of the known ones. */
  readonly noteUnknown: (segments: PointerSegments, kind: string, name: string, known: readonly string[]) => void;
  /**
   * Throws the collected faults, if there are any.
   * @throws AppError REQUEST_INVALID
   */
  readonly throwIfAny: () => void;
  readonly list: readonly ErrorDetail[];
}

/**
 * Creates an empty collection of faults.
 * @param root names that lead to the checked value, such as `body`
 */
export function createFaults(...root: readonly string[]): Faults {
  const found: ErrorDetail[] = [];
  const add = (detail: ErrorDetail) => {
    if (found.length <= MOST_FAULTS) found.push(detail);
  };
  return {
    note: (segments, text, more = {}) => {
      const path = pointer(...root, ...segments);
      add({ path, message: `${inWords(path)} ${text}`, ...more });
    },
    noteUnknown: (segments, kind, name, known) =>
      add({
        path: pointer(...root, ...segments),
        ...unknownName(kind, name, known),
        ...(known.length <= MOST_EXPECTED && { expected: known }),
      }),
    throwIfAny: () => {
      if (found.length > 0) throw invalidRequest(found);
    },
    list: found,
  };
}

/** More names would hide the message. */
const MOST_EXPECTED = 30;

/** Returns whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
