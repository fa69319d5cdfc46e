import type { FieldSpec, ObjectSpec } from '#connector';
import { CATALOGUE, readMappings } from '../../scripts/generate/catalogue.ts';
import type { MappingInForce } from '../../src/mappings/model.ts';
import { ExactNumber, isMembers } from '../../src/numbers/exact-json.ts';
import { isMappedObject, type MappedObject } from '../../src/resources/mapped.ts';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import type { Row } from '../../src/where/index.ts';
import { predicatesFor, printFilter } from '../../suite/filters.ts';
import { literalsFor } from '../../suite/literals.ts';
import { compareAs, readField } from '../../suite/reference.ts';
import { spread } from '../../suite/soundness.ts';
import { evaluate } from '../where/reference.ts';
import { show, transform } from './reference.ts';
import { type Asked, inForceOf, type Records, type Simulated } from './simulated.ts';

/** Runs of mapped objects over the simulators. Plain references judge each of them; a fault is a text for people. */

/** How much of each mapping is tried. */
export interface RunEffort {
  /** Maximum number of literals per operator of a field. */
  readonly literals: number;
  /** One in so many of the operators of a field is tried, beginning with another one from field to field. Default: all of them. */
  readonly operatorsEach?: number;
  /** Maximum number of filters of each field that are also tried on a provider without filters. */
  readonly local: number;
  /** Maximum number of fields that rows are sorted by. */
  readonly sorted: number;
  /** Maximum number of records that are read by their id. */
  readonly got: number;
  /** Maximum number of rows that are paged through. */
  readonly paged: number;
}

/** What runs did. */
export interface RunTally {
  rows: number;
  filters: number;
  /** Number of filters that matched some rows and not all. */
  decisive: number;
  sorted: number;
  got: number;
}

export function createTally(): RunTally {
  return { rows: 0, filters: 0, decisive: 0, sorted: 0, got: 0 };
}

/** Returns the transformations of the catalogue for an element, as they would be in force. */
export async function catalogueOf(key: string): Promise<readonly MappingInForce[]> {
  return Object.entries(await readMappings(key)).map(([objectName, transformation]) =>
    inForceOf({ objectName, ...transformation, definition: CATALOGUE[objectName]?.fields ?? [] }),
  );
}

/** A mapped object with all its rows. */
export interface MappedListing {
  readonly simulated: Simulated;
  readonly mapping: MappingInForce;
  readonly object: MappedObject;
  readonly rows: readonly Row[];
  readonly vendorRows: readonly Row[];
}

/**
 * Sets a mapping in force, and lists all rows of the mapped object and of the provider's.
 * @returns undefined where the provider lists the object only with a filter
 */
export async function readMapped(simulated: Simulated, mapping: MappingInForce): Promise<MappedListing | undefined> {
  simulated.map([mapping]);
  const records = simulated.records(mapping.objectName);
  const object = await records.object();
  if (!isMappedObject(object)) throw new Error(`'${mapping.objectName}' is not mapped.`);
  if ((object.vendor.requiredFilters ?? []).length > 0) return undefined;
  const rows = await records.list({ fields: listedNames(object) });
  const vendorRows = await simulated.vendor(mapping.vendorName).list({ fields: listedNames(object.vendor) });
  return { simulated, mapping, object, rows, vendorRows };
}

/** Returns all fields of a list, for the parameter `fields`. */
export function listedNames({ fields }: Pick<ObjectSpec, 'fields'>): string {
  return namesList(listedFields(fields).map(([name]) => name));
}

function listedFields(fields: ObjectSpec['fields']): readonly (readonly [string, FieldSpec])[] {
  return Object.entries(fields).filter(([, { unlisted }]) => unlisted !== true);
}

function namesList(names: readonly string[]): string {
  return names.map((name) => (/^[A-Za-z_][\w.]*$/.test(name) ? name : `\`${name}\``)).join();
}

