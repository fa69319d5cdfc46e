import type { Registry } from '../connector/registry.ts';
import type { Platform } from '../platform.ts';
import { analyse } from '../scripts/index.ts';
import { type ConnectorMappings, createCatalogue } from './catalogue/catalogue.ts';
import { createChangeMappings } from './changes.ts';
import type { FindSyntaxFault } from './check-transformation.ts';
import { createCommonResources } from './common-resources.ts';
import { createDefinitions } from './definitions.ts';
import { createKnownMappings } from './known.ts';
import { type MappingsInForce, SCRIPT_PARAMETERS } from './model.ts';
import { createMappingStore } from './store.ts';
import { createTransformations } from './transformations.ts';
import { createVdrs } from './vdrs.ts';
import { createVisible } from './visible.ts';

/** The parts of the platform that definitions and transformations use. */
export interface MappingPlatform extends Pick<Platform, 'knex' | 'notifier' | 'clock'> {
  readonly shares: Pick<Platform['shares'], 'list'>;
}

export interface MappingNeighbours {
  readonly accounts: { readonly getOrganizationId: (accountId: number) => Promise<number> };
  readonly registry: Registry;
  /** The content of the file `mappings.json` of each connector. */
  readonly connectorMappings: ConnectorMappings;
  /** Names that paths of the platform begin with. Those of the catalogue can be used all the same. */
  readonly reservedNames: ReadonlySet<string>;
}

/** Milliseconds for which the mappings in force for an instance are remembered, in case an announcement of a change was lost. */
const KEEP_MS = 5_000;

interface Remembered {
  readonly mappings: MappingsInForce;
  /** Number of changes that were known when the mappings were looked up. */
  readonly changes: number;
  readonly untilMs: number;
}

/** An instance, as far as its mappings depend on it. */
export interface MappedInstance {
  readonly accountId: number;
  readonly id: number;
  readonly connector: { readonly key: string };
}

export type Mappings = ReturnType<typeof composeMappings>;

/**
 * Creates the definitions and transformations.
 * @throws ConnectorError that names every fault of the catalogue
 */
export function composeMappings(
  platform: MappingPlatform,
  { accounts, registry, connectorMappings, reservedNames: reserved }: MappingNeighbours,
) {
  const { clock, shares } = platform;
  const findSyntaxFault: FindSyntaxFault = (body) => analyse(body, SCRIPT_PARAMETERS).syntaxError;
  const catalogue = createCatalogue({ connectors: registry.connectors, mappings: connectorMappings });
  const reservedNames = reserved.difference(new Set(catalogue.definitions.keys()));
  const known = createKnownMappings(platform);
  const store = createMappingStore(platform.knex);
  const changeMappings = createChangeMappings(platform, known);
  const definitions = createDefinitions({ store, changeMappings, clock, reservedNames });
  const transformations = createTransformations({ store, changeMappings, clock, findSyntaxFault });
  const visible = createVisible(shares);
  const shared = { store, visible, changeMappings, registry, definitions, reservedNames };
  const commonResources = createCommonResources(shared);
  const vdrs = createVdrs({ ...shared, clock, catalogue, transformations, findSyntaxFault });
  const remembered = new WeakMap<MappedInstance, Remembered>();
  let changes = 0;
  known.onChange(() => {
    changes++;
  });

  return {
    definitions,
    transformations,
    commonResources,
    vdrs,
    catalogue,

    /**
     * Returns the mappings in force for an instance. It is the same value until one of them changes. As long as no mapping of any owner
     * changes, the same object of an instance costs no look-up.
     */
    inForce: async (instance: MappedInstance): Promise<MappingsInForce> => {
      const last = remembered.get(instance);
      if (last?.changes === changes && clock.steady() < last.untilMs) return last.mappings;
      const { accountId, id, connector } = instance;
      // A change during the look-up makes the result outdated.
      const before = changes;
      const organizationId = await accounts.getOrganizationId(accountId);
      const mappings = await known.inForce({ organizationId, accountId, instanceId: id, elementKey: connector.key });
      remembered.set(instance, { mappings, changes: before, untilMs: clock.steady() + KEEP_MS });
      return mappings;
    },

    /** Returns the mappings in force for instances of an element that have none of their own. */
    inForceForElement: async ({
      accountId,
      elementKey,
    }: {
      readonly accountId: number;
      readonly elementKey: string;
    }) => {
      const organizationId = await accounts.getOrganizationId(accountId);
      return known.inForce({ organizationId, accountId, elementKey });
    },

    /** Calls a listener when mappings changed, see `KnownMappings`. */
    onChange: known.onChange,

    /** Removes the definitions and transformations of a deleted account. */
    removeSome: (accountId: number) => store.removeOfAccount(accountId),
  };
}
