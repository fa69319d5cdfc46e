import type { Knex } from 'knex';
import type { Tables } from '../../generated/tables.ts';
import { orderedJson } from '../db/json.ts';
import type { Removal } from '../db/removal.ts';
import { firstOf } from '../db/row.ts';
import { isStorable } from '../db/storable.ts';
import type { Definition, DefinitionField, Level, Transformation } from './model.ts';
import { type OrganizationOwner, type Owner, ownerKey } from './owner.ts';

/** A stored definition. */
interface StoredDefinition extends Definition {
  readonly id: number;
}

/** A stored transformation. */
export interface StoredTransformation extends Transformation {
  readonly elementKey: string;
  readonly changedAt: Date;
}

/** Number of stored rows of a level, for its limits. */
interface Usage {
  readonly definitions: number;
  /** Characters of all definitions and transformations, as JSON. */
  readonly size: number;
}

/** A stored transformation of an object, by its owner and its element. */
export interface TransformationUse {
  readonly level: 'organization' | 'account' | 'instance';
  readonly objectName: string;
  readonly elementKey: string;
  readonly accountId: number | null;
  readonly instanceId: number | null;
}

/** An account that looks at definitions. */
export interface VisibleTo {
  readonly organizationId: number;
  readonly accountId: number;
}

/** A definition that an account sees. */
export interface VisibleDefinition {
  readonly id: number;
  readonly objectName: string;
  readonly level: Level;
  readonly instanceId: number | null;
}

/** A transformation that an account sees: of an element or, with an id, of an instance. */
interface VisibleUse {
  readonly objectName: string;
  readonly elementKey: string;
  readonly instanceId: number | null;
}

type DefinitionRow = Pick<Tables['organization_definition'], 'id' | 'object_name' | 'fields' | 'changed_at'>;
type TransformationRow = Omit<Tables['organization_transformation'], 'organization_id'>;

export type MappingStore = ReturnType<typeof createMappingStore>;