/** Runs everything on one mapping, and returns the faults. */
export async function runMapping(
  simulated: Simulated,
  mapping: MappingInForce,
  { effort, tally }: { readonly effort: RunEffort; readonly tally: RunTally },
): Promise<readonly string[]> {
  const listing = await readMapped(simulated, mapping);
  if (listing === undefined) return [];
  tally.rows += listing.rows.length;
  const checks = [
    judgeRows(listing),
    await judgeSelection(listing),
    await judgeFilters(listing, effort, tally),
    await judgeOrders(listing, effort, tally),
    await judgePages(listing, effort),
    await judgeRecords(listing, effort, tally),
  ];
  return checks.flat().map((fault) => `${simulated.connector.key} ${mapping.objectName}: ${fault}`);
}

/** The rows are the transformed rows of the provider, in the same order. */
export function judgeRows({ mapping, object, rows, vendorRows }: MappedListing): readonly string[] {
  const meant = vendorRows.map((row) => transform(row, mapping, object.vendor.fields));
  const names = listedFields(object.fields).map(([name]) => name);
  return compareRows(
    'listed',
    rows,
    meant.map((row) => only(row, names)),
  );
}

/** Returns a record with some of its fields. */
function only(row: Row, names: readonly string[]): Row {
  const record: Record<string, unknown> = {};
  for (const name of names) {
    const keys = name.split('.');
    let holder = record;
    for (const key of keys.slice(0, -1)) {
      const inner = holder[key];
      const next: Record<string, unknown> = isMembers(inner) ? { ...inner } : {};
      holder[key] = next;
      holder = next;
    }
    holder[keys.at(-1) ?? ''] = readField(row, name) ?? null;
  }
  return record;
}

function compareRows(what: string, found: readonly Row[], meant: readonly Row[]): readonly string[] {
  if (found.length !== meant.length) return [`${what}: ${found.length} rows instead of ${meant.length}`];
  const index = found.findIndex((row, at) => show(row) !== show(meant[at]));
  return index < 0 ? [] : [`${what}: row ${index} ${differences(found[index] ?? {}, meant[index] ?? {})}`];
}

function differences(found: Row, meant: Row): string {
  const names = [...new Set([...Object.keys(found), ...Object.keys(meant)])];
  const odd = names.filter(
    (name) => !Object.hasOwn(found, name) || !Object.hasOwn(meant, name) || show(found[name]) !== show(meant[name]),
  );
  return odd.map((name) => `has ${name} ${text(found, name)} instead of ${text(meant, name)}`).join(', ');
}

function text(row: Row, name: string): string {
  return Object.hasOwn(row, name) ? show(row[name]) : 'nothing';
}

/** `fields` of two fields, and the fields of a list that names none. */
async function judgeSelection({ simulated, mapping, object, rows }: MappedListing): Promise<readonly string[]> {
  const records = simulated.records(mapping.objectName);
  const names = listedFields(object.fields).map(([name]) => name);
  const pair = [names[Math.floor(names.length / 2)], names.at(-1)].flatMap((name) => name ?? []);
  const shown = listedFields(object.fields).filter(([, { onDemand }]) => onDemand !== true);
  return [
    ...compareRows(
      `fields=${pair.join()}`,
      await records.list({ fields: namesList(pair) }),
      rows.map((row) => only(row, pair)),
    ),
    ...compareRows(
      'without fields',
      await records.list(),
      rows.map((row) =>
        only(
          row,
          shown.map(([name]) => name),
        ),
      ),
    ),
  ];
}

const OPERATORS = ['=', '!=', 'IN', 'NOT IN', '<', '>=', 'LIKE', 'NOT LIKE', 'IS NULL', 'IS NOT NULL'];

