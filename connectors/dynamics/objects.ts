import {
  type ConnectorContext,
  defined,
  defineObject,
  type FieldSpec,
  type Json,
  json,
  list,
  notFound,
  type ObjectSpec,
  type Objects,
  path,
  records,
} from '#connector';
import { type Column, GUID, isShown, propertyOf, toFieldSpec } from './fields.ts';
import { translator } from './where.ts';

/** A table, as the list of all tables describes it. */
interface Table {
  readonly name: string;
  /** The name of its records in paths. */
  readonly set: string;
  readonly id: string;
  readonly about: Pick<ObjectSpec, 'label' | 'custom' | 'aliases' | 'native' | 'idField'>;
}

type Tables = ReadonlyMap<string, Table>;

const TABLE = [
  'LogicalName',
  'EntitySetName',
  'PrimaryIdAttribute',
  'IsCustomEntity',
  'IsIntersect',
  'DisplayCollectionName',
];

/** Returns all tables of the environment, without their columns. Source: "Query table definitions using the Web API". */
export async function discoverObjects({ send }: ConnectorContext): Promise<Objects> {
  const { body } = await send({ path: '/EntityDefinitions', query: { $select: TABLE.join(',') } });
  const found = json.objects(json.at(body, 'value'), 'the tables').flatMap((table) => readTable(table) ?? []);
  const tables: Tables = new Map(found.map((table) => [table.name, table]));
  return Object.fromEntries(found.map((table) => [table.name, outlineOf(table, tables)]));
}

const NAME = /^[A-Za-z]\w*$/;
/** Names that other CRMs share and that are not those of the records in paths. */
const ALIASES: Readonly<Record<string, readonly string[]>> = { systemuser: ['users'], incident: ['cases'] };

/** Tables that only join two others have no records of their own. */
function readTable(table: Json): Table | undefined {
  const { LogicalName: name, EntitySetName: set, PrimaryIdAttribute: id, IsIntersect } = table;
  const isUsable = [name, set, id].every((each) => typeof each === 'string' && NAME.test(each));
  if (!isUsable || IsIntersect === true) return undefined;
  const label = json.findText(json.at(table, 'DisplayCollectionName', 'UserLocalizedLabel', 'Label'));
  const aliases = [String(set), ...(ALIASES[String(name)] ?? [])].filter((alias) => alias !== name);
  const about = { label, custom: table.IsCustomEntity === true, aliases, native: String(set), idField: String(id) };
  return { name: String(name), set: String(set), id: String(id), about: defined(about) };
}

function outlineOf(table: Table, tables: Tables): ObjectSpec {
  return defineObject<string>({
    ...table.about,
    fields: {},
    list: listOf(table),
    ...recordsOf(table, new Map()),
    changes: { reports: ['created', 'updated'] },
    describe: (context) => describeTable(context, table, tables),
  });
}

const ATTRIBUTE =
  'LogicalName,AttributeType,AttributeTypeName,AttributeOf,IsValidForRead,IsValidForCreate,IsValidForUpdate,' +
  'IsCustomAttribute,RequiredLevel,DisplayName';
const RELATIONSHIP = 'ReferencingAttribute,ReferencedEntity,ReferencingEntityNavigationPropertyName';

/** Reads the columns of a table and the tables that its lookups refer to. */
async function describeTable({ send }: ConnectorContext, table: Table, tables: Tables): Promise<ObjectSpec> {
  const definition = `/EntityDefinitions(LogicalName='${table.name}')`;
  const expanded = `Attributes($select=${ATTRIBUTE}),ManyToOneRelationships($select=${RELATIONSHIP})`;
  const { body } = await send({ path: definition, query: { $select: 'LogicalName', $expand: expanded } });
  const attributes = json.objects(json.at(body, 'Attributes'), 'the columns').filter(isShown);
  const relationships = json.objects(json.at(body, 'ManyToOneRelationships'), 'the relationships');
  const days = attributes.some(({ AttributeType }) => AttributeType === 'DateTime')
    ? await readDays(send, definition)
    : new Set();
  const bindings = bindingsOf(attributes, relationships, tables);
  const columns = attributes.map((attribute): readonly [string, FieldSpec] => {
    const isDay = days.has(attribute.LogicalName);
    const isBound = bindings.has(propertyOf(attribute));
    return [String(attribute.LogicalName), toFieldSpec({ attribute, isDay, isBound } satisfies Column)];
  });
  const fields = Object.fromEntries([...columns, ...partsOf(attributes, bindings)]);
  const has = (name: string) => (Object.hasOwn(fields, name) ? name : undefined);
  return defineObject<string>({
    ...table.about,
    fields,
    shape: { kind: 'any' },
    // A URL has at most 32 KB, with the names of all columns.
    limits: { maxTerms: 100, maxLength: 8000, maxSortFields: 8 },
    translator,
    list: listOf(table),
    ...recordsOf(table, bindings),
    // Workflows and plug-ins run in the transaction of a change, for at most two minutes.
    changes: defined({ updated: has('modifiedon'), created: has('createdon'), overlapSeconds: 120 }),
  });
}