/** Creates the store of definitions and transformations. Every statement names the owner. */
export function createMappingStore(knex: Knex) {
  const definitions = (owner: Owner) =>
    knex<DefinitionRow>(isOfOrganization(owner) ? 'organization_definition' : 'account_definition').where(keyOf(owner));
  const transformations = (owner: Owner) =>
    knex<TransformationRow>(isOfOrganization(owner) ? 'organization_transformation' : 'account_transformation').where(
      keyOf(owner),
    );

  return {
    /** Makes changes of one organization's mappings take turns, until the end of the transaction. */
    lock: async (organizationId: number): Promise<void> => {
      await knex('organization').where({ id: organizationId }).forNoKeyUpdate().first('id');
    },

    /** Returns the definitions of the owner itself, by name. */
    listDefinitions: async (owner: Owner): Promise<readonly StoredDefinition[]> =>
      (await definitions(owner).orderBy('object_name').select('id', 'object_name', 'fields')).map(toDefinition),

    findDefinition: async (owner: Owner, objectName: string): Promise<StoredDefinition | undefined> => {
      if (!isStorable(objectName)) return undefined;
      const row = await definitions(owner).where({ object_name: objectName }).first('id', 'object_name', 'fields');
      return row && toDefinition(row);
    },

    /** Returns those of the names that definitions of the owner have. */
    findNames: (owner: Owner, objectNames: readonly string[]): Promise<string[]> =>
      definitions(owner).whereIn('object_name', objectNames).orderBy('object_name').pluck('object_name'),

    /** Stores a definition in the place of one with its name. */
    putDefinition: async (owner: Owner, { objectName, fields }: Definition): Promise<void> => {
      const isStored = await definitions(owner)
        .where({ object_name: objectName })
        .update({ fields: orderedJson(knex, fields), changed_at: knex.fn.now() });
      if (isStored === 0)
        await knex(isOfOrganization(owner) ? 'organization_definition' : 'account_definition').insert({
          ...keyOf(owner),
          object_name: objectName,
          fields: orderedJson(knex, fields),
        });
    },

    /** Returns false when there is no such definition. */
    removeDefinition: async (owner: Owner, objectName: string): Promise<boolean> =>
      (await definitions(owner).where({ object_name: objectName }).delete()) > 0,

    /** Returns the transformations of the owner itself, by element and name. */
    listTransformations: async (owner: Owner, elementKey?: string): Promise<readonly StoredTransformation[]> => {
      const query = transformations(owner)
        .orderBy(['element_key', 'object_name'])
        .select(...TRANSFORMATION);
      if (elementKey !== undefined) query.where({ element_key: elementKey });
      return (await query).map(toTransformation);
    },

    findTransformation: async (
      owner: Owner,
      elementKey: string,
      objectName: string,
    ): Promise<StoredTransformation | undefined> => {
      if (!isStorable(objectName)) return undefined;
      const row = await transformations(owner)
        .where({ element_key: elementKey, object_name: objectName })
        .first(...TRANSFORMATION);
      return row && toTransformation(row);
    },

    /** Stores a transformation in the place of one with its name. */
    putTransformation: async (
      owner: Owner,
      elementKey: string,
      { objectName, vendorName, ...content }: Transformation,
      changedAt: Date,
    ): Promise<void> => {
      const values = { vendor_name: vendorName, content: orderedJson(knex, content), changed_at: changedAt };
      const key = { element_key: elementKey, object_name: objectName };
      const isStored = await transformations(owner).where(key).update(values);
      if (isStored === 0)
        await knex(isOfOrganization(owner) ? 'organization_transformation' : 'account_transformation').insert({
          ...keyOf(owner),
          ...key,
          ...values,
        });
    },

    removeTransformations: async (owner: Owner, elementKey: string, objectNames: readonly string[]): Promise<void> => {
      await transformations(owner).where({ element_key: elementKey }).whereIn('object_name', objectNames).delete();
    },

    /** Returns the instances of an account that have definitions or transformations of their own. */
    listInstanceIds: async (accountId: number): Promise<readonly number[]> => {
      const { rows } = await knex.raw<{ rows: { id: number }[] }>(
        `select instance_id as id from account_definition where account_id = :accountId and instance_id is not null
         union select instance_id from account_transformation where account_id = :accountId and instance_id is not null`,
        { accountId },
      );
      return rows.map(({ id }) => id);
    },

    /** Returns where transformations of objects are stored, at the level of the owner and below it. */
    listUses: async (
      owner: Owner,
      objectNames: readonly string[],
      limit: number,
    ): Promise<readonly TransformationUse[]> => {
      const { rows } = await knex.raw<{ rows: TransformationUse[] }>(
        `select * from (${usesOf(owner)}) u where "objectName" = any(:objectNames)
         order by "accountId" nulls first, "instanceId" nulls first, "elementKey", "objectName" limit :limit`,
        { ...idsOf(owner), objectNames, limit },
      );
      return rows;
    },

    /**
     * Removes the transformations of an object, at the level of the owner and below it.
     * @returns the owners that had one
     */
    removeUses: async (owner: Owner, objectName: string): Promise<readonly Owner[]> => {
      const owners = createOwners(owner);
      for (const [table, scope, columns] of scopesOf(owner)) {
        if (!table.endsWith('_transformation')) continue;
        const { rows } = await knex.raw<{ rows: Below[] }>(
          `delete from ${table} where object_name = :objectName and ${scope} returning ${columns}`,
          { ...idsOf(owner), objectName },
        );
        owners.add(rows);
      }
      return owners.list();
    },

    /** Returns the paths that transformations of an object map, at the level of the owner and below it. */
    listMappedPaths: async (owner: Owner, objectName: string): Promise<readonly string[]> => {
      const tables = scopesOf(owner).filter(([table]) => table.endsWith('_transformation'));
      const parts = tables.map(
        ([table, scope]) =>
          `select field->>'path' as path from ${table}, json_array_elements(content->'fields') field where object_name = :objectName and ${scope}`,
      );
      const { rows } = await knex.raw<{ rows: { path: string }[] }>(parts.join(' union '), {
        ...idsOf(owner),
        objectName,
      });
      return rows.map(({ path }) => path);
    },

    /**
     * Returns the definitions that an account sees, without their fields: those of its organization, its own, and those of its instances. They
     * are sorted by name, and those of one name from the highest level to the lowest.
     */
    listVisible: async (
      { organizationId, accountId }: VisibleTo,
      { objectName, limit }: { readonly objectName?: string; readonly limit: number },
    ): Promise<readonly VisibleDefinition[]> => {
      if (objectName !== undefined && !isStorable(objectName)) return [];
      const { rows } = await knex.raw<{ rows: VisibleDefinition[] }>(
        `select * from (
           select id, object_name as "objectName", 'organization' as level, cast(null as bigint) as "instanceId"
           from organization_definition where organization_id = :organizationId
           union all
           select id, object_name, case when instance_id is null then 'account' else 'instance' end, instance_id
           from account_definition where account_id = :accountId
         ) visible where cast(:objectName as text) is null or "objectName" = :objectName
         order by "objectName" collate "C", level = 'organization' desc, level = 'account' desc, "instanceId" limit :limit`,
        { organizationId, accountId, objectName: objectName ?? null, limit },
      );
      return rows;
    },

    /** Returns where an account sees transformations of objects. */
    listVisibleUses: async (
      { organizationId, accountId }: VisibleTo,
      objectNames: readonly string[],
      limit: number,
    ): Promise<readonly VisibleUse[]> => {
      const { rows } = await knex.raw<{ rows: VisibleUse[] }>(
        `select object_name as "objectName", element_key as "elementKey", cast(null as bigint) as "instanceId"
         from organization_transformation where organization_id = :organizationId and object_name = any(:objectNames)
         union select object_name, element_key, instance_id from account_transformation
         where account_id = :accountId and object_name = any(:objectNames)
         order by 1, 3 nulls first, 2 limit :limit`,
        { organizationId, accountId, objectNames, limit },
      );
      return rows;
    },

    /** Returns how much the owner itself has stored. */
    usage: async (owner: Owner): Promise<Usage> => {
      const [definition, transformation] = isOfOrganization(owner)
        ? ['organization_definition', 'organization_transformation']
        : ['account_definition', 'account_transformation'];
      const ofDefinitions = knex(definition)
        .where(keyOf(owner))
        .select(knex.raw('count(*)::int as definitions, coalesce(sum(length(fields::text)), 0)::bigint as size'));
      const ofTransformations = knex(transformation)
        .where(keyOf(owner))
        .select(knex.raw('0, coalesce(sum(length(content::text)), 0)::bigint'));
      const { rows } = await knex.raw<{ rows: Usage[] }>(
        'select sum(definitions)::int as definitions, sum(size)::bigint as size from (? union all ?) part',
        [ofDefinitions, ofTransformations],
      );
      return firstOf(rows);
    },

    /**
     * Renames an object at the level of the owner and below it.
     * @returns the owners below that have it
     * @throws a unique violation where a lower level has the new name
     */
    rename: async (owner: Owner, from: string, to: string, changedAt: Date): Promise<readonly Owner[]> => {
      const ids = { ...idsOf(owner), from, to, changedAt };
      const owners = createOwners(owner);
      for (const [table, scope, columns] of scopesOf(owner)) {
        const { rows } = await knex.raw<{ rows: Below[] }>(
          `update ${table} set object_name = :to, changed_at = :changedAt where object_name = :from and ${scope} returning ${columns}`,
          ids,
        );
        owners.add(rows);
      }
      return owners.list();
    },

    /** Removes the definitions and transformations of a deleted account. */
    removeOfAccount: async (accountId: number): Promise<Removal> => {
      for (const table of ['account_transformation', 'account_definition'] as const)
        await knex(table).where({ account_id: accountId }).delete();
      return 'done';
    },
  };
}

