import { expect } from 'chai';
import fc from 'fast-check';
import type { FieldSpec, ObjectSpec } from '#connector';
import type {
  FieldEntry,
  MappedType,
  MappedValue,
  MappingInForce,
  TransformationField,
} from '../../src/mappings/model.ts';
import { isMembers } from '../../src/numbers/exact-json.ts';
import type { Row } from '../../src/where/index.ts';
import { filtersOn, printFilter } from '../../suite/filters.ts';
import { readField } from '../../suite/reference.ts';
import { asListed } from '../../suite/target.ts';
import {
  assertNone,
  createTally,
  judgeFilter,
  judgeRows,
  listedNames,
  type RunTally,
  readMapped,
} from './catalogue-runs.ts';
import { inForceOf, type Simulated, startSimulated } from './simulated.ts';

/** Random mappings of the real objects of simulators. */

/** A vendor's object with its rows. */
interface Vendor {
  readonly name: string;
  readonly object: ObjectSpec;
  readonly rows: readonly Row[];
}

type Half = Omit<TransformationField, 'path'> & { readonly type: MappedType };

/** Half of a field of a transformation: everything but its path. */
type HalfOf = fc.Arbitrary<Half>;

const byDefault = (value: string | number | boolean): FieldEntry => ({ type: 'defaultValue', properties: { value } });

function valueMapOf(values: readonly string[]): fc.Arbitrary<FieldEntry> {
  const ours = fc.constantFrom<MappedValue>('x', 'y', 'ours', null, ...values.slice(0, 2));
  const keys = fc.dictionary(fc.constantFrom('nothing', ...values), ours, { maxKeys: 5, noNullPrototype: true });
  const otherwise = fc.constantFrom<MappedValue | undefined>(undefined, 'keep', 'other', null);
  return fc.tuple(keys, otherwise).map(([table, other]) => ({
    type: 'valueMap',
    properties: { values: table, ...(other !== undefined && { otherwise: other }) },
  }));
}

/** The ways to map a field of a type. `values` are some of its values as texts. */
function waysOf(
  type: FieldSpec['type'],
  values: readonly string[],
): readonly fc.Arbitrary<Pick<Half, 'type' | 'configuration'>>[] {
  const plainly = (as: MappedType, ...configuration: readonly FieldEntry[]) => fc.constant({ type: as, configuration });
  const mapped = valueMapOf(values).map((entry) => ({ type: 'string' as const, configuration: [entry] }));
  const text = values[0] ?? 'none';
  switch (type) {
    case 'string':
      return [
        plainly('string'),
        plainly('string', byDefault(text)),
        plainly('string', byDefault('none')),
        mapped,
        mapped.map(({ configuration, ...rest }) => ({ ...rest, configuration: [...configuration, byDefault('x')] })),
        plainly('number'),
        plainly('boolean'),
        plainly('date', { type: 'transformDate', properties: { pattern: 'yyyy-MM-dd' } }),
      ];
    case 'number':
    case 'integer':
      return [
        plainly('number'),
        plainly('number', byDefault(1)),
        plainly('string'),
        plainly('string', byDefault('0')),
        mapped,
        ...[0.01, -2, 3, 1000].map((multiply) => plainly('number', { type: 'number', properties: { multiply } })),
      ];
    case 'boolean':
      return [plainly('boolean'), plainly('boolean', byDefault(true)), plainly('string'), mapped];
    case 'date':
    case 'datetime':
      return [plainly('date'), plainly('date', byDefault(values[0] ?? '2026-01-31')), plainly('string'), mapped];
    case 'array':
      return [plainly('array'), plainly('string')];
    case 'object':
      return [plainly('object'), plainly('array')];
  }
}

const MOST_VALUES = 6;
/** Texts that keys of a table and parts of paths can hold. */
const PLAIN = /^[\w .:+-]{1,40}$/;

function halvesOf({ object, rows }: Vendor, name: string): HalfOf {
  const spec = object.fields[name] ?? { type: 'string' };
  const values = [
    ...new Set(
      rows
        .map((row) => readField(row, name))
        .filter((value) => value !== null)
        .map(String),
    ),
  ];
  const ways = waysOf(spec.type, values.filter((value) => PLAIN.test(value)).slice(0, MOST_VALUES));
  const whole = fc.oneof(...ways).map((way): Half => ({ vendorPath: name, ...way }));
  const inner = pathsInside(name, rows);
  return inner.length === 0 ? whole : fc.oneof(whole, insideOf(inner), insideOf(inner));
}

