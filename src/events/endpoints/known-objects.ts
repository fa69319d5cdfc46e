import type { Registry } from '../../connector/registry.ts';
import type { RecordTypes } from './event-where.ts';
import type { KnownObject } from './warnings.ts';

/** Creates the lookups of what the connectors declare: their objects and fields, without a request to a provider. */
export function createKnownObjects({ connectors, findConnector }: Pick<Registry, 'connectors' | 'findConnector'>) {
  let known: readonly KnownObject[] | undefined;

  return {
    knownObjects: (): readonly KnownObject[] => {
      known ??= connectors.flatMap(({ key: elementKey, hub, objects }) =>
        typeof objects === 'function'
          ? []
          : Object.entries(objects).map(([objectName, { fields }]) => {
              return { elementKey, hub, objectName, fields: Object.keys(fields) };
            }),
      );
      return known;
    },

    findRecordTypes: (elementKey: string, objectName: string): RecordTypes | undefined => {
      const objects = findConnector(elementKey)?.objects;
      if (objects === undefined || typeof objects === 'function') return undefined;
      return Object.hasOwn(objects, objectName) ? objects[objectName]?.fields : undefined;
    },

    elements: {
      keys: () => connectors.map(({ key }) => key),
      hubs: () => [...new Set(connectors.map(({ hub }) => hub))],
    },
  };
}