/** Returns the columns of dates without a time. Only the metadata of their own type has it. Source: `DateTimeAttributeMetadata`. */
async function readDays(send: ConnectorContext['send'], definition: string): Promise<ReadonlySet<unknown>> {
  const { body } = await send({
    path: `${definition}/Attributes/Microsoft.Dynamics.CRM.DateTimeAttributeMetadata`,
    query: { $select: 'LogicalName,DateTimeBehavior' },
  });
  const columns = json.objects(json.at(body, 'value'), 'the columns of dates');
  const isDay = (column: Json) => json.at(column, 'DateTimeBehavior', 'Value') === 'DateOnly';
  return new Set(columns.filter(isDay).map(({ LogicalName }) => LogicalName));
}

/** How a lookup is written: the navigation property, and the name of the other table's records in paths. */
interface Binding {
  readonly navigation: string;
  readonly set: string;
  readonly target: string;
}

/** Bindings by the property of the lookup, or by the property and the table: `_customerid_value` and `_customerid_value@account`. */
type Bindings = ReadonlyMap<string, Binding>;

/** Owners are users or teams. A team cannot be told from a user by its id, so only users can be set. */
const OWNER = 'owner';
const USER = 'systemuser';

function bindingsOf(attributes: readonly Json[], relationships: readonly Json[], tables: Tables): Bindings {
  const found = attributes.flatMap((attribute): readonly (readonly [string, Binding])[] => {
    const own = relationships.filter(({ ReferencingAttribute }) => ReferencingAttribute === attribute.LogicalName);
    const isWritten = attribute.IsValidForCreate === true || attribute.IsValidForUpdate === true;
    return own.flatMap(({ ReferencedEntity, ReferencingEntityNavigationPropertyName: navigation }) => {
      const target = String(ReferencedEntity);
      const set = tables.get(target === OWNER ? USER : target)?.set;
      if (!isWritten || set === undefined || typeof navigation !== 'string') return [];
      const property = propertyOf(attribute);
      const key = own.length === 1 ? property : `${property}@${target}`;
      return [[key, { navigation, set, target }] as const];
    });
  });
  return new Map(found);
}

/** Returns the fields of lookups that refer to several tables: one for each table. */
function partsOf(attributes: readonly Json[], bindings: Bindings): readonly (readonly [string, FieldSpec])[] {
  return attributes.flatMap((attribute) =>
    [...bindings]
      .filter(([key]) => key.startsWith(`${propertyOf(attribute)}@`))
      .map(([key, { navigation }]) => {
        const { filter: _, ...field } = toFieldSpec({ attribute, isDay: false, isBound: true });
        return [navigation, { ...field, native: key }] as const;
      }),
  );
}

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

function listOf(table: Table) {
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

function recordsOf({ set, ...table }: Table, bindings: Bindings) {
  const at = (id: string) => {
    // Other texts in parentheses would name a record by an alternate key.
    if (!GUID.test(id.toLowerCase())) throw notFound(`'${id}' is no id of Dataverse.`);
    return `${path`/${set}`}(${id})`;
  };
  const record = ({ body }: { readonly body: unknown }) => readRecord(body);
  return records({
    get: (id, natives) => ({
      path: at(id),
      query: selectOf({ set, ...table }, natives),
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
  if (!GUID.test(id)) throw notFound(`'${value}' is no id of Dataverse.`);
  return id;
}
