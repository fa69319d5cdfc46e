import type { Registry } from '../../connector/registry.ts';
import type { Mappings } from '../../mappings/index.ts';
import type { KnownObject } from './warnings.ts';

export interface KnownObjectPorts {
  readonly registry: Pick<Registry, 'connectors'>;
  readonly mappings: Pick<Mappings, 'inForceForElement'>;
}

/** Creates the lookups of objects and fields that are known without a request to a provider. */
export function createKnownObjects({ registry: { connectors }, mappings }: KnownObjectPorts) {
  let declared: readonly KnownObject[] | undefined;

  function declaredObjects(): readonly KnownObject[] {
    declared ??= connectors.flatMap(({ key: elementKey, hub, objects }) =>
      typeof objects === 'function'
        ? []
        : Object.entries(objects).map(([objectName, { fields }]) => {
            return { elementKey, hub, objectName, fields: Object.keys(fields) };
          }),
    );
    return declared;
  }

  async function mappedObjects(accountId: number): Promise<readonly KnownObject[]> {
    const found = await Promise.all(
      connectors.map(async ({ key: elementKey, hub }) => {
        const { byName } = await mappings.inForceForElement({ accountId, elementKey });
        return [...byName.values()].map(({ objectName, definition }): KnownObject => {
          return { elementKey, hub, objectName, fields: definition.map(({ path }) => path) };
        });
      }),
    );
    return found.flat();
  }

  return {
    /** Returns the objects that connectors declare, and those that the account maps for all instances of an element. */
    knownObjects: async (accountId: number): Promise<readonly KnownObject[]> => [
      ...declaredObjects(),
      ...(await mappedObjects(accountId)),
    ],

    elements: {
      keys: () => connectors.map(({ key }) => key),
      hubs: () => [...new Set(connectors.map(({ hub }) => hub))],
    },
  };
}
