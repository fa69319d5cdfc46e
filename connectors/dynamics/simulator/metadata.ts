import { Fault, json, type RouteHandler, type Routes, type TableRow } from '#connector/simulator';
import { type Attribute, attributeOf, ENTITIES } from './tables.ts';

const label = (text: string) => ({ LocalizedLabels: [], UserLocalizedLabel: { Label: text, LanguageCode: 1033 } });

/** Returns the rows of EntityDefinitions. One of them is the table of a relationship between many and many. */
function definitions(): readonly TableRow[] {
  const tables = Object.values(ENTITIES).map(({ entity }) => ({
    ...entity,
    DisplayCollectionName: label(entity.DisplayCollectionName),
  }));
  const intersection = {
    ...{ LogicalName: 'contactleads', EntitySetName: 'contactleadscollection', PrimaryIdAttribute: 'contactleadid' },
    ...{ IsIntersect: true, IsCustomEntity: false, ChangeTrackingEnabled: false, DisplayCollectionName: label('') },
  };
  return [...tables, intersection];
}

/** Returns the columns of a table. A choice has a second column with its label, which is part of it. */
function attributesOf(logical: string): readonly Attribute[] {
  return Object.values(ENTITIES[logical]?.properties ?? {}).flatMap((property) => attributeOf(property) ?? []);
}

function describeAttribute({
  RequiredLevel,
  Relationships: _,
  DateTimeBehavior: __,
  Options: ___,
  ...own
}: Attribute): readonly TableRow[] {
  const { LogicalName, AttributeType } = own;
  const row = {
    ...own,
    ...{ AttributeTypeName: { Value: `${AttributeType}Type` }, AttributeOf: null, IsValidForRead: true },
    ...{ RequiredLevel: { Value: RequiredLevel }, DisplayName: label(LogicalName) },
  };
  if (AttributeType !== 'Picklist') return [row];
  const part = { LogicalName: `${LogicalName}name`, AttributeType: 'Virtual', AttributeOf: LogicalName };
  return [row, { ...row, ...part, IsValidForCreate: false, IsValidForUpdate: false }];
}

/** Returns a function that picks the members that `$select` names. */
function picker(select: string | undefined | null): (row: TableRow) => TableRow {
  const names = select?.split(',');
  return (row) =>
    names === undefined ? row : Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
}

/** Returns the routes of the definitions of tables. Source: "Query table definitions using the Web API". */
export function definitionRoutes(root: string): Routes {
  const one = `GET ${root}/EntityDefinitions(LogicalName='{name}')`;
  const find: RouteHandler = ({ params: { name = '' }, query }) => {
    const row = definitions().find(({ LogicalName }) => LogicalName === name);
    if (row === undefined) throw new Fault(404, '0x80060888', `Could not find an entity with name ${name}`);
    const expanded = [...(query.get('$expand') ?? '').matchAll(/(\w+)\(\$select=([\w,]+)\)/g)].map(
      ([, member = '', select]) => [member, partsOf(name, member).map(picker(select))] as const,
    );
    return json({ ...picker(query.get('$select'))(row), ...Object.fromEntries(expanded) });
  };
  return {
    [`GET ${root}/EntityDefinitions`]: ({ query }) => json({ value: definitions().map(picker(query.get('$select'))) }),
    [one]: find,
    [`${one}/Attributes/Microsoft.Dynamics.CRM.DateTimeAttributeMetadata`]: ({ params: { name = '' }, query }) => {
      const times = attributesOf(name).flatMap(({ LogicalName, DateTimeBehavior: Value }) =>
        Value === undefined ? [] : [{ LogicalName, DateTimeBehavior: { Value } }],
      );
      return json({ value: times.map(picker(query.get('$select'))) });
    },
  };
}

function partsOf(logical: string, member: string): readonly TableRow[] {
  if (member === 'Attributes') return attributesOf(logical).flatMap(describeAttribute);
  if (member !== 'ManyToOneRelationships') throw new Fault(400, '0x80060888', `There is no property '${member}'`);
  return attributesOf(logical).flatMap(({ LogicalName, Relationships = [] }) =>
    Relationships.map((each) => ({ ReferencingAttribute: LogicalName, ...each })),
  );
}
