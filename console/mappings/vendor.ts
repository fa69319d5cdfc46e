import type { Row } from '../../src/where/row-values.ts';
import { api, askPage, onInstance } from '../api.ts';
import { readRecords } from '../explore/records.ts';
import { type Loaded, useLoad } from '../load.ts';

/** The objects of an instance: the provider's own, and the mapped ones. */
export interface InstanceObjects {
  /** Names of the provider's objects whose records can be listed. */
  readonly names: readonly string[];
  /** Names of the provider's objects by the names of the mapped objects. */
  readonly mapped: ReadonlyMap<string, string>;
}

/** Returns the objects of an instance. Undefined while no instance is chosen. */
export function useInstanceObjects(instanceId: number | undefined): Loaded<InstanceObjects | undefined> {
  return useLoad(
    async (signal) => {
      if (instanceId === undefined) return undefined;
      const asked = { signal, headers: onInstance(instanceId), params: { query: { details: true } } };
      const { rows } = await askPage(api.GET('/objects', asked));
      const objects = rows.filter((row) => typeof row !== 'string');
      const listed = objects.filter(({ operations }) => operations.includes('list'));
      return {
        // A mapped object replaces one of the provider with the same name. The `vendorName` of the mapped object shows that the provider
        // has one.
        names: [...new Set(listed.map(({ vendorName }) => vendorName))],
        mapped: new Map(objects.flatMap(({ name, vendorName, type }) => (type === 'vdr' ? [[name, vendorName]] : []))),
      };
    },
    [instanceId],
  );
}

/** Returns whether calls reach the provider's object under its own name, and not a mapped object. */
export function isReachable({ mapped }: InstanceObjects, vendorName: string): boolean {
  return !mapped.has(vendorName);
}

const EXAMPLES = 5;

interface ExamplesAsked {
  /** Id of the instance. Without one, no request is sent. */
  readonly instanceId: number | undefined;
  readonly objectName: string;
}

/** Returns a few records of an object of an instance. */
export function useExamples({ instanceId, objectName }: ExamplesAsked): Loaded<readonly Row[]> {
  return useLoad(
    async (signal) => {
      if (instanceId === undefined || objectName === '') return [];
      const query = { where: '', orderBy: '', fields: '', pageSize: EXAMPLES };
      return (await readRecords({ instanceId, objectName, query, nextPage: undefined }, signal)).rows;
    },
    [instanceId, objectName],
  );
}
