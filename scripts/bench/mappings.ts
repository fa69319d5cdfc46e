/**
 * Measures mapped objects: the cost of a row and of a compilation, a mapped GET compared with the same unmapped one, the predicates that
 * are pushed, and a list over 50 instances. `node scripts/bench/mappings.ts [--seconds 5]`. Everything runs on loopback and stops by
 * itself.
 */
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { compileMapping } from '../../src/mappings/compile.ts';
import type { MappingInForce, Transformation } from '../../src/mappings/model.ts';
import { createFederatedLists, type FederatedInstance } from '../../src/resources/federated.ts';
import { mapObject } from '../../src/resources/mapped.ts';
import { type FieldSpec, prepareQuery, type Queryable, type Row } from '../../src/where/index.ts';
import { cpuMsOf, type RunningService, startService, UNLIMITED } from './running-service.ts';

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const seconds = Number(options.seconds);
const level = 'organization';
const OWN = { folders: [OWN_CONNECTORS], packages: [] };

function mappingOf(fields: readonly { readonly path: string; readonly vendorPath: string }[]): MappingInForce {
  return {
    version: String(Math.random()),
    objectName: 'mine',
    vendorName: 'theirs',
    level,
    definition: fields.map(({ path }) => ({ path, type: 'string', level })),
    fields: fields.map((field) => ({ ...field, level })),
    configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
  };
}

function wide(count: number): { readonly vendor: Queryable; readonly mapping: MappingInForce; readonly row: Row } {
  const names = Array.from({ length: count }, (_, index) => `Field_${index}`);
  const spec: FieldSpec = { type: 'string', filter: { '=': 'exact', LIKE: 'exact' } };
  return {
    vendor: { fields: Object.fromEntries(names.map((name) => [name, spec])) },
    mapping: mappingOf(names.map((name, index) => ({ path: `field${index}`, vendorPath: name }))),
    row: Object.fromEntries(names.map((name) => [name, 'value'])),
  };
}

/** Returns the CPU time of one run in microseconds, the best of five rounds. */
function cpuUsOf(work: () => void, runs: number): number {
  const rounds = Array.from({ length: 5 }, () => {
    const begun = process.cpuUsage();
    for (let run = 0; run < runs; run++) work();
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / runs;
  });
  return Math.min(...rounds);
}

function measureRows(): void {
  const { vendor, mapping, row } = wide(20);
  const { map } = compileMapping(vendor, mapping, undefined).rowMapping();
  const us = cpuUsOf(() => void map(row, new Map()), 50_000);
  console.log(`a row of 20 renamed fields: ${us.toFixed(2)} µs, ${(us / 20).toFixed(3)} µs a field`);
  const large = wide(200);
  const compile = cpuUsOf(() => void compileMapping(large.vendor, large.mapping, undefined).rowMapping(), 20);
  console.log(`compiling 200 fields: ${(compile / 1000).toFixed(2)} ms`);
  global.gc?.();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 1000 }, () => {
    const { vendor: object, mapping: each } = wide(20);
    return compileMapping(object, each, undefined).rowMapping();
  });
  global.gc?.();
  const bytes = process.memoryUsage().heapUsed - before;
  console.log(`${kept.length} compiled transformations of 20 fields: ${(bytes / 1024 / 1024).toFixed(1)} MB`);
}

/** Compares how much of a predicate on each mapped field is pushed with the same predicate on the provider's field. */
async function measurePushdown(): Promise<void> {
  const connectors = await loadConnectors(OWN);
  for (const { key, objects } of connectors) {
    if (typeof objects === 'function') continue;
    const text = readFileSync(new URL(`../../connectors/${key}/mappings.json`, import.meta.url), 'utf8');
    const transformations: Record<string, Omit<Transformation, 'objectName'>> = JSON.parse(text);
    const counts = { same: 0, less: 0 };
    for (const [objectName, { vendorName, fields, configuration = [] }] of Object.entries(transformations)) {
      const vendor = objects[vendorName];
      if (vendor === undefined) continue;
      const leveled = fields.map((field) => ({ ...field, level }) as const);
      const definition = leveled.map(({ path, type = 'string' }) => ({ path, type, level }) as const);
      const inForce = {
        version: '',
        objectName,
        vendorName,
        level,
        definition,
        fields: leveled,
        configuration,
      } as const;
      const mapped = mapObject(vendor, inForce, undefined);
      for (const [name, { filter = {} }] of Object.entries(mapped.fields)) {
        const source = mapped.mapping.vendorFieldOf(name);
        if (source === undefined) continue;
        const own = new Map(Object.entries(filter));
        for (const [operator, exactness] of Object.entries(source.filter ?? {})) {
          counts[own.get(operator) === exactness ? 'same' : 'less']++;
        }
      }
      prepareQuery({}, mapped);
    }
    console.log(
      `${key}: ${counts.same} of ${counts.same + counts.less} operators of plain fields are pushed as unmapped`,
    );
  }
}

