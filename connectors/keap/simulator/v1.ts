import { type Answer, type Call, empty, Fault, json, type Routes, sortRows, type TableRow } from '#connector/simulator';
import { badRequest, type Criterion, compileCriteria, type FilterSpec } from './filter.ts';
import type { Resources } from './resources.ts';
import { USER_ID, wholeSeconds } from './rows.ts';

const ROOT = '/crm/rest/v1';

/** A list of v1: what it shows, and what its parameters compare. */
interface List {
  readonly path: string;
  readonly name: string;
  readonly rows: (call: Call) => readonly TableRow[];
  readonly show: (row: TableRow) => unknown;
  readonly filters: Readonly<Record<string, FilterSpec>>;
  /** By `order`; the direction is said beside it. */
  readonly orders?: Readonly<Record<string, string>>;
}

const equal = (name: string): FilterSpec => ({ read: (row) => row[name], type: 'whole' });
const span = (name: string): Readonly<Record<string, FilterSpec>> => ({
  since: { read: (row) => row[name], type: 'time', bound: '>=' },
  until: { read: (row) => row[name], type: 'time', bound: '<=' },
});

/** Numbers for ids, `+0000` for the zone: the first version writes differently. */
const number = (id: unknown) => (id === null ? null : Number(id));
const zoned = (time: unknown) => (time === null ? null : String(time).replace('Z', '.000+0000'));
const precise = (time: unknown) => (time === null ? null : String(time).replace('Z', '.000Z'));

function showAppointment(row: TableRow) {
  return {
    ...{ id: number(row.id), title: row.title, description: row.description, user: number(row.user_id) },
    ...{ location: row.location, contact_id: number(row.contact_id), start_date: precise(row.start_time) },
    ...{ end_date: precise(row.end_time), remind_time: row._remind_time },
  };
}

function showTransaction(row: TableRow) {
  return {
    ...{ id: number(row._id), test: false, amount: row.amount, currency: 'USD', gateway: row.merchant_account_type },
    ...{ gateway_account_name: null, type: row.transaction_method, contact_id: number(row.contact_id) },
    ...{ order_ids: [row.order_ids ?? []].flat().join(','), orders: [], transaction_date: zoned(row.transaction_time) },
    ...{ errors: row.error_details, collection_method: null, status: row.status },
  };
}

function showEmail(row: TableRow) {
  const joined = (name: string) => [row[name] ?? []].flat().join(',');
  return {
    ...{ id: number(row.id), subject: row.subject, headers: row.headers, contact_id: number(row.contact_id) },
    ...{ sent_to_address: row.sent_to_address, sent_to_cc_addresses: joined('sent_to_cc_address_list') },
    sent_to_bcc_addresses: joined('sent_to_bcc_address_list'),
    ...{ sent_from_address: row.sent_from_address, sent_from_reply_address: row.sent_from_reply_address },
    ...{
      sent_date: zoned(row.sent_time),
      received_date: zoned(row.received_time),
      opened_date: zoned(row.opened_time),
    },
    clicked_date: zoned(row.clicked_time),
    ...{ original_provider: row.original_provider, original_provider_id: row.original_provider_id },
  };
}

function showCommission(row: TableRow) {
  const [first = null, last = null] = String(row.sales_affiliate_name).split(' ');
  return {
    ...{ amount_earned: row.amount_earned, contact_first_name: row.contact_first_name, description: row.description },
    ...{ contact_last_name: row.contact_last_name, invoice_id: number(row.invoice_id), product_name: row.product_name },
    ...{ date_earned: zoned(row.time_earned), contact_id: number(row.contact_id) },
    ...{ sales_affiliate_id: number(row.sales_affiliate_id), sold_by_first_name: first, sold_by_last_name: last },
  };
}

function showFile(row: TableRow) {
  return {
    ...{ id: number(row.id), category: row.category, file_name: row.file_name, public: row.is_public },
    ...{ contact_id: number(row.contact_id), created_by: number(row.created_by_id), file_size: row.file_size },
    ...{ file_box_type: row.file_box_type, remote_file_key: row.remote_file_key, download_url: null },
    ...{ date_created: zoned(row.created_time), last_updated: zoned(row.updated_time) },
  };
}

