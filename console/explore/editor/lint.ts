import type { Diagnostic } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import type { ErrorDetail } from '../../../src/errors.ts';
import { printName } from '../../../src/where/print.ts';
import { faultsOf } from '../../../src/where/written.ts';
import type { EditorSource } from './source.ts';

/** Returns a function that marks the faults of the filter. Faults that only the service can find stay until the text changes. */
export function linting(source: () => EditorSource): (view: EditorView) => readonly Diagnostic[] {
  return ({ state }) => {
    const text = state.doc.toString();
    const { queryable, faults } = source();
    const own = filterFaults(text, queryable);
    const found = own.length === 0 && faults?.where === text ? faults.details : own;
    return found.map((fault) => diagnosticOf(fault, text));
  };
}

/** Returns the faults of a filter. While the metadata is missing, every name counts as a field. */
export function filterFaults(text: string, queryable: EditorSource['queryable']): readonly ErrorDetail[] {
  const faults = faultsOf(text, queryable ?? NO_FIELDS);
  return queryable === undefined ? faults.filter(({ expected }) => expected !== undefined) : faults;
}

const NO_FIELDS = { fields: {} };

/** Returns the mark for a fault. A fault at the end is shown on the last character, because there is nothing behind it to underline. */
function diagnosticOf({ position = 0, length = 1, message, nearest, expected }: ErrorDetail, text: string): Diagnostic {
  const to = Math.min(position + Math.max(length, 1), text.length);
  const from = Math.min(position, Math.max(to - 1, 0));
  const replacement = nearest === undefined ? onlyReplacement(expected, length) : nameOrWord(nearest);
  return {
    from,
    to,
    severity: 'error',
    message,
    actions:
      replacement === undefined
        ? []
        : [
            {
              name: `Replace with ${replacement}`,
              apply: (view, start, end) => replace(view, { start, end, replacement }),
            },
          ],
  };
}

function nameOrWord(nearest: string): string {
  return /^[A-Z ]+$/.test(nearest) ? nearest : printName(nearest);
}

/** Returns the one spelling that the parser expected, which the user surely meant: `=` for `==`. */
function onlyReplacement(expected: readonly string[] | undefined, length: number): string | undefined {
  const [only, ...others] = expected ?? [];
  const isSpelling =
    only !== undefined && /^(?:AND|OR|[=!<>]+|'.+'|\p{L}+ (?:asc|desc))$/u.test(only) && only !== "'text'";
  return isSpelling && others.length === 0 && length > 0 ? only : undefined;
}

function replace(
  view: EditorView,
  { start, end, replacement }: { readonly start: number; readonly end: number; readonly replacement: string },
): void {
  view.dispatch({
    changes: { from: start, to: end, insert: replacement },
    selection: { anchor: start + replacement.length },
  });
  view.focus();
}
