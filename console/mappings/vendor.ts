import type { Row } from '../../src/where/row-values.ts';
import { api, askPage, onInstance } from '../api.ts';
import { readRecords } from '../explore/records.ts';
import { type Loaded, useLoad } from '../load.ts';

/** The objects of an instance: those of the provider, and the mapped ones. */
export interface InstanceObjects {
  /** Names of the provider's objects whose records can be listed. */
  readonly names: readonly string[];
  /** Names of the provider's objects by those of the mapped ones. */
  readonly mapped: ReadonlyMap<string, string>;
}

/** The objects of an instance; nothing while none is chosen. */
export function useInstanceObjects(instanceId: number | undefined): Loaded<InstanceObjects | undefined> {
  return useLoad(
    async (signal) => {
      if (instanceId === undefined) return undefined;
      const asked = { signal, headers: onInstance(instanceId), params: { query: { details: true } } };
      const { rows } = await askPage(api.GET('/objects', asked));
      const objects = rows.filter((row) => typeof row !== 'string');
      const listed = objects.filter(({ operations }) => operations.includes('list'));
      return {
        // A mapped object takes the place of one with the same name. Its own `vendorName` says that there is one.
        names: [...new Set(listed.map(({ vendorName }) => vendorName))],
        mapped: new Map(objects.flatMap(({ name, vendorName, type }) => (type === 'vdr' ? [[name, vendorName]] : []))),
      };
    },
    [instanceId],
  );
}

/** Returns whether calls reach the provider's object under its name, and not a mapped one. */
export function isReachable({ mapped }: InstanceObjects, vendorName: string): boolean {
  return !mapped.has(vendorName);
}

const EXAMPLES = 5;

interface ExamplesAsked {
  /** Without an instance, no request is sent. */
  readonly instanceId: number | undefined;
  readonly objectName: string;
}

/** A few records of an object of an instance. */
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