const TRANSFORMATION = ['element_key', 'object_name', 'vendor_name', 'content', 'changed_at'] as const;

function isOfOrganization(owner: Owner): owner is OrganizationOwner {
  return owner.level === 'organization';
}

function keyOf(owner: Owner) {
  if (isOfOrganization(owner)) return { organization_id: owner.organizationId };
  return { account_id: owner.accountId, instance_id: owner.level === 'instance' ? owner.instanceId : null };
}

/** The bindings of the raw statements. */
function idsOf(owner: Owner) {
  return {
    organizationId: owner.organizationId,
    accountId: isOfOrganization(owner) ? null : owner.accountId,
    instanceId: owner.level === 'instance' ? owner.instanceId : null,
  };
}

const IN_ORGANIZATION = 'organization_id = :organizationId';
const IN_ACCOUNTS = 'account_id in (select id from account where organization_id = :organizationId)';

/** The conditions on the rows of an owner and of those below it. */
const BELOW: Readonly<Record<Owner['level'], string>> = {
  organization: IN_ACCOUNTS,
  account: 'account_id = :accountId',
  instance: 'account_id = :accountId and instance_id = :instanceId',
};

type Scope = readonly [table: string, condition: string, columns: string];

const OF_ORGANIZATION: readonly Scope[] = ['organization_definition', 'organization_transformation'].map((table) => [
  table,
  IN_ORGANIZATION,
  'null as "accountId", null as "instanceId"',
]);