/** One of some words, or the one that means all of them. */
const either = (read: (row: TableRow) => string, ...values: readonly string[]): FilterSpec => ({
  read: (row) => [read(row), 'BOTH'],
  type: 'text',
  values: [...values, 'BOTH'],
});

const LEVELS: readonly unknown[] = ['NONESSENTIAL', 'ESSENTIAL', 'CRITICAL'];

/** What is only in v1, or has ids only there. */
export function createFirstVersion(resources: Resources): Routes {
  const { appointments, commissions, contacts, emails, files, tasks, transactions } = resources;

  function showTask(row: TableRow) {
    const { id, email_addresses, given_name, family_name } = contacts.table.find(String(row.contact_id)) ?? {};
    const { email = null } = Object([email_addresses ?? []].flat()[0]);
    return {
      ...{ id: number(row.id), title: row.title, description: row.description, type: row.type, url: null },
      ...{ priority: LEVELS.indexOf(row.priority), completed: row.completed, remind_time: row.remind_time_mins },
      ...{ due_date: precise(row.due_time), completion_date: precise(row.completion_time) },
      ...{ creation_date: precise(row.create_time), modification_date: precise(row.modification_time) },
      ...{ user_id: number(row.assigned_to_user_id), funnel_id: 0, jgraph_id: 0 },
      contact: id === undefined ? null : { id: number(id), email, first_name: given_name, last_name: family_name },
    };
  }

  const ofTasks = {
    name: 'tasks',
    show: showTask,
    filters: {
      completed: { read: (row: TableRow) => row.completed, type: 'flag' },
      contact_id: equal('contact_id'),
      user_id: equal('assigned_to_user_id'),
      has_due_date: { read: ({ due_time }: TableRow) => due_time !== null, type: 'flag' },
      ...span('due_time'),
    },
    orders: { due_date: 'due_time', creation_date: 'create_time' },
  } as const;

  const lists: readonly List[] = [
    {
      ...{ path: 'appointments', name: 'appointments', rows: () => appointments.table.rows(), show: showAppointment },
      filters: { contact_id: equal('contact_id'), ...span('start_time') },
    },
    {
      ...{ path: 'affiliates/commissions', name: 'commissions', rows: () => commissions.table.rows() },
      ...{ show: showCommission, orders: { DATE_EARNED: 'time_earned' } },
      filters: { affiliateId: equal('_affiliate_id'), ...span('time_earned') },
    },
    {
      ...{ path: 'contacts/{contact}/emails', name: 'emails', show: showEmail },
      rows: ({ params }) => emails.table.rows().filter((row) => row.contact_id === params.contact),
      filters: { email: { read: (row) => row.sent_to_address, type: 'text' } },
    },
    {
      ...{ path: 'files', name: 'files', rows: () => files.table.rows(), show: showFile },
      filters: {
        contact_id: equal('contact_id'),
        permission: either((row) => String(row._permission), 'USER', 'COMPANY'),
        viewable: either((row) => (row.is_public === true ? 'PUBLIC' : 'PRIVATE'), 'PUBLIC', 'PRIVATE'),
      },
    },
    {
      ...{ path: 'transactions', name: 'transactions', rows: () => transactions.table.rows(), show: showTransaction },
      filters: { contact_id: equal('contact_id'), ...span('transaction_time') },
    },
    { ...ofTasks, path: 'tasks', rows: () => tasks.table.rows() },
    {
      ...{ ...ofTasks, path: 'tasks/search' },
      rows: () => tasks.table.rows().filter((row) => row.assigned_to_user_id === USER_ID),
    },
  ];

  const find = (call: Call) => {
    const row = appointments.table.find(call.params.id ?? '');
    if (row === undefined) throw missing('Appointment');
    return row;
  };
  const change = (isWhole: boolean) => (call: Call) => {
    const values = readAppointment(call, isWhole);
    return json(showAppointment(appointments.table.update(String(find(call).id), values) ?? {}));
  };
  return {
    ...Object.fromEntries(lists.map((list) => [`GET ${ROOT}/${list.path}`, (call: Call) => answer(list, call)])),
    [`GET ${ROOT}/transactions/{id}`]: ({ params }) => {
      const row = transactions.table.find(params.id ?? '');
      if (row === undefined) throw missing('Transaction');
      return json(showTransaction(row));
    },
    [`POST ${ROOT}/appointments`]: (call) =>
      json(showAppointment(appointments.table.insert(readAppointment(call, true))), 201),
    [`GET ${ROOT}/appointments/{id}`]: (call) => json(showAppointment(find(call))),
    [`PUT ${ROOT}/appointments/{id}`]: change(true),
    [`PATCH ${ROOT}/appointments/{id}`]: change(false),
    [`DELETE ${ROOT}/appointments/{id}`]: (call) => {
      appointments.table.remove(String(find(call).id));
      return empty();
    },
  };
}

