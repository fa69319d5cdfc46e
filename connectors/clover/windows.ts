import {
  type ConnectorContext,
  type Inputs,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
} from '#connector';
import { highest, listOf, lowest } from './lists.ts';

/**
 * Orders and payments come out of 90 days at most: of a longer range Clover answers the most recent part and says nothing. So a list walks
 * from window to window, and each call names both ends of its own. Source: "Apply filters to API requests".
 */

const DAY_MS = 24 * 60 * 60 * 1000;
/** "Less than 90 days" lie between the ends. */
const WINDOW_MS = 90 * DAY_MS;
/** Of a merchant who does not say since when there is one: before the first one of Clover. */
const EARLIEST_MS = Date.UTC(2010, 0, 1);

type Axis = 'createdTime' | 'modifiedTime';

/** The row that comes next: the windows cover `first` to `last`, both included. */
interface Place {
  readonly axis: Axis;
  readonly first: number;
  readonly last: number;
  /** Whether the oldest window is the first. Default order of Clover: the newest. */
  readonly isRising: boolean;
  /** In the window. */
  readonly offset: number;
}

type Input = ListInput<Inputs>;

/** The names of fields whose bounds make the windows. */
export const WINDOWED = ['createdTime', 'modifiedTime'] as const satisfies readonly Axis[];

export function listInWindows(collection: string): ListOperation<Inputs> {
  const page = listOf(collection);
  async function read(
    { send, config }: ConnectorContext,
    input: Input,
    place: Place,
    limit: number,
  ): Promise<ListPage> {
    const part = { ...input, limit, filter: withinWindow(input.filter, place), cursor: String(place.offset) };
    return page.read(await send(page.request(part, config)), part);
  }
  return {
    maxPageSize: page.maxPageSize,
    // What a query is explained with; `run` adds the window.
    request: page.request,
    read: page.read,
    run: async (context, input) => {
      const records: unknown[] = [];
      let place = input.cursor === undefined ? await begin(context, input) : readPlace(input.cursor);
      while (place.first <= place.last) {
        const missing = input.limit - records.length;
        // With a full page it is only asked whether anything follows.
        const { records: found, next } = await read(context, input, place, Math.max(missing, 1));
        if (missing === 0 && found.length > 0) return { records, next: JSON.stringify(place) };
        records.push(...found);
        place = next === undefined ? leaveWindow(place) : { ...place, offset: Number(next) };
        if (next !== undefined && records.length === input.limit) return { records, next: JSON.stringify(place) };
      }
      return { records };
    },
  };
}

function readPlace(cursor: string): Place {
  return JSON.parse(cursor);
}

/** Nothing is older than its merchant, or newer than Clover's clock. */
async function begin({ send }: ConnectorContext, { filter = {}, orderBy }: Input): Promise<Place> {
  const { body, headers } = await send({});
  const since = json.at(body, 'createdTime');
  const now = Date.parse(json.text(headers.date, 'the time at which it was made'));
  const axis = axisOf(filter, orderBy);
  return {
    axis,
    first: Math.max(typeof since === 'number' ? since : EARLIEST_MS, boundOf(filter[lowest(axis)]) ?? 0),
    last: Math.min(now + DAY_MS, boundOf(filter[highest(axis)]) ?? Number.POSITIVE_INFINITY),
    isRising: orderBy[0]?.direction === 'asc',
    offset: 0,
  };
}

/**
 * What was changed since some day is looked for by the time of the change. With any other condition beside it Clover looks at the time of
 * creation only, so that the change is left to be checked here.
 */
function axisOf(filter: Inputs, orderBy: Input['orderBy']): Axis {
  const [from, to] = [lowest('modifiedTime'), highest('modifiedTime')];
  const isOnly = Object.keys(filter).every((name) => name === from || name === to);
  return isOnly && filter[from] !== undefined && orderBy.length === 0 ? 'modifiedTime' : 'createdTime';
}

function boundOf(bound: Inputs[string] | undefined): number | undefined {
  return typeof bound === 'string' ? Number(bound) : undefined;
}

function windowOf({ first, last, isRising }: Place): readonly [start: number, end: number] {
  return isRising ? [first, Math.min(last, first + WINDOW_MS - 1)] : [Math.max(first, last - WINDOW_MS + 1), last];
}

function leaveWindow(place: Place): Place {
  const [start, end] = windowOf(place);
  return { ...place, offset: 0, ...(place.isRising ? { first: end + 1 } : { last: start - 1 }) };
}

function withinWindow(filter: Inputs = {}, place: Place): Inputs {
  const [start, end] = windowOf(place);
  const others = Object.entries(filter).filter(
    ([name]) => !WINDOWED.some((axis) => name === lowest(axis) || name === highest(axis)),
  );
  return {
    ...Object.fromEntries(others),
    [lowest(place.axis)]: String(start),
    [highest(place.axis)]: String(end),
  };
}