/** The operators that a type accepts. */
const ACCEPTED: Readonly<Record<FieldSpec['type'], (operator: string) => boolean>> = {
  string: () => true,
  number: (operator) => !operator.endsWith('LIKE'),
  integer: (operator) => !operator.endsWith('LIKE'),
  date: (operator) => !operator.endsWith('LIKE'),
  datetime: (operator) => !operator.endsWith('LIKE'),
  boolean: (operator) => /^(?:!?=|.*NULL)$/.test(operator),
  array: (operator) => operator.endsWith('NULL'),
  object: (operator) => operator.endsWith('NULL'),
};

/** Filters on each field, at the provider and on one that accepts none. */
async function judgeFilters(
  { simulated, mapping, object, rows }: MappedListing,
  { literals, local, operatorsEach = 1 }: RunEffort,
  tally: RunTally,
): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [place, [name, spec]] of listedFields(object.fields).entries()) {
    const operators = OPERATORS.filter(ACCEPTED[spec.type]).filter((_, at) => (at + place) % operatorsEach === 0);
    const ofField = literalsFor(name, spec, rows);
    const filters = operators.flatMap((operator) => chosen(predicatesFor(operator, name, ofField), literals));
    const again = new Set(spread(filters, local));
    for (const filter of filters) {
      const input = { object, rows, filter };
      faults.push(...(await judgeFilter(simulated.records(mapping.objectName), input, tally)));
      if (!again.has(filter)) continue;
      const also = await judgeFilter(simulated.unfiltered(mapping.objectName), input, tally);
      faults.push(...also.map((fault) => `without pushdown, ${fault}`));
    }
  }
  return faults;
}

/** Values that occur come first, so one of them is always among the chosen. */
function chosen(filters: readonly Filter[], most: number): readonly Filter[] {
  return [...filters.slice(0, 1), ...spread(filters.slice(1), most - 1)].slice(0, most);
}

/** Asks for the rows of a filter, and compares them with those that the reference finds. */
export async function judgeFilter(
  records: Records,
  { object, rows, filter }: { readonly object: ObjectSpec; readonly rows: readonly Row[]; readonly filter: Filter },
  tally: Pick<RunTally, 'filters' | 'decisive'>,
): Promise<readonly string[]> {
  const { condition } = checkFilter(filter, object);
  if (condition === undefined) return [];
  const meant = rows.filter((row) => evaluate(condition, withTexts(row)) === true);
  const where = printFilter(filter);
  const { idField = '' } = object;
  const isById = Object.hasOwn(object.fields, idField);
  const key = (row: Row) => (isById ? show(readField(row, idField)) : show(row));
  const found = await records.list({ where, fields: isById ? idField : listedNames(object) });
  tally.filters++;
  if (meant.length > 0 && meant.length < rows.length) tally.decisive++;
  const [keys, wanted] = [found.map(key).sort(), meant.map(key).sort()];
  if (keys.join() === wanted.join()) return [];
  const lost = wanted.filter((each) => !keys.includes(each)).slice(0, 3);
  const more = keys.filter((each) => !wanted.includes(each)).slice(0, 3);
  return [
    `where ${where} finds ${keys.length} rows instead of ${wanted.length}, lost ${lost.join()}, too many ${more.join()}`,
  ];
}

const rowsWithTexts = new WeakMap<Row, Row>();

/** The reference evaluator knows numbers beyond doubles as texts. Each row is converted once for its many filters. */
export function withTexts(row: Row): Row {
  const converted =
    rowsWithTexts.get(row) ?? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withText(value)]));
  rowsWithTexts.set(row, converted);
  return converted;
}

function withText(value: unknown): unknown {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value) || !isMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withText(member)]));
}

