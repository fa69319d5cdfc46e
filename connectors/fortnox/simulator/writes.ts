import { type Answer, type Call, Fault, json, type TableRow } from '#connector/simulator';
import { badData, refused } from './faults.ts';
import { addressOf } from './lists.ts';
import type { Resource, Resources } from './resources.ts';
import { EMPTY } from './rows.ts';
import { isDay, rowsOf } from './searches.ts';

/** Makes a member empty; an empty text leaves it as it is. */
const BLANK = 'API_BLANK';

/** What Fortnox takes in texts, by its page on formats. */
const CHARACTERS = /^(?:[\p{L}’\\0-9 –:.`´,;^¤#%§£$€¢¥©™°&/()=+\-*_!?²³®½@\u00a0\n\r]|\u0308|\u030a)*$/u;

export interface Place {
  readonly resources: Resources;
  /** By the clocks of Sweden. */
  readonly today: () => string;
}

/** @throws Fault 404 in the provider's words for a number that nobody has */
export function find({ table, missing: [code, message] }: Resource, { params: { number = '' } }: Call): TableRow {
  const row = table.find(number);
  if (row === undefined || row.removed === true) throw new Fault(404, String(code), message);
  return row;
}

/** The long form. */
export function show(resource: Resource, row: TableRow, status = 200): Answer {
  const { modified: _, removed: __, ...members } = row;
  const shown = { '@url': addressOf(resource, row), ...taxReductionsOf(resource, row), ...members };
  return json({ [resource.singular]: shown }, status, status === 201 ? { location: resource.path } : {});
}

function taxReductionsOf({ path, key, can }: Resource, row: TableRow): TableRow {
  if (!can.includes('cancel')) return {};
  const list = `https://api.fortnox.se/3/taxreductions?filter=${path}&referencenumber=${row[key]}`;
  return { '@urlTaxReductionList': list };
}

export function create(resource: Resource, call: Call, place: Place): Answer {
  const { table, key, required, taken } = resource;
  const input = readInput(resource, call);
  const { [key]: number } = input;
  if (number !== undefined && table.find(String(number)) !== undefined) throw refused(...taken(String(number)));
  if ((input[required] ?? '') === '') throw badData();
  const document = resource.can.includes('cancel') ? documentOf(resource, input, place) : input;
  return show(resource, complete(resource, table.insert(document)), 201);
}

export function update(resource: Resource, call: Call, place: Place): Answer {
  const row = find(resource, call);
  const { [resource.key]: _, ...input } = readInput(resource, call);
  if (input[resource.required] === '') throw badData();
  const changed = resource.can.includes('cancel') ? { ...input, ...customerOf(input, place) } : input;
  const updated = resource.table.update(String(row[resource.key]), changed);
  return show(resource, complete(resource, updated ?? row));
}

/** @throws Fault 400 */
function readInput(resource: Resource, { body }: Call): TableRow {
  if (body.type !== '' && body.type !== 'application/json') throw refused(1_000_031, 'Invalid content type');
  const wrapped = body.object()[resource.singular];
  if (typeof wrapped !== 'object' || wrapped === null || Array.isArray(wrapped)) throw badData();
  const members = Object.entries(wrapped).filter(
    ([name]) => !name.startsWith('@') && !resource.readOnly.includes(name),
  );
  return Object.fromEntries(
    members.flatMap(([name, value]: [string, unknown]) => {
      if (!Object.hasOwn(EMPTY[resource.path], name)) throw refused(2_001_399, 'Felaktigt fältnamn');
      if (value === null || value === '') return [];
      return [[name, value === BLANK ? EMPTY[resource.path][name] : readValue(resource, name, value)]];
    }),
  );
}

function readValue({ path, key, kinds }: Resource, name: string, value: unknown): unknown {
  const usual = EMPTY[path][name];
  if (Array.isArray(usual)) return asList(value);
  if (typeof usual === 'object' && usual !== null) return { ...usual, ...Object(value) };
  if (typeof value === 'object') throw badData();
  const text = String(value);
  const kind = kinds[name] ?? (usual === null ? 'string' : typeof usual);
  if (kind === 'boolean') return asBoolean(text);
  if (kind === 'number') return asNumber(text);
  if (kind === 'day' && !isDay(text)) throw badData();
  if (!CHARACTERS.test(text)) throw refused(2_000_359, `Värdet innehåller ej tillåtna tecken. (${text})`);
  if (name === key && !/^[\p{L}\d–+/_-]+$/u.test(text))
    throw refused(2_000_106, `Värdet måste vara alfanumeriskt (${text})`);
  return text;
}

function asList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw badData();
  return value;
}

