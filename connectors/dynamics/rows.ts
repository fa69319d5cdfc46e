import { type Json, json, list, notFound, type ObjectSpec, path, records, rejected } from '#connector';
import { GUID } from './fields.ts';

/** A table, as the list of all tables describes it. */
export interface Table {
  readonly name: string;
  /** The name of its records in paths. */
  readonly set: string;
  readonly id: string;
  /** Whether Dataverse tracks its changes. */
  readonly isTracked: boolean;
  readonly about: Pick<ObjectSpec, 'label' | 'custom' | 'aliases' | 'native' | 'idField'>;
}

/** A way to write a lookup: the navigation property, and the name of the other table's records in paths. */
export interface Binding {
  readonly navigation: string;
  readonly set: string;
}

/** Bindings by the property of the lookup, or by the property and the table: `_customerid_value` and `_customerid_value@account`. */
export type Bindings = ReadonlyMap<string, Binding>;

/** Names the table of each lookup in rows. Source: "Retrieve data about lookup properties". */
const WITH_TABLES = 'odata.include-annotations="Microsoft.Dynamics.CRM.lookuplogicalname"';
const WITH_RECORD = { prefer: `return=representation,${WITH_TABLES}` };
/** Without it, a change of an unknown id would create a record. Source: "Update and delete table rows", "Limit upsert operations". */
const EXISTING = { 'if-match': '*' };
const ANNOTATED = '@Microsoft.Dynamics.CRM.lookuplogicalname';

/** Adds the fields that `partsOf` declares: the value of a lookup under the name of its table. */
function readRecord(native: unknown): unknown {
  const record = json.object(native, 'a record');
  const parts = Object.entries(record)
    .filter(([name]) => name.endsWith(ANNOTATED))
    .map(([name, table]) => {
      const property = name.slice(0, -ANNOTATED.length);
      return [`${property}@${table}`, record[property]] as const;
    });
  return { ...record, ...Object.fromEntries(parts) };
}

function selectOf({ id }: Table, natives: readonly string[]): { readonly $select: string } {
  return { $select: [...new Set([id, ...natives.map((native) => native.replace(/@.*$/, ''))])].join(',') };
}

const MAX_PAGE_SIZE = 5000;

/** Returns the list of a table. */
export function listOf(table: Table) {
  const headers = (limit: number) => ({ prefer: `odata.maxpagesize=${limit},${WITH_TABLES}` });
  return list<string>({
    request: ({ filter, order, natives, limit }) => ({
      path: path`/${table.set}`,
      query: { $filter: filter, $orderby: order, ...selectOf(table, natives) },
      headers: headers(limit),
    }),
    rows: (body) => json.array(json.at(body, 'value'), 'the rows'),
    paging: {
      kind: 'link',
      max: MAX_PAGE_SIZE,
      next: ({ body }) => json.at(body, '@odata.nextLink'),
      follow: ({ limit }) => ({ headers: headers(limit) }),
    },
    order: { term: (native, direction) => `${native} ${direction}`, id: table.id },
    readRecord,
  });
}

/** Returns the operations on single records of a table. */
export function recordsOf(table: Table, bindings: Bindings) {
  const { set } = table;
  const at = (id: string) => {
    // Other texts in parentheses would name a record by an alternate key.
    if (!GUID.test(id.toLowerCase())) throw notFound(`'${id}' is no id of Dataverse.`);
    return `${path`/${set}`}(${id})`;
  };
  const record = ({ body }: { readonly body: unknown }) => readRecord(body);
  return records({
    get: (id, natives) => ({
      path: at(id),
      query: selectOf(table, natives),
      headers: { prefer: WITH_TABLES },
    }),
    record,
    create: {
      request: (values) => ({
        method: 'POST',
        path: path`/${set}`,
        json: toBody(values, bindings, true),
        headers: WITH_RECORD,
      }),
    },
    update: {
      request: (id, values) => ({
        method: 'PATCH',
        path: at(id),
        json: toBody(values, bindings, false),
        headers: { ...EXISTING, ...WITH_RECORD },
      }),
      record,
    },
    remove: (id) => ({ method: 'DELETE', path: at(id), headers: EXISTING }),
  });
}

/** Returns the body of a write. A lookup is set by the address of the other record. Source: "Associate table rows on create". */
function toBody(values: Readonly<Record<string, unknown>>, bindings: Bindings, isNew: boolean): Json {
  const entries = Object.entries(values).flatMap(([native, value]) => {
    const binding = bindings.get(native);
    if (binding === undefined) return [[native, value] as const];
    if (value === null) return isNew ? [] : [[`${binding.navigation}@odata.bind`, null] as const];
    return [[`${binding.navigation}@odata.bind`, `/${binding.set}(${addressOf(value)})`] as const];
  });
  return Object.fromEntries(entries);
}

function addressOf(value: unknown): string {
  const id = String(value).toLowerCase();
  if (!GUID.test(id)) throw rejected(`'${value}' is no id of Dataverse.`);
  return id;
}