/** Sorts by fields of every type: the values of the rows rise or fall, and the rows are all there. */
async function judgeOrders(
  { simulated, mapping, object, rows }: MappedListing,
  { sorted }: RunEffort,
  tally: RunTally,
): Promise<readonly string[]> {
  const scalar = listedFields(object.fields).filter(([, { type }]) => type !== 'array' && type !== 'object');
  const plain = scalar.filter(([name]) => object.mapping.vendorFieldOf(name) !== undefined);
  const faults: string[] = [];
  for (const [name, spec] of new Map([...spread(plain, sorted), ...spread(scalar, sorted)])) {
    const order = async (records: Records, field: string, direction: string) => {
      const found = await records.list({ orderBy: `${namesList([field])} ${direction}`, fields: namesList([field]) });
      return found.map((row) => readField(row, field) ?? null);
    };
    for (const direction of ['asc', 'desc']) {
      tally.sorted++;
      const values = await order(simulated.records(mapping.objectName), name, direction);
      const vendorField = object.mapping.vendorFieldOf(name);
      // Providers may sort texts in an order of their own, which a renamed field has, too.
      const meant =
        vendorField === undefined
          ? sortValues(
              rows.map((row) => readField(row, name) ?? null),
              spec,
              direction,
            )
          : await order(simulated.vendor(mapping.vendorName), vendorField.name, direction);
      if (show(values) !== show(meant))
        faults.push(`orderBy ${name} ${direction}: ${show(values)}, not ${show(meant)}`);
    }
  }
  return faults;
}

function compareTexts(spec: FieldSpec, one: string, other: string): number {
  return spec.type === 'boolean' ? Number(one === 'true') - Number(other === 'true') : compareAs(spec, one, other);
}

function sortValues(values: readonly unknown[], spec: FieldSpec, direction: string): readonly unknown[] {
  const known = values.filter((value) => value !== null);
  const sign = direction === 'asc' ? 1 : -1;
  const inOrder = known.toSorted((one, other) => sign * compareTexts(spec, String(one), String(other)));
  const nulls = values.filter((value) => value === null);
  return direction === 'asc' ? [...inOrder, ...nulls] : [...nulls, ...inOrder];
}

/** Pages of two rows, and larger ones where there are many, have all rows in their order. */
async function judgePages(
  { simulated, mapping, object, rows }: MappedListing,
  { paged }: RunEffort,
): Promise<readonly string[]> {
  const records = simulated.records(mapping.objectName);
  const pageSize = Math.max(2, Math.ceil(rows.length / Math.ceil(paged / 2)));
  const asked: Asked = { fields: listedNames(object) };
  const pages = await records.pages({ ...asked, pageSize });
  const short = pages.slice(0, -1).filter((page) => page.length !== pageSize);
  return [
    ...(short.length > 0 ? [`pages of ${pageSize} have ${short.map((page) => page.length).join()} rows`] : []),
    ...compareRows(`pages of ${pageSize}`, pages.flat(), rows),
  ];
}

/** A single record is the transformed record of the provider, and has what its row in the list has. */
async function judgeRecords(
  { simulated, mapping, object, rows }: MappedListing,
  { got }: RunEffort,
  tally: RunTally,
): Promise<readonly string[]> {
  const { get } = object;
  if (get === undefined || !Object.hasOwn(object.fields, object.idField ?? '')) return [];
  const names = Object.keys(object.fields).filter((name) => object.fields[name]?.onDemand !== true);
  const inLists = names.filter((name) => object.fields[name]?.unlisted !== true);
  const faults: string[] = [];
  for (const row of spread(rows, got)) {
    const id = String(readField(row, object.idField ?? ''));
    const record = await simulated.records(mapping.objectName).get(id);
    const vendorRecord = await simulated.vendor(mapping.vendorName).get(id);
    const meant = only(transform(vendorRecord, mapping, object.vendor.fields), names);
    tally.got++;
    faults.push(...compareRows(`get ${id}`, [record], [meant]));
    faults.push(...compareRows(`get ${id} and its row`, [only(record, inLists)], [only(row, inLists)]));
  }
  return faults;
}

const MOST_SHOWN = 20;

/** @throws Error with the first faults */
export function assertNone(faults: readonly string[]): void {
  const shown = faults.slice(0, MOST_SHOWN).map((fault) => (fault.length > 1500 ? `${fault.slice(0, 1500)} …` : fault));
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${shown.join('\n')}`);
}