const CONFIGURATION = { username: 'demo-key', 'company.name': 'acme', simulator: true };

async function measureGet(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
  await chmod(dataDir, 0o711);
  const service = await startService({ dataDir, environment: UNLIMITED });
  try {
    const send = sender(service);
    const made = await send('/instances', {
      element: { key: 'bamboohr' },
      name: 'bench',
      configuration: CONFIGURATION,
    });
    await send('/organizations/objects/people/definitions', {
      fields: ['id', 'first', 'last', 'hired', 'state'].map((path) => ({
        path,
        type: path === 'hired' ? 'date' : 'string',
      })),
    });
    await send('/organizations/elements/bamboohr/transformations/people', {
      vendorName: 'employees',
      fields: [
        { path: 'id', vendorPath: 'id' },
        { path: 'first', vendorPath: 'firstName' },
        { path: 'last', vendorPath: 'lastName' },
        { path: 'hired', vendorPath: 'hireDate' },
        { path: 'state', vendorPath: 'status' },
      ],
      configuration: [{ type: 'passThrough', properties: { fromVendor: false, toVendor: false } }],
    });
    const headers = { authorization: `User ${service.secrets.userSecret}, Element ${made.token}` };
    const unmapped = new URLSearchParams({
      where: "status = 'Active' AND hireDate >= 2020-01-01",
      fields: 'id,firstName,lastName,hireDate,status',
      pageSize: '20',
    });
    const mapped = new URLSearchParams({ where: "state = 'Active' AND hired >= 2020-01-01", pageSize: '20' });
    for (const [name, path] of [
      ['unmapped', `/employees?${unmapped}`],
      ['mapped', `/people?${mapped}`],
      ['unmapped', `/employees?${unmapped}`],
      ['mapped', `/people?${mapped}`],
    ]) {
      const request = { url: `${service.baseUrl}${path}`, headers, connections: 8 };
      await autocannon({ ...request, duration: 2 });
      const before = cpuMsOf([service.pid]);
      const result = await autocannon({ ...request, duration: seconds });
      if (result.non2xx > 0) throw new Error(`${result.non2xx} answers were not 200`);
      const cpu = (cpuMsOf([service.pid]) - before) / result.requests.total;
      console.log(
        `${name} GET of 20 rows: ${Math.round(result.requests.average)} requests/s, ${cpu.toFixed(3)} ms CPU each`,
      );
    }
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true });
  }
}

function sender(service: RunningService) {
  return async (path: string, body: object): Promise<{ readonly token: string }> => {
    const response = await fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: service.authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
    return JSON.parse(await response.text());
  };
}

/** Measures a list over 50 instances whose provider needs 100 ms for each response. */
async function measureFederated(): Promise<void> {
  const object = { fields: { id: { type: 'integer' } } } as const;
  const list = createFederatedLists({
    getObject: async () => object,
    listRecords: async ({ instance }) => {
      await sleep(100);
      const records = Array.from({ length: 20 }, (_, index) => ({ id: index * 50 + instance.id }));
      return { records, bytes: 0, pushdown: 'full', providerCalls: 1 };
    },
  });
  const connector = (await loadConnectors(OWN))[0];
  if (connector === undefined) throw new Error('There is no connector.');
  const instances = Array.from(
    { length: 50 },
    (_, index): FederatedInstance => ({
      ...{
        accountId: 1,
        id: index + 1,
        settingsVersion: 1,
        connector,
        config: {},
        disabled: false,
        valid: true,
        refusedCalls: [],
        name: 'x',
      },
    }),
  );
  const { signal } = new AbortController();
  for (const orderBy of [undefined, 'id']) {
    const begun = performance.now();
    const { records } = await list(instances, {
      objectName: 'x',
      orderBy,
      pageSize: 1000,
      maxProviderCalls: 25,
      position: undefined,
      signal,
    });
    console.log(
      `50 instances at 100 ms, ${orderBy === undefined ? 'one after the other' : 'merged'}: ${records.length} rows in ${Math.round(performance.now() - begun)} ms`,
    );
  }
}

measureRows();
await measurePushdown();
await measureFederated();
await measureGet();
