import {
  type Call,
  json,
  type Routes,
  recordRoutes,
  type SimulatedResponse,
  sortRows,
  type TableRow,
  valueAt,
} from '#connector/simulator';
import described from './described.json' with { type: 'json' };
import { badRequest, type Criterion, compileCriteria, fieldOf, type Written } from './filter.ts';
import { type Records, USER_ID } from './records.ts';

const ROOT = '/crm/rest/v1';

/** A list of v1: the members that it shows of a record of v2, and the members that its parameters compare. */
interface List {
  readonly of: string;
  readonly show: Written;
  readonly filters: Written;
  /** Members by the values of `order`. Another parameter has the direction. */
  readonly orders?: Written;
}

const LEVELS: readonly unknown[] = ['NONESSENTIAL', 'ESSENTIAL', 'CRITICAL'];

/** The formats of the first version, which prints ids as numbers, and the zone as `+0000`. */
const FORMS: Readonly<Record<string, (value: unknown) => unknown>> = {
  same: (value) => value,
  number: (id) => (id === null ? null : Number(id)),
  zoned: (time) => (time === null ? null : String(time).replace('Z', '.000+0000')),
  precise: (time) => (time === null ? null : String(time).replace('Z', '.000Z')),
  joined: (list) => [list ?? []].flat().join(','),
  level: (word) => LEVELS.indexOf(word),
  contact: (id) => (id === null ? null : { id: Number(id) }),
};

function showRow({ show }: List, row: TableRow): TableRow {
  const shown = Object.entries(show).map(([name, written]) => {
    const [form = '', path = ''] = written.split(' ');
    return [name, FORMS[form]?.(valueAt(row, path) ?? null)];
  });
  return Object.fromEntries(shown);
}

/** Creates the routes of objects that only v1 has, or that have ids only in v1. */
export function createFirstVersion(records: Records): Routes {
  const lists: readonly (readonly [string, List])[] = Object.entries<List>(described.first);
  const routes = lists.map(([path, list]) => [
    `GET ${ROOT}/${path}`,
    (call: Call) => respond(records, path, list, call),
  ]);
  const show = (list: List) => (row: TableRow, _: Call, status?: number) => json(showRow(list, row), status);
  const { appointments, transactions } = described.first;
  return {
    ...Object.fromEntries(routes),
    ...recordRoutes(`${ROOT}/transactions`, records.transactions, { show: show(transactions), can: ['get'] }),
    ...recordRoutes(`${ROOT}/appointments`, records.appointments, {
      show: show(appointments),
      body: ({ body }) => {
        const { start_date: start_time, end_date: end_time, user: user_id, ...same } = body.object();
        const given = Object.entries({ start_time, end_time, user_id, ...same }).filter(
          ([, value]) => value !== undefined,
        );
        const isId = (name: string, value: unknown) => name.endsWith('_id') && typeof value === 'number';
        return Object.fromEntries(given.map(([name, value]) => [name, isId(name, value) ? String(value) : value]));
      },
    }),
  };
}

const USUAL = 1000;

/** Responds with a list. Its links may lead to pages without rows, so only `count` shows the end. */
function respond(records: Records, path: string, list: List, { query, origin, isStuck }: Call): SimulatedResponse {
  const { of, filters, orders = {} } = list;
  const { table, members } = Object.values(records).find(({ name }) => name === of) ?? records.tasks;
  const given = Object.keys(filters).flatMap((name): readonly Criterion[] => {
    const text = query.get(name);
    return text === null ? [] : [{ name, operator: '==', text }];
  });
  const test = compileCriteria(given, { filters, members, rule: 'ignoring case' });
  const isOwn = ({ assigned_to_user_id }: TableRow) => path !== 'tasks/search' || assigned_to_user_id === USER_ID;
  const found = order(
    table.rows().filter((row) => isOwn(row) && test(row)),
    query,
    orders,
  );
  const [limit, offset] = [readCount(query, 'limit', USUAL), readCount(query, 'offset', 0)];
  const link = (start: number) => {
    const others = [...query].filter(([key]) => key !== 'limit' && key !== 'offset');
    return `${origin}${ROOT}/${path}/?${new URLSearchParams([['limit', String(limit)], ['offset', String(start)], ...others])}`;
  };
  return json({
    [of]: found.slice(offset, offset + limit).map((row) => showRow(list, row)),
    count: found.length,
    next: link(isStuck ? offset : offset + limit),
    previous: link(Math.max(0, offset - limit)),
  });
}

function order(rows: readonly TableRow[], query: URLSearchParams, orders: Written) {
  const wanted = query.get('order');
  if (wanted === null) return rows;
  const written = Object.hasOwn(orders, wanted) ? orders[wanted] : undefined;
  if (written === undefined) throw badRequest(`order ${wanted} is not valid`);
  const { term } = fieldOf(written, 'as written');
  return sortRows(rows, [{ ...term, descending: query.get('order_direction') === 'DESCENDING' }]);
}

function readCount(query: URLSearchParams, name: string, usual: number): number {
  const text = query.get(name) ?? String(usual);
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`${name} is not valid`);
  return name === 'limit' ? Math.min(Number(text), USUAL) || usual : Number(text);
}
