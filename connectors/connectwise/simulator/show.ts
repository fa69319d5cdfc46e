import type { TableRow } from '#connector/simulator';
import { SETUP, type Tables } from './rows.ts';
import { isReference, type Reference, SCHEMAS, type Schema, type TableName } from './schema.ts';

export const BASE = '/v4_6_release/apis/3.0';

/** What records are shown with. */
export interface World {
  readonly tables: Tables;
  /** Where the caller takes ConnectWise to be. */
  readonly origin: string;
  /** What rows look like, as long as no table changes. */
  readonly shown: WeakMap<TableRow, TableRow>;
}

/** A world for each caller; that of the last one is kept until something changes. */
export function createWorlds(tables: () => Tables): (origin: string) => World {
  let kept: World | undefined;
  let version = -1;
  return (origin) => {
    const now = Object.values(tables()).reduce((sum, table) => sum + table.version(), 0);
    if (kept === undefined || kept.origin !== origin || version !== now) {
      kept = { tables: tables(), origin, shown: new WeakMap() };
      version = now;
    }
    return kept;
  };
}

/** How references to records are shown, by what schemas refer to. */
const RECORDS: Readonly<Record<string, { readonly link: string; readonly read: (row: TableRow) => TableRow }>> = {
  companies: { link: 'company', read: ({ identifier, name }) => ({ identifier, name }) },
  contacts: {
    link: 'contact',
    read: ({ firstName, lastName }) => ({ name: [firstName, lastName].filter((name) => name != null).join(' ') }),
  },
  tickets: { link: 'ticket', read: ({ summary }) => ({ summary }) },
};

function isTable(name: string): name is TableName {
  return Object.hasOwn(SCHEMAS, name);
}

/** Everything that something may refer to. */
export function candidates({ tables }: Pick<World, 'tables'>, { refersTo }: Reference): readonly TableRow[] {
  const record = RECORDS[refersTo];
  if (record !== undefined && isTable(refersTo)) {
    return tables[refersTo].rows(true).map((row) => ({ id: row.id, ...record.read(row) }));
  }
  return (SETUP[refersTo]?.entries ?? []).map((entry, index) => ({ id: index + 1, ...entry }));
}

function resolve(world: World, reference: Reference, id: unknown): TableRow | undefined {
  if (id == null) return undefined;
  const { refersTo } = reference;
  const record = RECORDS[refersTo];
  if (record === undefined || !isTable(refersTo)) {
    const { path, link, entries } = SETUP[refersTo] ?? {};
    const entry = entries?.[Number(id) - 1];
    return entry && { id, ...entry, _info: { [`${link}_href`]: hrefOf(world, `${path}/${id}`) } };
  }
  const row = world.tables[refersTo].find(String(id));
  const href = hrefOf(world, `${SCHEMAS[refersTo].path}/${id}`);
  return row && { id: row.id, ...record.read(row), _info: { [`${record.link}_href`]: href } };
}

/** With two slashes, as recorded answers have it. */
function hrefOf({ origin }: World, path: string): string {
  return `${origin}${BASE}//${path}`;
}

/** A record as answers have it: members without a value are not there, but for those of custom fields. */
export function showRow(world: World, name: TableName, row: TableRow): TableRow {
  const kept = world.shown.get(row) ?? makeShown(world, name, row);
  world.shown.set(row, kept);
  return kept;
}

function makeShown(world: World, name: TableName, row: TableRow): TableRow {
  const { members, screen, isDated, path }: Schema = SCHEMAS[name];
  const shown = Object.entries(members).map(([member, spec]): [string, unknown] => [
    member,
    isReference(spec) ? resolve(world, spec, row[member]) : row[member],
  ]);
  const { lastUpdated, updatedBy, dateEntered, enteredBy } = row;
  const info = name === 'fields' ? {} : { lastUpdated, updatedBy, ...(isDated && { dateEntered, enteredBy }) };
  return {
    ...Object.fromEntries(shown.filter(([, value]) => value != null)),
    ...(name === 'contacts' && phoneOf(row)),
    ...(row.deletedFlag === true && { dateDeleted: lastUpdated, deletedBy: updatedBy }),
    ...showArrays(world, name, row),
    ...(screen !== undefined && { customFields: showCustomFields(world, screen, row) }),
    _info: { ...info, ...(name === 'tickets' && { notes_href: hrefOf(world, `${path}/${row.id}/notes`) }) },
  };
}

function phoneOf({ communicationItems }: TableRow): TableRow {
  const items: readonly TableRow[] = Array.isArray(communicationItems) ? communicationItems : [];
  const phone = items.find(
    ({ communicationType, defaultFlag }) => communicationType === 'Phone' && defaultFlag === true,
  );
  return phone === undefined ? {} : { defaultPhoneType: 'Direct', defaultPhoneNbr: phone.value };
}

function showArrays(world: World, name: TableName, row: TableRow): TableRow {
  const { arrays = {} }: Schema = SCHEMAS[name];
  const shown = Object.entries(arrays).flatMap(([array, members]) => {
    const elements = row[array];
    if (!Array.isArray(elements)) return [];
    const showElement = (element: TableRow) =>
      Object.fromEntries(
        Object.entries(element).map(([member, value]) => {
          const spec = members[member];
          return [member, spec !== undefined && isReference(spec) ? resolve(world, spec, value) : value];
        }),
      );
    return [[array, elements.map(showElement)]];
  });
  return Object.fromEntries(shown);
}

export function customFieldsOf({ tables }: Pick<World, 'tables'>, screen: string): readonly TableRow[] {
  return tables.fields.rows().filter(({ screenId }) => screenId === screen);
}

/** What rows keep the value of a custom field under. */
export function customKey({ id, key }: TableRow): string {
  return typeof key === 'string' ? key : `field${id}`;
}

function showCustomFields(world: World, screen: string, { custom }: TableRow): readonly TableRow[] {
  const values: Readonly<Record<string, unknown>> = Object(custom ?? {});
  return customFieldsOf(world, screen).map((field) => ({
    ...{
      id: field.id,
      caption: field.caption,
      type: field.fieldTypeIdentifier,
      entryMethod: field.entryTypeIdentifier,
    },
    ...{ numberOfDecimals: field.numberDecimals, value: values[customKey(field)] ?? null },
    ...{ connectWiseId: field.connectWiseID, rowNum: field.sequenceNumber, userDefinedFieldRecId: field.id },
    podId: String(field.podDescription).toLowerCase().replaceAll(' ', '_'),
  }));
}
