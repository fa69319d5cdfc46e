import type { MappingInForce, MappingScript } from '../../src/mappings/model.ts';
import type { Sandbox } from '../../src/scripts/index.ts';
import { inForceOf } from '../mappings/simulated.ts';
import { createObject, createService, type FakeRow } from './fake-provider.ts';

interface Scripted {
  readonly run: Sandbox['run'];
  readonly script: string | MappingScript;
  readonly rows: readonly FakeRow[];
  /** Whether the script also changes the values of filters. */
  readonly changesFilters?: boolean;
}

/** Returns a service with the object `rows`, whose mapping has a script. */
export function openScripted({ run, script, rows, changesFilters = false }: Scripted) {
  const fields = ['id', 'name', 'score'] as const;
  const mapping: MappingInForce = {
    ...inForceOf({
      objectName: 'rows',
      vendorName: 'rows',
      fields: fields.map((path) => ({ path, vendorPath: path, type: path === 'name' ? 'string' : 'number' })),
      configuration: [
        { type: 'passThrough', properties: { fromVendor: false } },
        ...(changesFilters ? [{ type: 'applyJSOnQueryFieldValue' } as const] : []),
      ],
    }),
    script: typeof script === 'string' ? { body: script } : script,
  };
  const inForce = async () => ({ version: '1', byName: new Map([['rows', mapping]]), unmapped: [] });
  return createService({ rows: createObject(rows) }, () => ({}), { inForce, sandbox: { run } });
}
