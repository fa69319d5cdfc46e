import {
  type ChangeAction,
  type ConnectorContext,
  defined,
  defineObject,
  type FieldSpec,
  type Json,
  json,
  type ObjectSpec,
  type Objects,
} from '#connector';
import { deletionsOf } from './deletions.ts';
import { type Column, isShown, propertyOf, toFieldSpec } from './fields.ts';
import { type Binding, type Bindings, listOf, recordsOf, type Table } from './rows.ts';
import { translator } from './where.ts';

type Tables = ReadonlyMap<string, Table>;

const TABLE = [
  'LogicalName',
  'EntitySetName',
  'PrimaryIdAttribute',
  'IsCustomEntity',
  'IsIntersect',
  'ChangeTrackingEnabled',
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
  const isTracked = table.ChangeTrackingEnabled === true;
  return { name: String(name), set: String(set), id: String(id), isTracked, about: defined(about) };
}

function reportsOf({ isTracked }: Table): readonly ChangeAction[] {
  return isTracked ? ['created', 'updated', 'deleted'] : ['created', 'updated'];
}

function outlineOf(table: Table, tables: Tables): ObjectSpec {
  return defineObject<string>({
    ...table.about,
    fields: {},
    list: listOf(table),
    ...recordsOf(table, new Map()),
    changes: { reports: reportsOf(table) },
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
    changes: defined({
      updated: has('modifiedon'),
      created: has('createdon'),
      overlapSeconds: 120,
      // Without the column, polls compare all records.
      feed: table.isTracked && has('modifiedon') !== undefined ? deletionsOf(table) : undefined,
    }),
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

/** Owners are users or teams. An id does not show which of them it is, so only users can be set. */
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
      return [[key, { navigation, set }] as const];
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