function asBoolean(text: string): boolean {
  if (!['true', 'false', '1', '0'].includes(text)) throw refused(2_000_134, `Värdet måste vara en boolean (${text})`);
  return text === 'true' || text === '1';
}

function asNumber(text: string): number {
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw refused(2_000_108, `Värdet måste vara numeriskt (${text})`);
  return Number(text);
}

const DUE_DAYS = 30;

/** What a document takes from its customer and from the day it is made. */
function documentOf({ path }: Resource, input: TableRow, place: Place): TableRow {
  const today = place.today();
  const due = new Date(Date.parse(String(input.InvoiceDate ?? today)) + DUE_DAYS * 86_400_000)
    .toISOString()
    .slice(0, 10);
  const days = path === 'orders' ? { OrderDate: today } : { InvoiceDate: today, DueDate: due };
  return { ...days, OutboundDate: today, ...customerOf(input, place), ...input };
}

/** @throws Fault 400 for a customer that is not there */
function customerOf({ CustomerNumber }: TableRow, { resources: { customers } }: Place): TableRow {
  if (CustomerNumber === undefined) return {};
  const customer = customers.table.find(String(CustomerNumber));
  if (customer === undefined || customer.removed === true) throw refused(...customers.missing);
  const { Name, City, ZipCode, OrganisationNumber } = customer;
  return { CustomerName: Name, City: City ?? '', ZipCode: ZipCode ?? '', OrganisationNumber };
}

/** What is counted: rows get ids, sums are made of them. An invoice is owed until it is paid. */
function complete({ path, key, table }: Resource, row: TableRow): TableRow {
  if (path !== 'orders' && path !== 'invoices') return row;
  const name = path === 'orders' ? 'OrderRows' : 'InvoiceRows';
  const quantity = path === 'orders' ? 'OrderedQuantity' : 'DeliveredQuantity';
  const rows = rowsOf(row, name).map((each, index) => ({
    RowId: index + 1,
    ...each,
    [quantity]: String(each[quantity] ?? 0),
    Total: cents(Number(each.Price ?? 0) * Number(each[quantity] ?? 0)),
  }));
  const net = cents(rows.reduce((sum, { Total }) => sum + Total, 0));
  const isSummed = rows.length > 0 && row.Booked !== true;
  const sums = isSummed && { Net: net, Gross: net, Total: net, TotalToPay: net };
  const own = path === 'invoices' && { OCR: row.OCR || `${row[key]}0`, ...(isSummed && { Balance: net }) };
  return table.update(String(row[key]), { [name]: rows, ...sums, ...own }) ?? row;
}

function cents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** `PUT …/cancel`. */
export function cancel(resource: Resource, call: Call): Answer {
  const { [resource.key]: number } = find(resource, call);
  return show(
    resource,
    resource.table.update(String(number), {
      Cancelled: true,
      ...('Balance' in EMPTY[resource.path] && { Balance: 0 }),
    }) ?? {},
  );
}

/** `PUT …/bookkeep`. */
export function bookkeep(resource: Resource, call: Call): Answer {
  const row = find(resource, call);
  const voucher = { Booked: true, VoucherNumber: Number(row.DocumentNumber), VoucherSeries: 'B', VoucherYear: 1 };
  return show(resource, resource.table.update(String(row.DocumentNumber), voucher) ?? row);
}
