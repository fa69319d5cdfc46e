import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { createAnnouncedCache } from '../db/caches.ts';
import type { Platform } from '../platform.ts';
import { hashOf, type LevelMappings, mergeMappings } from './in-force.ts';
import type { Definition, MappingsInForce, Transformation } from './model.ts';
import { type Owner, ownerKey } from './owner.ts';
import { createMappingStore, type StoredTransformation } from './store.ts';

/** Definitions and transformations in memory, until any process changes them. */
export type KnownMappings = ReturnType<typeof createKnownMappings>;

/** The definitions and transformations of one owner, without those above and below it. */
interface OwnerMappings {
  /** Differs for any two contents. */
  readonly version: string;
  readonly size: number;
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly transformationsOf: ReadonlyMap<string, ReadonlyMap<string, Transformation>>;
  /** Ids of the account's instances that have mappings of their own. Most have none. */
  readonly instanceIds: ReadonlySet<number>;
}

/** An instance, or an account where a mapping is tried out without an instance. */
interface MappedAt {
  readonly organizationId: number;
  readonly accountId: number;
  readonly instanceId?: number | undefined;
  readonly elementKey: string;
}

interface Merged {
  readonly versions: string;
  readonly mappings: MappingsInForce;
}

/** Maximum sizes of what is in memory, in characters of JSON. */
const MOST_OWNED = 64 * 1024 * 1024;
const MOST_MERGED = 64 * 1024 * 1024;
const TOPIC = 'mappings';
/** The least size of an entry. */
const ENTRY = 1_000;

const NOTHING: ReadonlyMap<string, Transformation> = new Map();

export function createKnownMappings({ knex, notifier }: Pick<Platform, 'knex' | 'notifier'>) {
  const store = createMappingStore(knex);
  const owners = createAnnouncedCache<OwnerMappings>({
    notifier,
    topic: TOPIC,
    load: (key) => loadOwner(toOwner(key)),
    sizes: { of: ({ size }) => size, max: MOST_OWNED },
  });
  const merged = new LRUCache<string, Merged>({
    maxSize: MOST_MERGED,
    sizeCalculation: ({ mappings }) => sizeOfMerged(mappings),
  });

  async function loadOwner(owner: Owner): Promise<OwnerMappings> {
    const [definitions, transformations, instanceIds] = await Promise.all([
      store.listDefinitions(owner),
      store.listTransformations(owner),
      owner.level === 'account' ? store.listInstanceIds(owner.accountId) : [],
    ]);
    const byElement = Map.groupBy(transformations, ({ elementKey }) => elementKey);
    return {
      version: hashOf([definitions, transformations]),
      size: ENTRY + JSON.stringify([definitions, transformations, instanceIds]).length,
      definitions: new Map(definitions.map((definition) => [definition.objectName, definition])),
      transformationsOf: new Map([...byElement].map(([element, found]) => [element, byName(found)])),
      instanceIds: new Set(instanceIds),
    };
  }

  async function mappingsOf(owner: Owner): Promise<OwnerMappings> {
    return (await owners.get(ownerKey(owner))) ?? loadOwner(owner);
  }

  /** Returns the owners that have something stored, the lowest first. */
  async function listOwners({ organizationId, accountId, instanceId }: MappedAt) {
    const organization: Owner = { level: 'organization', organizationId };
    const account: Owner = { level: 'account', organizationId, accountId };
    const [ofOrganization, ofAccount] = await Promise.all([mappingsOf(organization), mappingsOf(account)]);
    const found = [
      { owner: account, own: ofAccount },
      { owner: organization, own: ofOrganization },
    ].filter(({ own }) => !isEmpty(own));
    if (instanceId === undefined || !ofAccount.instanceIds.has(instanceId)) return found;
    const instance: Owner = { level: 'instance', organizationId, accountId, instanceId };
    return [{ owner: instance, own: await mappingsOf(instance) }, ...found];
  }

  return {
    /**
     * Returns the mappings in force. It is the same value until one of them changes, for all instances of an element that have the same
     * mappings.
     */
    inForce: async (at: MappedAt): Promise<MappingsInForce> => {
      const { elementKey } = at;
      const found = await listOwners(at);
      const [lowest] = found;
      const key = `${lowest === undefined ? '' : ownerKey(lowest.owner)} ${elementKey}`;
      const versions = found.map(({ own }) => own.version).join(' ');
      const known = merged.get(key);
      if (known?.versions === versions) return known.mappings;
      const levels = found.map(
        ({ owner: { level }, own }): LevelMappings => ({
          level,
          definitions: own.definitions,
          transformations: own.transformationsOf.get(elementKey) ?? NOTHING,
        }),
      );
      const mappings = mergeMappings(levels, known?.mappings);
      merged.set(key, { versions, mappings });
      return mappings;
    },

    /**
     * Calls a listener when the mappings of an owner changed, in any process; without an owner when messages may have been missed.
     * @returns the function that ends it
     */
    onChange: (listener: (owner?: Owner) => void): (() => void) => {
      const ends = [notifier.subscribe(TOPIC, (key) => listener(toOwner(key))), notifier.onGap(() => listener())];
      return () => {
        for (const end of ends) end();
      };
    },

    /** Announces a change of what an owner has: at the commit of the transaction (`via`). */
    changed: async (owner: Owner, via: Knex): Promise<void> => {
      await owners.changed(ownerKey(owner), via);
      // The account's entry lists the instances that have mappings of their own.
      if (owner.level === 'instance') await owners.changed(ownerKey({ ...owner, level: 'account' }), via);
    },
  };
}

/** The inverse of `ownerKey`. */
function toOwner(key: string): Owner {
  const [organizationId = 0, accountId, instanceId] = key.split(' ').map(Number);
  if (accountId === undefined) return { level: 'organization', organizationId };
  if (instanceId === undefined) return { level: 'account', organizationId, accountId };
  return { level: 'instance', organizationId, accountId, instanceId };
}

function isEmpty({ definitions, transformationsOf }: OwnerMappings): boolean {
  return definitions.size === 0 && transformationsOf.size === 0;
}

function byName(transformations: readonly StoredTransformation[]): ReadonlyMap<string, Transformation> {
  return new Map(
    transformations.map(({ elementKey: _, changedAt: __, ...transformation }) => [
      transformation.objectName,
      transformation,
    ]),
  );
}

function sizeOfMerged({ byName, unmapped }: MappingsInForce): number {
  return ENTRY + JSON.stringify([[...byName.values()], unmapped]).length;
}
