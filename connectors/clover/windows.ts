import {
  type ConnectorContext,
  type Inputs,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
} from '#connector';
import { boundsOf, listOf, RECENT } from './lists.ts';

/**
 * Clover returns at most 90 days of orders and payments: for a longer range it silently returns the most recent part. So a list walks from
 * window to window, and each call names both ends of its window. Source: "Apply filters to API requests".
 *
 * Conditions on some fields restrict a list of orders to the last 90 days. Clover does not document whether this applies beside the ends of
 * an older window, so requests for older windows leave these conditions out. Source: "Clover API updates - May 2023".
 */

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Length of a window. "Less than 90 days" lie between its ends. The first window ends one day in the future, so that it begins within the
 * last 90 days.
 */
const WINDOW_MS = 90 * DAY_MS;
/** Start of the listed time if a merchant's start is unknown. It is before Clover's first merchant. */
const EARLIEST_MS = Date.UTC(2010, 0, 1);

type Axis = 'createdTime' | 'modifiedTime';

/** The position of the next row. The remaining windows cover `first` to `last`, both included. */
interface Position {
  readonly axis: Axis;
  readonly first: number;
  readonly last: number;
  /** Whether the oldest window is the first. By default Clover lists the newest rows first. */
  readonly isRising: boolean;
  /** Number of rows to skip in the window. */
  readonly offset: number;
  /** Windows that begin at this time or later lie within the last 90 days. */
  readonly recentFrom: number;
}

type Input = ListInput<Inputs>;

/** The names of fields whose bounds make the windows. */
export const WINDOWED = ['createdTime', 'modifiedTime'] as const satisfies readonly Axis[];

/** The position from which the next page of a list continues. */
interface Cursor {
  /** The position of the next row. The member keeps this name, because page tokens contain it. */
  readonly place: Position;
  /** The last row that was found. */
  readonly kept?: unknown;
}

/**
 * Lists a collection window by window, with one call for each part. The core counts the calls of one request. A part may be empty without
 * being the last. If a part found rows, the last of them comes with the next part, so a next part is never empty.
 */
export function listInWindows(collection: string): ListOperation<Inputs> {
  const page = listOf(collection);
  async function find({ send, config }: ConnectorContext, input: Input, position: Position) {
    if (isOver(position)) return { records: [], after: position };
    const part = { ...input, filter: withinWindow(input.filter, position), cursor: String(position.offset) };
    const { records, next } = page.read(await send(page.request(part, config)), part);
    return { records, after: next === undefined ? leaveWindow(position) : { ...position, offset: Number(next) } };
  }
  return {
    maxPageSize: page.maxPageSize,
    // The request that explain shows. `run` adds the window.
    request: page.request,
    read: page.read,
    run: async (context, input) => {
      if (input.cursor === undefined) return toPart([], await begin(context, input), input);
      const { place: position, kept } = readCursor(input.cursor);
      const { records, after } = await find(context, input, position);
      return toPart(kept === undefined ? records : [kept, ...records], after, input);
    },
  };
}

function toPart(rows: readonly unknown[], position: Position, { limit }: Input): ListPage {
  if (isOver(position) && rows.length <= limit) return { records: rows };
  const next: Cursor = { place: position, kept: rows.at(-1) };
  return { records: rows.slice(0, -1), next: JSON.stringify(next) };
}

function isOver({ first, last }: Position): boolean {
  return first > last;
}

function readCursor(cursor: string): Cursor {
  return JSON.parse(cursor);
}

/** Returns the start of a list. No record is older than its merchant, or newer than Clover's clock. */
async function begin({ send }: ConnectorContext, { filter = {}, orderBy }: Input): Promise<Position> {
  const { body, headers } = await send({});
  const since = json.at(body, 'createdTime');
  const now = Date.parse(json.text(headers.date, 'the time of its creation'));
  const axis = axisOf(filter, orderBy);
  const { from, to } = spanOf(filter, axis);
  return {
    axis,
    first: Math.max(typeof since === 'number' ? since : EARLIEST_MS, from),
    last: Math.min(now + DAY_MS, to),
    isRising: orderBy[0]?.direction === 'asc',
    offset: 0,
    recentFrom: now - WINDOW_MS + DAY_MS,
  };
}

/**
 * Returns the time that bounds the windows. A list with only a lower bound on `modifiedTime` has windows by the time of the change. With
 * any other condition Clover applies the time of creation only, so the service checks the change itself.
 */
function axisOf(filter: Inputs, orderBy: Input['orderBy']): Axis {
  const changes: readonly string[] = Object.values(boundsOf('modifiedTime'));
  const isOnly = Object.keys(filter).every((name) => changes.includes(name));
  const isBounded = spanOf(filter, 'modifiedTime').from > Number.NEGATIVE_INFINITY;
  return isOnly && isBounded && orderBy.length === 0 ? 'modifiedTime' : 'createdTime';
}

/** Returns the bounds of a filter, both included. Times are whole milliseconds. */
function spanOf(filter: Inputs, axis: Axis) {
  const bounds = boundsOf(axis);
  const read = (operator: keyof typeof bounds) => [filter[bounds[operator]] ?? []].flat().map(Number);
  return {
    from: Math.max(...read('='), ...read('>='), ...read('>').map((bound) => bound + 1)),
    to: Math.min(...read('='), ...read('<='), ...read('<').map((bound) => bound - 1)),
  };
}

function windowOf({ first, last, isRising }: Position): readonly [start: number, end: number] {
  return isRising ? [first, Math.min(last, first + WINDOW_MS - 1)] : [Math.max(first, last - WINDOW_MS + 1), last];
}

function leaveWindow(position: Position): Position {
  const [start, end] = windowOf(position);
  return { ...position, offset: 0, ...(position.isRising ? { first: end + 1 } : { last: start - 1 }) };
}

const BOUNDS: ReadonlySet<string> = new Set(WINDOWED.flatMap((axis) => Object.values(boundsOf(axis))));

function withinWindow(filter: Inputs = {}, position: Position): Inputs {
  const [start, end] = windowOf(position);
  const bounds = boundsOf(position.axis);
  const others = Object.entries(filter).filter(
    ([name]) => !BOUNDS.has(name) && (name !== RECENT || start >= position.recentFrom),
  );
  return { ...Object.fromEntries(others), [bounds['>=']]: String(start), [bounds['<=']]: String(end) };
}
