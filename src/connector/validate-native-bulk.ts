import type { Found, NativeJob, NativePages, NativeQuery, ObjectSpec, Place } from './contract.ts';

const STATES = ['running', 'done', 'failed'] as const;

/** Of what an object says of jobs of the provider's own; none for one without. */
export function nativeBulkProblems({ bulk, list }: ObjectSpec): readonly string[] {
  if (bulk?.query === undefined) return [];
  return [
    // What does not fit the job is read by pages.
    ...when(list === undefined, 'has no list beside it'),
    ...queryProblems(bulk.query),
  ].map((problem) => `bulk.query ${problem}`);
}

function queryProblems(query: NativeQuery): readonly string[] {
  const { fromRows, count, start, pages } = query;
  return [
    ...when(!isPositive(fromRows), 'has a fromRows that is no whole number from 1'),
    ...when(count === undefined, 'has no count, so that nobody knows when it is used'),
    ...when(typeof start !== 'function', 'has no start'),
    ...jobProblems(query),
    ...(pages === undefined ? ['has no pages'] : pagesProblems(pages)),
  ];
}

function jobProblems({ id, status, state, states, message }: NativeJob): readonly string[] {
  const named = STATES.flatMap((meaning) => states?.[meaning] ?? []);
  const doubled = named.filter((name, index) => named.indexOf(name) !== index);
  return [
    ...when(!isPlace(id), 'does not say where the id stands'),
    ...when(typeof status !== 'function', 'has no status'),
    ...when(!isPlace(state), 'does not say where the state stands'),
    ...STATES.filter((meaning) => (states?.[meaning] ?? []).length === 0).map(
      (meaning) => `names no state that means '${meaning}'`,
    ),
    ...doubled.map((name) => `has two meanings of the state '${name}'`),
    ...when(message !== undefined && !isPlace(message), 'has a message that stands nowhere'),
  ];
}

function pagesProblems({ format, size, request, rows, next, rowCount }: NativePages): readonly string[] {
  return [
    // A connector outside of this repository may not be checked by a compiler.
    ...when(format !== 'csv' && format !== 'json', `has pages of '${format}', which are neither csv nor json`),
    ...when(!isPositive(size), 'has a size of pages that is no whole number from 1'),
    ...when(typeof request !== 'function', 'has no request of a page'),
    ...when(format === 'json' && !isPlace(rows), 'does not say where the rows of a page are'),
    ...when(format === 'csv' && rows !== undefined, 'says where the rows are of pages that have nothing else'),
    ...when(!isFound(next, format), `does not say where the next page stands${hint(next, format)}`),
    ...when(rowCount !== undefined && !isFound(rowCount, format), `has a rowCount that stands nowhere`),
  ];
}

function isPositive(value: number): boolean {
  return Number.isSafeInteger(value) && value > 0;
}

function isPlace(place: Place | undefined): boolean {
  return Array.isArray(place) && place.length > 0 && place.every((name) => typeof name === 'string' && name !== '');
}

/** A page of CSV has no members, and headers are told in lower case. */
function isFound(found: Found | undefined, format: NativePages['format']): boolean {
  if (found === undefined) return false;
  return 'header' in found ? /^[a-z0-9-]+$/.test(found.header) : format === 'json' && isPlace(found.member);
}

function hint(found: Found | undefined, format: NativePages['format']): string {
  if (found === undefined) return '';
  return 'header' in found ? ': headers are in lower case' : format === 'csv' ? ': CSV has no members' : '';
}

function when(condition: boolean, problem: string): readonly string[] {
  return condition ? [problem] : [];
}
