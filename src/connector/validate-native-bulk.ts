import type {
  Found,
  IngestResults,
  NativeIngest,
  NativeJob,
  NativePages,
  NativeQuery,
  ObjectSpec,
  Place,
} from './contract.ts';

const STATES = ['running', 'done', 'failed'] as const;

/** Of what an object says of jobs of the provider's own; none for one without. */
export function nativeBulkProblems({ bulk, list, create, update, remove }: ObjectSpec): readonly string[] {
  const { query, ingest } = bulk ?? {};
  const writes = { create: [create], update: [update], upsert: [create, update], delete: [remove] };
  return [
    ...(query === undefined
      ? []
      : [
          // What does not fit the job is read by pages.
          ...when(list === undefined, 'has no list beside it'),
          ...queryProblems(query),
        ].map((problem) => `bulk.query ${problem}`)),
    ...(ingest === undefined
      ? []
      : [
          // What does not fit the job is written by itself.
          ...namesOf(ingest.actions)
            .filter((action) => writes[action]?.includes(undefined))
            .map((action) => `takes '${action}', and the object has no such calls for single records beside it`),
          ...ingestProblems(ingest),
        ].map((problem) => `bulk.ingest ${problem}`)),
  ];
}

const ACTIONS = ['create', 'update', 'upsert', 'delete'] as const;

function namesOf(actions: NativeIngest['actions'] | undefined): readonly (typeof ACTIONS)[number][] {
  return ACTIONS.filter((action) => actions?.[action] !== undefined);
}

function ingestProblems(ingest: NativeIngest): readonly string[] {
  const { fromRows, mostRows, mostBytes, actions, nullCell, emptyCell, start, send, close, abort, results } = ingest;
  const unknown = Object.keys(actions ?? {}).filter((action) => !ACTIONS.some((known) => known === action));
  return [
    ...when(!isPositive(fromRows), 'has a fromRows that is no whole number from 1'),
    ...when(!isPositive(mostRows) || mostRows < fromRows, 'has a mostRows that is no whole number from fromRows'),
    ...when(
      !isPositive(mostBytes) || mostBytes > MOST_BYTES,
      `has a mostBytes that is no whole number up to ${MOST_BYTES}`,
    ),
    ...when(namesOf(actions).length === 0, 'takes no action'),
    ...unknown.map((action) => `takes '${action}', which is none of ${ACTIONS.join(', ')}`),
    ...namesOf(actions)
      .filter((action) => action !== 'create' && actions[action]?.length === 0)
      .map((action) => `takes '${action}', and names no field by which records are found`),
    ...when(!isText(nullCell), 'does not say how no value is written'),
    ...when(emptyCell === '', 'has an emptyCell that leaves the field as it is'),
    ...Object.entries({ start, send, close, abort }).flatMap(([name, request]) =>
      when(typeof request !== 'function', `has no ${name}`),
    ),
    ...jobProblems(ingest, [...STATES, 'open']),
    ...(results === undefined ? ['has no results'] : resultsProblems(results)),
  ];
}

/** The file of a job is in memory, with what the provider tells of its rows. */
const MOST_BYTES = 16_000_000;

function resultsProblems({ succeeded, failed, unprocessed }: IngestResults): readonly string[] {
  return [
    ...Object.entries({ succeeded, failed, unprocessed }).flatMap(([name, list]) =>
      when(typeof list?.request !== 'function', `has no request of the rows that are ${name}`),
    ),
    ...when(!isText(succeeded?.id), 'does not say which column has the id of a record'),
    ...when(!isText(succeeded?.created), 'does not say which column tells new records'),
    ...when(!isText(failed?.error), 'does not say which column has the error of a row'),
  ];
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function queryProblems(query: NativeQuery): readonly string[] {
  const { fromRows, count, start, pages } = query;
  return [
    ...when(!isPositive(fromRows), 'has a fromRows that is no whole number from 1'),
    ...when(count === undefined, 'has no count, so that nobody knows when it is used'),
    ...when(typeof start !== 'function', 'has no start'),
    ...jobProblems(query, STATES),
    ...(pages === undefined ? ['has no pages'] : pagesProblems(pages)),
  ];
}

function jobProblems(
  { id, status, state, states, message }: NativeJob & { readonly states: Partial<NativeIngest['states']> },
  meanings: readonly (keyof NativeIngest['states'])[],
): readonly string[] {
  const named = meanings.flatMap((meaning) => states?.[meaning] ?? []);
  const doubled = named.filter((name, index) => named.indexOf(name) !== index);
  return [
    ...when(!isPlace(id), 'does not say where the id stands'),
    ...when(typeof status !== 'function', 'has no status'),
    ...when(!isPlace(state), 'does not say where the state stands'),
    ...meanings
      .filter((meaning) => (states?.[meaning] ?? []).length === 0)
      .map((meaning) => `names no state that means '${meaning}'`),
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
