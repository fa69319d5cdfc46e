import { createHash } from 'node:crypto';
import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  Fault,
  type JsonSchema,
  type MovableClock,
  pick,
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
  /** The values of a choice, a state or a status. The first of a status is that of a new row. */
  readonly Options?: readonly number[];
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
  readonly ChangeTrackingEnabled: boolean;
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

/** A way to write a lookup: the member of bodies, such as `parentcustomerid_account@odata.bind`, and the table to which it leads. */
interface Lookup {
  readonly name: string;
  readonly member: string;
  readonly target: string;
}

interface Spec extends CollectionSpec, Scope {
  /** The entity set. */
  readonly set: string;
  readonly key: string;
  readonly properties: Described['properties'];
  readonly lookups: readonly Lookup[];
}

export type Table = Collection<Spec>;
export type Tables = Readonly<Record<string, Table>>;

/** Creates the tables, by their logical names. */
export function createTables(clock: MovableClock, onChange: (logical: string, change: TableChange) => void): Tables {
  const specs = Object.entries(ENTITIES).map(([logical, described]) => [logical, specOf(logical, described)] as const);
  return createCollections<string, Spec>({
    of: Object.fromEntries(specs),
    ...{ clock, onChange, isStrict: true },
    refuse: ([complaint]) => new Fault(400, '0x80048d19', complaint?.message ?? ''),
    absent: ({ set }, id) => new Fault(404, '0x80040217', `Entity '${set}' With Id = ${id} Does Not Exist`),
  });
}

function specOf(logical: string, { entity, properties }: Described): Spec {
  const columns = Object.entries(properties).filter(([, property]) => attributeOf(property) !== undefined);
  const described = schemaMembers(official, logical);
  const members = columns.flatMap(([name, { type }]) => {
    const { [name]: member } = described;
    return member === undefined ? [] : [[name, { ...member, isNeverNull: ![type].flat().includes('null') }] as const];
  });
  // An owner is a user here, and no team.
  const lookups = columns.flatMap(([name, property]) =>
    (attributeOf(property)?.Relationships ?? []).map(
      ({ ReferencedEntity: table, ReferencingEntityNavigationPropertyName: navigation }): Lookup => ({
        ...{ name, member: `${navigation}@odata.bind`, target: table === 'owner' ? 'systemuser' : table },
      }),
    ),
  );
  const owner = { _ownerid_value: guidOf('systemuser', 0), [`_ownerid_value${ANNOTATION}`]: 'systemuser' };
  return {
    ...{ set: entity.EntitySetName, key: entity.PrimaryIdAttribute, properties, lookups },
    members: Object.fromEntries(members),
    isGuid: (name) => properties[name]?.format === 'uuid',
    rows: 60,
    label: Object.keys(properties).find((name) => properties[name]?.maxLength !== undefined),
    makeId: (index) => guidOf(logical, index),
    vary: {
      ...lookupColumns(lookups),
      ...optionColumns(columns),
      statecode: (index) => index % 2,
      versionnumber: (index) => 1000 + index,
    },
    initial: { statecode: 0, statuscode: optionsOf(properties.statuscode)[0], versionnumber: 2000, ...owner },
    touch: ({ versionnumber }) => ({ versionnumber: Number(versionnumber) + 1 }),
    created: ['createdon'],
    changed: ['modifiedon'],
  };
}

/** Returns the columns of choices: each has the options that Microsoft's table references list, and is empty in some rows. */
function optionColumns(columns: readonly (readonly [string, JsonSchema])[]): Readonly<Record<string, Column>> {
  const entries = columns.flatMap(([name, property], at): [string, Column][] => {
    const options = optionsOf(property);
    if (options.length === 0) return [];
    return [
      [name, attributeOf(property)?.AttributeType === 'Status' ? cycle(options) : sparse(4 + (at % 3), cycle(options))],
    ];
  });
  return Object.fromEntries(entries);
}

function optionsOf(property: JsonSchema | undefined): readonly number[] {
  return attributeOf(property)?.Options ?? [];
}

/** Returns columns of lookups to rows that exist, where their table is simulated. */
function lookupColumns(lookups: readonly Lookup[]): Readonly<Record<string, Column>> {
  const entries = [...new Set(lookups.map(({ name }) => name))].flatMap((name, at): [string, Column][] => {
    const targets = lookups.filter((lookup) => lookup.name === name).map(({ target }) => target);
    const every = name === '_ownerid_value' ? 1000 : 3 + (at % 4);
    return [
      [name, sparse(every, (index) => guidOf(pick(targets, index), (index * 7 + at) % 40))],
      [name + ANNOTATION, sparse(every, cycle(targets))],
    ];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the values of a body, and the lookups that its references set.
 * @throws Fault for a reference to nothing
 */
export function withLookups(body: TableRow, { lookups }: Table, tables: Tables) {
  const isReference = (name: string) => lookups.some(({ member }) => member === name);
  const references = lookups.flatMap(({ name, member, target }): (readonly [string, string | null])[] => {
    const { [member]: value } = body;
    if (value === undefined) return [];
    if (value === null)
      return [
        [name, null],
        [name + ANNOTATION, null],
      ];
    const { [target]: table } = tables;
    const [, set, id = ''] = /^\/(\w+)\(([0-9a-f-]{36})\)$/i.exec(String(value)) ?? [];
    if (set === undefined || (table !== undefined && table.set !== set)) throw badQuery(`'${value}' is no ${target}`);
    table?.get(id.toLowerCase());
    return [
      [name, id.toLowerCase()],
      [name + ANNOTATION, target],
    ];
  });
  const values = Object.entries(body).filter(([name]) => !isReference(name));
  return { values: Object.fromEntries(values), references: Object.fromEntries(references) };
}

/** Returns the id of a row of a table. It is the same in every run. */
export function guidOf(name: string, index: number): string {
  const digits = createHash('sha256').update(`${name} ${index}`).digest('hex');
  return [8, 4, 4, 4, 12].map((length, at) => digits.slice(at * 12, at * 12 + length)).join('-');
}
