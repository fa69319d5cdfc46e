import { expect } from 'chai';
import fc from 'fast-check';
import { compileMapping } from '../../src/mappings/compile.ts';
import type { FieldEntry, MappingInForce, TransformationField } from '../../src/mappings/model.ts';
import { isMembers } from '../../src/numbers/exact-json.ts';
import type { FieldSpec } from '../../src/where/model.ts';
import type { Row } from '../../src/where/row-values.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { readField } from '../../suite/reference.ts';
import { mappings, VENDOR_FIELDS, VENDOR_ROWS } from './mapped-rows.ts';
import { show } from './reference.ts';
import { inForceOf } from './simulated.ts';

const WRITABLE = { createable: true, updateable: true };

/** The records of test/where, all of whose fields can be written. */
const VENDOR: Readonly<Record<string, FieldSpec>> = Object.fromEntries(
  Object.entries(VENDOR_FIELDS).map(([name, spec]) => [name, { ...spec, ...WRITABLE }]),
);

function compile(fields: Readonly<Record<string, FieldSpec>>, mapping: MappingInForce) {
  return compileMapping({ fields }, mapping, undefined);
}

/** Sets the values of a request in a record. */
function merge(stored: unknown, values: unknown): unknown {
  if (!isMembers(stored) || !isMembers(values) || Array.isArray(stored) || Array.isArray(values)) return values;
  const changed = Object.entries(values).map(([name, value]) => [name, merge(stored[name], value)]);
  return { ...stored, ...Object.fromEntries(changed) };
}

function bodyOf(path: string, value: unknown): Row {
  const [name = '', ...rest] = path.split('.');
  return { [name]: rest.length === 0 ? value : bodyOf(rest.join('.'), value) };
}

/** Values that only `otherwise` makes cannot be written, and moments as texts come back in another spelling. */
function isLossy({ configuration = [], type, vendorPath = '' }: TransformationField, value: unknown): boolean {
  const table = configuration.find(
    (entry): entry is Extract<FieldEntry, { type: 'valueMap' }> => entry.type === 'valueMap',
  );
  const { values = {}, otherwise = null } = table?.properties ?? {};
  const isInTable = value !== otherwise && Object.values(values).some((ours) => ours === value);
  const isOther = table !== undefined && otherwise !== 'keep' && !isInTable;
  return isOther || (type === 'string' && ['day', 'at'].includes(vendorPath));
}