function insideOf(paths: readonly string[]): HalfOf {
  const types = fc.constantFrom<MappedType>('string', 'number', 'boolean', 'date', 'string');
  const entries = fc.constantFrom<readonly FieldEntry[]>(
    [],
    [],
    [{ type: 'transformDate', properties: { pattern: "yyyy-MM-dd'T'HH:mm:ss'Z'" } }],
  );
  return fc
    .tuple(fc.constantFrom(...paths), types, entries, fc.boolean())
    .map(([vendorPath, type, configuration, hasDefault]) => ({
      vendorPath,
      type,
      configuration: type === 'date' ? configuration : hasDefault && type === 'string' ? [byDefault('none')] : [],
    }));
}

const MOST_ROWS_LOOKED_AT = 30;

/** Paths into the values of a field. */
function pathsInside(name: string, rows: readonly Row[]): readonly string[] {
  const values = rows.map((row) => readField(row, name)).filter(isMembers);
  return [...new Set(values.slice(0, MOST_ROWS_LOOKED_AT).flatMap((value) => pathsIn(value, name, 0)))];
}

function pathsIn(value: unknown, path: string, depth: number): readonly string[] {
  if (!isMembers(value) || depth > 2) return [];
  if (!Array.isArray(value)) {
    return Object.entries(value)
      .filter(([key]) => /^\w+$/.test(key))
      .flatMap(([key, member]) => [`${path}.${key}`, ...pathsIn(member, `${path}.${key}`, depth + 1)]);
  }
  const [item] = value;
  const counts = path.includes('[*]') ? [] : [`${path}[*].size()`, ...pathsIn(item, `${path}[*]`, depth + 1)];
  return [`${path}[0]`, ...pathsIn(item, `${path}[0]`, depth + 1), ...counts, ...chosenIn(item, path)];
}

/** Paths to the item with a value. */
function chosenIn(item: unknown, path: string): readonly string[] {
  if (!isMembers(item) || path.includes('[*]')) return [];
  const members = Object.entries(item).filter(([key]) => /^\w+$/.test(key));
  const found = members.find(
    ([, member]) => typeof member === 'string' && PLAIN.test(member.trim()) && member.trim() === member,
  );
  if (found === undefined) return [];
  return members.map(([key]) => `${path}[${found[0]}=${String(found[1])}].${key}`);
}

function several(vendor: Vendor): HalfOf {
  const names = Object.entries(vendor.object.fields).flatMap(([name, { type }]) =>
    type === 'array' || type === 'object' ? [] : [name],
  );
  const paths = fc.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 3 });
  return fc
    .tuple(paths, fc.constantFrom('first', 'join'), fc.boolean(), fc.constantFrom('-', ' '))
    .map(([chosen, kind, hasDefault, separator]): Half => {
      const entry: FieldEntry =
        kind === 'first'
          ? { type: 'first', properties: { paths: chosen } }
          : { type: 'join', properties: { paths: chosen, separator } };
      return { type: 'string', configuration: [entry, ...(hasDefault ? [byDefault('none')] : [])] };
    });
}

