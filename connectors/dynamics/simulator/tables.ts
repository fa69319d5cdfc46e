import { createHash } from 'node:crypto';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  Fault,
  type JsonSchema,
  type MovableClock,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { badQuery, type Scope } from './filter.ts';

/** The facts of a column, beside those of JSON Schema. */
export interface Attribute {
  readonly LogicalName: string;
  readonly AttributeType: string;
  readonly IsValidForCreate: boolean;
  readonly IsValidForUpdate: boolean;
  readonly IsCustomAttribute: boolean;
  readonly RequiredLevel: string;
  readonly DateTimeBehavior?: string;
  /** The tables to which a lookup leads. */
  readonly Relationships?: readonly Relationship[];
}

interface Relationship {
  readonly ReferencedEntity: string;
  readonly ReferencingEntityNavigationPropertyName: string;
}

/** The definition of a table. */
export interface Entity {
  readonly LogicalName: string;
  readonly EntitySetName: string;
  readonly PrimaryIdAttribute: string;
  readonly DisplayCollectionName: string;
}

interface Described {
  readonly entity: Entity;
  readonly properties: Readonly<Record<string, JsonSchema>>;
}

/** The tables of the description, by their logical names. */
export const ENTITIES: Readonly<Record<string, Described>> = Object.fromEntries(
  Object.entries<JsonSchema>(official.schemas).flatMap(([logical, schema]) =>
    schema['x-entity'] === undefined
      ? []
      : [[logical, { entity: Object(schema['x-entity']), properties: Object(schema.properties) }]],
  ),
);

/** Returns the facts of a column; undefined for annotations and references. */
export function attributeOf(property: JsonSchema | undefined): Attribute | undefined {
  const attribute = property?.['x-attribute'];
  return attribute === undefined ? undefined : Object(attribute);
}

/** The annotation with the table to which a lookup leads. */
export const ANNOTATION = '@Microsoft.Dynamics.CRM.lookuplogicalname';
const BINDING = '@odata.bind';

interface Spec extends CollectionSpec, Scope {
  /** The entity set. */
  readonly set: string;
  readonly key: string;
  readonly properties: Described['properties'];
}

export type Table = Collection<Spec>;
export type Tables = Readonly<Record<string, Table>>;

/** Creates the tables, by their logical names. */
export function createTables(clock: MovableClock, onChange: (logical: string, change: TableChange) => void): Tables {
  return createCollections<string, Spec>({
    of: Object.fromEntries(Object.keys(ENTITIES).map((logical) => [logical, specOf(logical)])),
    ...{ clock, onChange, isStrict: true },
    refuse: ([complaint]) => new Fault(400, '0x80048d19', complaint?.message ?? ''),
    absent: ({ set }, id) => new Fault(404, '0x80040217', `Entity '${set}' With Id = ${id} Does Not Exist`),
  });
}

function specOf(logical: string): Spec {
  const { entity, properties } = ENTITIES[logical] ?? missing(logical);
  const key = entity.PrimaryIdAttribute;
  const isGuid = (name: string) => properties[name]?.format === 'uuid';
  const members = Object.entries(schemaMembers(official, logical)).flatMap(([name, member]) => {
    const attribute = attributeOf(properties[name]);
    if (attribute === undefined) return [];
    const isNeverNull = ![properties[name]?.type].flat().includes('null');
    return [[name, { ...member, isRequired: false, isNeverNull }] as const];
  });
  const lookups = Object.entries(properties).flatMap(([name, property], at) =>
    (attributeOf(property)?.Relationships ?? [])
      .slice(at % 2)
      .concat(attributeOf(property)?.Relationships ?? [])
      .slice(0, 1)
      .map(({ ReferencedEntity }) => [name, targetOf(ReferencedEntity), at] as const),
  );
  return {
    ...{ set: entity.EntitySetName, key, properties, isGuid, members: Object.fromEntries(members) },
    rows: 60,
    label: Object.keys(properties).find((name) => properties[name]?.maxLength !== undefined),
    makeId: (index) => guidOf(logical, index),
    vary: {
      ...Object.fromEntries(
        lookups.flatMap(([name, target, at]) => {
          const isEmpty = name === '_ownerid_value' ? 61 : 3 + (at % 4);
          return [
            [name, sparse(isEmpty, (index) => guidOf(target, (index * 7 + at) % 40))],
            [name + ANNOTATION, sparse(isEmpty, () => target)],
          ];
        }),
      ),
      statecode: (index) => index % 2,
      versionnumber: (index) => 1000 + index,
    },
    initial: {
      statecode: 0,
      statuscode: 1,
      _ownerid_value: guidOf('systemuser', 0),
      [`_ownerid_value${ANNOTATION}`]: 'systemuser',
      versionnumber: 2000,
    },
    touch: ({ versionnumber }) => ({ versionnumber: Number(versionnumber) + 1 }),
    created: ['createdon'],
    changed: ['modifiedon'],
  };
}

function missing(name: string): never {
  throw new Error(`There is no table '${name}'.`);
}

/** An owner is a user here, and no team. */
function targetOf(logical: string): string {
  return logical === 'owner' ? 'systemuser' : logical;
}

/**
 * Returns the values of a body, and the lookups that its references (`parentcustomerid_account@odata.bind`) set.
 * @throws Fault for a reference to nothing
 */
export function withLookups(body: TableRow, { properties }: Table, tables: Tables) {
  const lookups = new Map(
    Object.entries(properties).flatMap(([name, property]) =>
      (attributeOf(property)?.Relationships ?? []).map(
        ({ ReferencedEntity, ReferencingEntityNavigationPropertyName: navigation }) =>
          [navigation + BINDING, { name, target: targetOf(ReferencedEntity) }] as const,
      ),
    ),
  );
  const values: Record<string, unknown> = {};
  const references: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(body)) {
    const lookup = lookups.get(member);
    if (lookup === undefined) {
      values[member] = value;
      continue;
    }
    const { name, target } = lookup;
    const { [target]: table } = tables;
    const [, set, id = ''] = /^\/?(\w+)\(([0-9a-f-]{36})\)$/i.exec(String(value)) ?? [];
    const isWrong = set === undefined || (table !== undefined && table.set !== set);
    if (value !== null && isWrong) throw badQuery(`'${value}' is no reference to a ${target}`);
    if (value !== null) table?.get(id.toLowerCase());
    references[name] = value === null ? null : id.toLowerCase();
    references[name + ANNOTATION] = value === null ? null : target;
  }
  return { values, references };
}

/** Returns the id of a row of a table. It is the same in every run. */
export function guidOf(name: string, index: number): string {
  const digits = createHash('sha256').update(`${name} ${index}`).digest('hex');
  return [8, 4, 4, 4, 12].map((length, at) => digits.slice(at * 12, at * 12 + length)).join('-');
}