describe('a value that is written through a mapping', () => {
  it('is the value that is read, in new records and in changed ones', () => {
    let written = 0;
    const rows = fc.constantFrom(...VENDOR_ROWS);
    fc.assert(
      fc.property(mappings, rows, rows, (mapping, source, stored) => {
        const compiled = compile(VENDOR, mapping);
        const { map } = compiled.rowMapping();
        const read = map(source, new Map());
        for (const field of mapping.fields) {
          const value = readField(read, field.path);
          if (compiled.fields[field.path]?.createable !== true || value === null || isLossy(field, value)) continue;
          const body = bodyOf(field.path, value);
          const said = `${JSON.stringify(field)} ${show(value)}`;
          const created = compiled.toVendor(body, { action: 'create' });
          expect(created.faults, said).to.deep.equal([]);
          expect(show(readField(map(created.values, new Map()), field.path)), said).to.equal(show(value));
          const needed = compiled.needsStored(body) ? stored : undefined;
          const updated = compiled.toVendor(body, { action: 'update', stored: needed });
          const after = merge(stored, updated.values) as Row;
          expect(show(readField(map(after, new Map()), field.path)), said).to.equal(show(value));
          written++;
        }
      }),
      { seed: seedOr(5), numRuns: runs(1500) },
    );
    expect(written).to.be.greaterThan(runs(1000));
  });

  const texts: Readonly<Record<string, FieldSpec>> = {
    name: { type: 'string', ...WRITABLE },
    list: { type: 'array', ...WRITABLE },
    box: { type: 'object', ...WRITABLE },
  };

  it('leaves the rest of a value alone that it is a part of', () => {
    const mapping = inForceOf({
      objectName: 'mine',
      vendorName: 'rows',
      fields: [
        { path: 'mail', type: 'string', vendorPath: 'list[1].mail' },
        { path: 'city', type: 'string', vendorPath: 'box.address.city' },
        { path: 'names[*].first', type: 'string', vendorPath: 'list[*].name' },
      ],
    });
    const compiled = compile(texts, mapping);
    const stored = {
      list: [
        { mail: 'a', name: 'A' },
        { mail: 'b', name: 'B' },
      ],
      box: { address: { city: 'x', zip: 1 }, size: 2 },
    };
    const write = (body: Row) => compiled.toVendor(body, { action: 'update', stored }).values;
    expect(write({ mail: 'new' })).to.deep.equal({
      list: [
        { mail: 'a', name: 'A' },
        { mail: 'new', name: 'B' },
      ],
    });
    expect(write({ city: 'new' })).to.deep.equal({ box: { address: { city: 'new', zip: 1 }, size: 2 } });
    expect(write({ names: [{ first: 'C' }, { first: 'D' }] })).to.deep.equal({
      list: [
        { mail: 'a', name: 'C' },
        { mail: 'b', name: 'D' },
      ],
    });
    expect(write({ names: [{ first: 'C' }] })).to.deep.equal({ list: [{ mail: 'a', name: 'C' }] });
    expect(write({ names: [{}, { first: null }] })).to.deep.equal({
      list: [
        { mail: 'a', name: 'A' },
        { mail: 'b', name: null },
      ],
    });
    expect([compiled.needsStored({ mail: 'new' }), compiled.needsStored({ name: 'new' })]).to.deep.equal([true, false]);
  });

  it('is the default in a new record that leaves it out, and in items that are there', () => {
    const byDefault: FieldEntry = { type: 'defaultValue', properties: { value: 'none' } };
    const mapping = inForceOf({
      objectName: 'mine',
      vendorName: 'rows',
      fields: [
        { path: 'title', type: 'string', vendorPath: 'name', configuration: [byDefault] },
        { path: 'lines[*].type', type: 'string', vendorPath: 'list[*].type', configuration: [byDefault] },
        { path: 'lines[*].amount', type: 'number', vendorPath: 'list[*].amount' },
      ],
    });
    const { toVendor } = compile(texts, mapping);
    expect(toVendor({}, { action: 'create' }).values).to.deep.equal({ name: 'none' });
    expect(toVendor({}, { action: 'update' }).values).to.deep.equal({});
    expect(toVendor({ title: 'x', lines: [{ amount: 1 }, { type: 'y' }] }, { action: 'create' }).values).to.deep.equal({
      name: 'x',
      list: [{ type: 'none', amount: 1 }, { type: 'y' }],
    });
  });

  it('is no default that the provider cannot have', () => {
    const configuration: readonly FieldEntry[] = [
      { type: 'valueMap', properties: { values: { New: 'open' } } },
      { type: 'defaultValue', properties: { value: 'unknown' } },
    ];
    const fields = [{ path: 'status', type: 'string', vendorPath: 'name', configuration }] as const;
    const { toVendor } = compile(texts, inForceOf({ objectName: 'mine', vendorName: 'rows', fields }));
    expect(toVendor({}, { action: 'create' })).to.deep.equal({ values: {}, faults: [] });
  });

  it('goes to the first of several fields, and by the first key of a table', () => {
    const table: FieldEntry = {
      type: 'valueMap',
      properties: { values: { Won: 'closed', Lost: 'closed', New: 'open' } },
    };
    const chosen: FieldEntry = { type: 'first', properties: { paths: ['name', 'other'] } };
    const fields = {
      name: texts.name ?? { type: 'string' },
      other: { type: 'string', ...WRITABLE },
      state: { type: 'string', ...WRITABLE },
    } as const;
    const mapping = inForceOf({
      objectName: 'mine',
      vendorName: 'rows',
      fields: [
        { path: 'title', type: 'string', configuration: [chosen] },
        { path: 'status', type: 'string', vendorPath: 'state', configuration: [table] },
      ],
    });
    const { toVendor } = compile(fields, mapping);
    expect(toVendor({ title: 'x', status: 'closed' }, { action: 'create' }).values).to.deep.equal({
      name: 'x',
      state: 'Won',
    });
    expect(toVendor({ status: 'Lost' }, { action: 'create' }).faults).to.deep.equal([
      { path: '/body/status', message: "'status' must be one of: closed, open." },
    ]);
  });

  it('is passed on under its own name where nothing maps it, unless the mapping removes it', () => {
    const of = (toVendor: boolean) =>
      compile(
        texts,
        inForceOf({
          objectName: 'mine',
          vendorName: 'rows',
          fields: [{ path: 'title', type: 'string', vendorPath: 'name' }],
          configuration: [{ type: 'passThrough', properties: { toVendor } }],
        }),
      );
    const body = { title: 'x', box: { size: 1 } };
    expect(of(true).toVendor(body, { action: 'create' }).values).to.deep.equal({ name: 'x', box: { size: 1 } });
    expect(of(true).fields.box).to.include({ createable: true });
    expect(of(false).fields.box).to.include({ createable: false, updateable: false });
  });
});