/** Returns random mappings of an object. */
function mappingsOf(vendor: Vendor): fc.Arbitrary<MappingInForce> {
  const names = Object.keys(vendor.object.fields);
  const constant: HalfOf = fc
    .constantFrom('a', 'b')
    .map((value) => ({ type: 'string', configuration: [{ type: 'constant', properties: { value } }] }));
  const half: HalfOf = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...names).chain((name) => halvesOf(vendor, name)) },
    { weight: 2, arbitrary: several(vendor) },
    { weight: 1, arbitrary: constant },
  );
  const place = fc.constantFrom('plain', 'plain', 'nested', 'taken');
  const plainNames = names.filter((name) => /^\w+$/.test(name));
  const fields = fc.array(fc.tuple(half, place, fc.constantFrom(...plainNames)), { minLength: 3, maxLength: 8 });
  return fc.tuple(fields, fc.boolean(), fc.boolean()).map(([chosen, passes, hasId]) => {
    const idField = vendor.object.idField ?? 'id';
    const id: TransformationField = { path: 'key', type: 'string', vendorPath: idField };
    const others = chosen.map(([each, where, taken], index): TransformationField => {
      const path = where === 'nested' ? `n.m${index}` : where === 'taken' ? taken : `m${index}`;
      return { ...each, path: `${path}${isList(each) ? '[*].v' : ''}` };
    });
    const tops = new Set<string>();
    // Two fields may not have the same name.
    const unique = [...(hasId ? [id] : []), ...others].filter(({ path }) => {
      const top = path.startsWith('n.') ? path : (path.split('[')[0] ?? path);
      return !tops.has(top) && tops.add(top);
    });
    return inForceOf({
      objectName: 'mine',
      vendorName: vendor.name,
      fields: unique,
      configuration: [{ type: 'passThrough', properties: { fromVendor: passes } }],
    });
  });
}

function isList({ vendorPath = '' }: Half): boolean {
  return vendorPath.includes('[*]') && !vendorPath.endsWith('size()');
}

/** How many random mappings are tried. */
interface RandomEffort {
  readonly objects: number;
  /** Number of mappings of each object, and of filters on each mapping. */
  readonly mappings: number;
  readonly filters: number;
  readonly seed: number;
}

/** Tries random filters on random mappings of the objects of an element, and returns the faults. */
async function tryRandomMappings(
  simulated: Simulated,
  { effort, tally }: { readonly effort: RandomEffort; readonly tally: RunTally },
): Promise<readonly string[]> {
  const faults: string[] = [];
  let tried = 0;
  for (const name of await simulated.objectNames()) {
    const records = simulated.vendor(name);
    const object = asListed(await records.object());
    if (object.list === undefined || (object.requiredFilters ?? []).length > 0) continue;
    if (++tried > effort.objects) break;
    const vendor = { name, object, rows: await records.list({ fields: listedNames(object) }) };
    for (const mapping of fc.sample(mappingsOf(vendor), { numRuns: effort.mappings, seed: effort.seed })) {
      const found = await tryMapping(simulated, mapping, effort, tally);
      faults.push(
        ...found.map(
          (fault) =>
            `${simulated.connector.key} ${name} ${JSON.stringify(mapping.fields.map(({ level: _, ...field }) => field))}: ${fault}`,
        ),
      );
    }
  }
  return faults;
}

async function tryMapping(
  simulated: Simulated,
  mapping: MappingInForce,
  { filters, seed }: RandomEffort,
  tally: RunTally,
): Promise<readonly string[]> {
  const listing = await readMapped(simulated, mapping);
  if (listing === undefined) return [];
  const { rows } = listing;
  const object = asListed(listing.object);
  tally.rows += rows.length;
  const faults = [...judgeRows(listing)];
  if (faults.length > 0) return faults;
  for (const filter of fc.sample(filtersOn({ object, rows }), { numRuns: filters, seed })) {
    // Providers limit the length of an URL, and so does this service.
    if (printFilter(filter).length > 4000) continue;
    faults.push(...(await judgeFilter(simulated.records(mapping.objectName), { object, rows, filter }, tally)));
  }
  return faults;
}

/** Elements with many kinds of objects, filters and fields. */
const ELEMENTS = ['keap', 'salesforce', 'odata', 'servicenow'];

/** Describes the tests of random mappings of some elements. `decisive` is the least number of filters that match some rows and not all. */
export function describeRandomMappings(
  name: string,
  { decisive, ...effort }: RandomEffort & { readonly decisive: number },
): void {
  describe(name, function runs() {
    this.timeout(600_000);

    for (const key of ELEMENTS) {
      it(`of ${key} give the transformed rows, and filters find those that match`, async () => {
        const simulated = await startSimulated(key);
        const tally = createTally();
        try {
          assertNone(await tryRandomMappings(simulated, { effort, tally }));
        } finally {
          await simulated.stop();
        }
        expect(tally.decisive).to.be.greaterThan(decisive);
      });
    }
  });
}