function scopesOf(owner: Owner): readonly Scope[] {
  const ofAccounts = ['account_definition', 'account_transformation'].map(
    (table): Scope => [table, BELOW[owner.level], 'account_id as "accountId", instance_id as "instanceId"'],
  );
  return isOfOrganization(owner) ? [...OF_ORGANIZATION, ...ofAccounts] : ofAccounts;
}

/** Collects the owners of rows at the level of an owner and below it, each once. */
function createOwners({ organizationId }: Owner) {
  const owners = new Map<string, Owner>();
  return {
    add: (rows: readonly Below[]): void => {
      for (const row of rows) {
        const found = ownerOf(organizationId, row);
        owners.set(ownerKey(found), found);
      }
    },
    list: (): readonly Owner[] => [...owners.values()],
  };
}

/** The owner of a row, within an organization. */
interface Below {
  readonly accountId: number | null;
  readonly instanceId: number | null;
}

function ownerOf(organizationId: number, { accountId, instanceId }: Below): Owner {
  if (accountId === null) return { level: 'organization', organizationId };
  if (instanceId === null) return { level: 'account', organizationId, accountId };
  return { level: 'instance', organizationId, accountId, instanceId };
}

function usesOf(owner: Owner): string {
  const ofAccounts = `select case when instance_id is null then 'account' else 'instance' end as level, object_name as "objectName",
    element_key as "elementKey", account_id as "accountId", instance_id as "instanceId" from account_transformation where ${BELOW[owner.level]}`;
  if (!isOfOrganization(owner)) return ofAccounts;
  return `select 'organization' as level, object_name as "objectName", element_key as "elementKey", null::bigint as "accountId",
    null::bigint as "instanceId" from organization_transformation where ${IN_ORGANIZATION} union all ${ofAccounts}`;
}

function toDefinition({ id, object_name, fields }: Omit<DefinitionRow, 'changed_at'>): StoredDefinition {
  // Only checked definitions are stored.
  return { id, objectName: object_name, fields: fields as readonly DefinitionField[] };
}

function toTransformation(row: TransformationRow): StoredTransformation {
  const { element_key, object_name, vendor_name, content, changed_at } = row;
  // Only checked transformations are stored.
  const parts = content as unknown as Omit<Transformation, 'objectName' | 'vendorName'>;
  return { elementKey: element_key, objectName: object_name, vendorName: vendor_name, ...parts, changedAt: changed_at };
}
