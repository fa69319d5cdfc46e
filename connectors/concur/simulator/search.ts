import { Fault, FOLDS, type TableRow } from '#connector/simulator';

export type Test = (row: TableRow) => boolean;

/** Paths of the compared members, by kind of parameter and by parameter. */
export type Filters = Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;

export interface SearchOptions {
  /** Returns the records to which the first word of a path leads. */
  readonly related: (row: TableRow, name: string) => readonly TableRow[];
}

export function badRequest(message: string): Fault {
  return new Fault(400, 'BAD_REQUEST', message);
}

/**
 * Returns the tests of a query. All of them must hold. A parameter without a value has no effect, and unknown parameters are ignored.
 * @throws Fault 400
 */
export function testsOf(filters: Filters, query: URLSearchParams, { related }: SearchOptions): readonly Test[] {
  return Object.entries(KINDS).flatMap(([kind, compile]) =>
    Object.entries(filters[kind] ?? {}).flatMap(([parameter, path]) => {
      const text = query.get(parameter) ?? '';
      if (text === '') return [];
      const holds = compile(text, parameter);
      const [name = '', inside] = path.split('.');
      return (row: TableRow) =>
        holds(inside === undefined ? [row[name]] : related(row, name).map(({ [inside]: value }) => value));
    }),
  );
}

/**
 * Compiles a value into a test of the values of a row: a single value, or one of each related record.
 * @throws Fault 400
 */
type Kind = (text: string, parameter: string) => (values: readonly unknown[]) => boolean;

/** Texts are compared without case and without blanks at the end, which the documents do not define. */
const { 'ignoring case': fold } = FOLDS;
const among = (wanted: readonly string[]) => (values: readonly unknown[]) =>
  values.some((value) => typeof value === 'string' && wanted.map(fold).includes(fold(value)));

/** Returns a bound, which excludes its own value. A day is its first instant. */
const bound =
  (holds: (ms: number, boundMs: number) => boolean): Kind =>
  (text, parameter) => {
    const boundMs = readMoment(text);
    if (boundMs === undefined) throw badRequest(`${parameter} is a day or a time with milliseconds, not '${text}'.`);
    return (values) => values.some((value) => typeof value === 'string' && holds(Date.parse(`${value}Z`), boundMs));
  };

const KINDS: Readonly<Record<string, Kind>> = {
  text: (text) => among([text]),
  codes: (text) => among(text.split(',')),
  flag: (text, parameter) => {
    const word = text.toLowerCase();
    if (word !== 'true' && word !== 'false') throw badRequest(`${parameter} is true or false, and not '${text}'.`);
    return (values) => values.includes(true) === (word === 'true');
  },
  before: bound((ms, boundMs) => ms < boundMs),
  after: bound((ms, boundMs) => ms > boundMs),
};

/** The two documented formats. Neither has a zone. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d\.\d{3})?$/;

/** Returns milliseconds, or undefined for another format or for a day that does not exist, such as 30 February. */
function readMoment(text: string): number | undefined {
  const ms = MOMENT.test(text) ? Date.parse(text.length === 10 ? text : `${text}Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text.slice(0, 10)) ? ms : undefined;
}