function missing(noun: string) {
  return new Fault(404, 'NO_RECORD', `Unable to find this ${noun}`);
}

const USUAL = 1000;

/** With links to pages that need not be there: only `count` tells the end. */
function answer({ path, name, rows, show, filters, orders = {} }: List, call: Call): Answer {
  const { query, origin, isStuck, params } = call;
  const given = Object.keys(filters).flatMap((parameter): readonly Criterion[] => {
    const text = query.get(parameter);
    return text === null ? [] : [{ name: parameter, operator: '==', text }];
  });
  const test = compileCriteria(given, { specs: filters, rule: 'ignoring case' });
  const found = order(rows(call).filter(test), query, orders);
  const [limit, offset] = [readCount(query, 'limit', USUAL), readCount(query, 'offset', 0)];
  const link = (size: number, start: number) => {
    const others = [...query].filter(([key]) => key !== 'limit' && key !== 'offset');
    const place = path.replace('{contact}', params.contact ?? '');
    return `${origin}${ROOT}/${place}/?${new URLSearchParams([['limit', String(size)], ['offset', String(start)], ...others])}`;
  };
  return json({
    [name]: found.slice(offset, offset + limit).map(show),
    count: found.length,
    next: link(Math.min(limit, found.length || limit), isStuck ? offset : offset + limit),
    previous: link(limit, Math.max(0, offset - limit)),
  });
}

function order(rows: readonly TableRow[], query: URLSearchParams, orders: NonNullable<List['orders']>) {
  const wanted = query.get('order');
  if (wanted === null) return rows;
  const column = Object.hasOwn(orders, wanted) ? orders[wanted] : undefined;
  if (column === undefined) throw badRequest(`order ${wanted} is not valid`);
  const descending = query.get('order_direction') === 'DESCENDING';
  return sortRows(rows, [{ type: 'datetime', read: (row) => row[column], descending }]);
}

function readCount(query: URLSearchParams, name: string, usual: number): number {
  const text = query.get(name) ?? String(usual);
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`${name} is not valid`);
  return name === 'limit' ? Math.min(Number(text), USUAL) || usual : Number(text);
}

const REMINDERS: readonly unknown[] = [null, undefined, 5, 10, 15, 30, 60, 120, 240, 480, 1440, 2880];

/** @throws Fault 400 */
function readAppointment({ body }: Call, isWhole: boolean): TableRow {
  const { title, description, location, user, contact_id, start_date, end_date, remind_time } = body.object();
  const wanted = { title, start_date, end_date };
  const missed = Object.entries(wanted).find(([, value]) => value === null || (isWhole && value === undefined));
  if (missed !== undefined) throw badRequest(`${missed[0]} is required`, missed[0]);
  if (!REMINDERS.includes(remind_time)) throw badRequest('remind_time is not valid', 'remind_time');
  const values: TableRow = {
    ...{ title, description, location, _remind_time: remind_time },
    ...{ user_id: readId(user, 'user'), contact_id: readId(contact_id, 'contact_id') },
    ...{ start_time: readMoment(start_date), end_time: readMoment(end_date) },
  };
  const said = Object.entries(values).filter(([, value]) => isWhole || value !== undefined);
  return Object.fromEntries(said.map(([name, value]) => [name, value ?? null]));
}

function readId(value: unknown, name: string): string | null | undefined {
  if (value === null || value === undefined) return value;
  if (typeof value !== 'number') throw badRequest(`${name} is not valid`, name);
  return String(value);
}

function readMoment(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const ms = Date.parse(String(value));
  if (Number.isNaN(ms)) throw badRequest(`${value} is no date`);
  return wholeSeconds(ms);
}
