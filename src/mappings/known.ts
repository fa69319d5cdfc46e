import type { Knex } from 'knex';
import { LRUCache } from 'lru-cache';
import { createAnnouncedCache } from '../db/announced-cache.ts';
import type { Platform } from '../platform.ts';
import { hashOf, type LevelMappings, mergeMappings } from './in-force.ts';
import type { Definition, MappingsInForce, Transformation } from './model.ts';
import { type Owner, ownerKey } from './owner.ts';
import { createMappingStore, type StoredTransformation } from './store.ts';

/** Definitions and transformations in memory, until any process changes them. */
export type KnownMappings = ReturnType<typeof createKnownMappings>;

/** The definitions and transformations of one owner, without those above and below it. */
interface Part {
  /** Differs for any two contents. */
  readonly version: string;
  readonly size: number;
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly transformationsOf: ReadonlyMap<string, ReadonlyMap<string, Transformation>>;
  /** The instances of an account that have a part of their own; most have none. */
  readonly instanceIds: ReadonlySet<number>;
}

/** An instance, or an account where a mapping is tried out without an instance. */
export interface MappedAt {
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
const MOST_PARTS = 64 * 1024 * 1024;
const MOST_MERGED = 64 * 1024 * 1024;
const TOPIC = 'mappings';
/** The least size of an entry. */
const ENTRY = 1_000;

const NOTHING: ReadonlyMap<string, Transformation> = new Map();

export function createKnownMappings({ knex, notifier }: Pick<Platform, 'knex' | 'notifier'>) {
  const store = createMappingStore(knex);
  const parts = createAnnouncedCache<Part>({
    notifier,
    topic: TOPIC,
    load: (key) => loadPart(toOwner(key)),
    sizes: { of: ({ size }) => size, max: MOST_PARTS },
  });
  const merged = new LRUCache<string, Merged>({
    maxSize: MOST_MERGED,
    sizeCalculation: ({ mappings }) => sizeOfMerged(mappings),
  });

  async function loadPart(owner: Owner): Promise<Part> {
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

  async function partOf(owner: Owner): Promise<Part> {
    return (await parts.get(ownerKey(owner))) ?? loadPart(owner);
  }

  /** Returns the owners that have something stored, the lowest first. */
  async function partsOf({ organizationId, accountId, instanceId }: MappedAt) {
    const organization: Owner = { level: 'organization', organizationId };
    const account: Owner = { level: 'account', organizationId, accountId };
    const [ofOrganization, ofAccount] = await Promise.all([partOf(organization), partOf(account)]);
    const found = [
      { owner: account, part: ofAccount },
      { owner: organization, part: ofOrganization },
    ].filter(({ part }) => !isEmpty(part));
    if (instanceId === undefined || !ofAccount.instanceIds.has(instanceId)) return found;
    const instance: Owner = { level: 'instance', organizationId, accountId, instanceId };
    return [{ owner: instance, part: await partOf(instance) }, ...found];
  }

  return {
    /**
     * Returns the mappings in force. It is the same value until one of them changes, for all instances of an element that have the same
     * mappings.
     */
    inForce: async (at: MappedAt): Promise<MappingsInForce> => {
      const { elementKey } = at;
      const found = await partsOf(at);
      const [lowest] = found;
      const key = `${lowest === undefined ? '' : ownerKey(lowest.owner)} ${elementKey}`;
      const versions = found.map(({ part }) => part.version).join(' ');
      const known = merged.get(key);
      if (known?.versions === versions) return known.mappings;
      const levels = found.map(
        ({ owner: { level }, part }): LevelMappings => ({
          level,
          definitions: part.definitions,
          transformations: part.transformationsOf.get(elementKey) ?? NOTHING,
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
      await parts.changed(ownerKey(owner), via);
      // The part of the account says which of its instances have one.
      if (owner.level === 'instance') await parts.changed(ownerKey({ ...owner, level: 'account' }), via);
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

function isEmpty({ definitions, transformationsOf }: Part): boolean {
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
