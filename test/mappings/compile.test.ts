import { expect } from 'chai';
import { compileMapping } from '../../src/mappings/compile.ts';
import type { FieldEntry, TransformationField } from '../../src/mappings/model.ts';
import type { FieldSpec } from '../../src/where/model.ts';
import type { Row } from '../../src/where/row-values.ts';
import { inForceOf } from './simulated.ts';

const EVERYTHING = { '=': 'exact', 'IS NULL': 'exact', 'IS NOT NULL': 'exact' } as const;
const text: FieldSpec = { type: 'string', filter: EVERYTHING };

function compile(vendorFields: Readonly<Record<string, FieldSpec>>, fields: readonly TransformationField[]) {
  const removed = { type: 'passThrough', properties: { fromVendor: false } } as const;
  const mapping = inForceOf({ objectName: 'mine', vendorName: 'rows', fields, configuration: [removed] });
  return compileMapping({ fields: vendorFields }, mapping, undefined);
}

function map(vendorFields: Readonly<Record<string, FieldSpec>>, fields: readonly TransformationField[], row: Row) {
  return compile(vendorFields, fields).rowMapping().map(row, new Map());
}

const byDefault = (value: string): FieldEntry => ({ type: 'defaultValue', properties: { value } });
const first = (...paths: readonly string[]): FieldEntry => ({ type: 'first', properties: { paths } });
const join = (...paths: readonly string[]): FieldEntry => ({ type: 'join', properties: { paths, separator: '-' } });

describe('a compiled mapping', () => {
  it('fills missing members of items with the default, and makes no item for it', () => {
    const fields: readonly TransformationField[] = [
      { path: 'lines[*].type', vendorPath: 'Line[*].Type', configuration: [byDefault('service')] },
      { path: 'lines[*].amount', type: 'number', vendorPath: 'Line[*].Amount' },
    ];
    const vendor: Record<string, FieldSpec> = { Line: { type: 'array' } };
    const rows = [{ Line: [{ Amount: 1 }, { Type: 'goods', Amount: 2 }, {}] }, { Line: [] }, { Line: null }];
    expect(rows.map((row) => map(vendor, fields, row))).to.deep.equal([
      {
        lines: [
          { type: 'service', amount: 1 },
          { type: 'goods', amount: 2 },
          { type: 'service', amount: null },
        ],
      },
      { lines: [] },
      { lines: null },
    ]);
  });

  it('applies a default to the outcome of several sources, in rows as in filters', () => {
    const vendor = { a: text, b: text };
    const chosen: TransformationField = { path: 'x', configuration: [first('a', 'b'), byDefault('none')] };
    const joined: TransformationField = { path: 'x', configuration: [join('a', 'b'), byDefault('none')] };
    const rows = [
      { a: null, b: 'B' },
      { a: 'A', b: null },
      { a: null, b: null },
    ];
    expect(rows.map((row) => map(vendor, [chosen], row))).to.deep.equal([{ x: 'B' }, { x: 'A' }, { x: 'none' }]);
    expect(rows.map((row) => map(vendor, [joined], row))).to.deep.equal([{ x: 'B' }, { x: 'A' }, { x: 'none' }]);

    const { rewriting, fields } = compile(vendor, [chosen]);
    const field = { name: 'x', native: 'x', ...(fields.x ?? text) };
    const loc = { offset: 0, length: 0 };
    const isNull = rewriting.rewrite({ kind: 'isNull', field, negated: false, loc });
    const equals = (value: string) =>
      rewriting.rewrite({ kind: 'compare', field, operator: '=', value: { kind: 'string', value }, loc });
    expect([isNull.kind, equals('none').kind, equals('B').kind]).to.deep.equal(['local', 'local', 'rewritten']);
  });

  it('passes nothing through that lies inside of a mapped field or of a mapped path', () => {
    const vendor: Record<string, FieldSpec> = { Box: { type: 'object' }, 'Box.Unit': text, 'Box.Size': text };
    const namesOf = (...fields: readonly TransformationField[]) =>
      Object.keys(
        compileMapping({ fields: vendor }, inForceOf({ objectName: 'mine', vendorName: 'rows', fields }), undefined)
          .fields,
      );
    expect(namesOf({ path: 'box', type: 'object', vendorPath: 'Box' })).to.deep.equal(['box']);
    expect(namesOf({ path: 'Box', vendorPath: 'Box.Unit' })).to.deep.equal(['Box']);
    expect(namesOf({ path: 'unit', vendorPath: 'Box.Unit' })).to.deep.equal(['Box', 'Box.Size', 'unit']);
  });

  it('passes an object through without the values that mapped fields show', () => {
    const vendor: Record<string, FieldSpec> = { Box: { type: 'object' }, List: { type: 'array' } };
    const fields: readonly TransformationField[] = [
      { path: 'unit', vendorPath: 'Box.size.unit' },
      { path: 'names[*].first', vendorPath: 'List[*].name' },
    ];
    const mapping = inForceOf({ objectName: 'mine', vendorName: 'rows', fields });
    const { map } = compileMapping({ fields: vendor }, mapping, undefined).rowMapping();
    const row = { Box: { size: { unit: 'kg', value: 1 } }, List: [{ name: 'A', age: 1 }] };
    expect(map(row, new Map())).to.deep.equal({
      Box: { size: { value: 1 } },
      List: [{ age: 1 }],
      unit: 'kg',
      names: [{ first: 'A' }],
    });
    expect(row).to.deep.equal({ Box: { size: { unit: 'kg', value: 1 } }, List: [{ name: 'A', age: 1 }] });
  });

  it('reads every form of a path', () => {
    const List = [
      { id: 3, kind: 'fax', in: { side: true }, no: 'a' },
      { id: 4, kind: 'work phone', in: { side: false }, no: 'b' },
      null,
    ];
    const found = {
      'List[1].no': 'b',
      'List[9].no': null,
      'List[id=4].no': 'b',
      'List[id=5].no': null,
      'List[kind=work phone].no': 'b',
      "List[kind='fax'].no": 'a',
      'List[?(@.id==4)].no': 'b',
      'List[?(@.in.side==false)].no': 'b',
      'List[*].size()': '3',
      'List.size()': '3',
    };
    for (const [vendorPath, value] of Object.entries(found)) {
      expect(map({ List: { type: 'array' } }, [{ path: 'x', vendorPath }], { List }), vendorPath).to.deep.equal({
        x: value,
      });
    }
    const many: readonly TransformationField[] = [{ path: 'x[*].v', vendorPath: 'List[*].no' }];
    expect(map({ List: { type: 'array' } }, many, { List })).to.deep.equal({
      x: [{ v: 'a' }, { v: 'b' }, { v: null }],
    });
  });

  it('checks a passed object itself where a mapped path changes it', () => {
    const box: FieldSpec = { type: 'object', filter: EVERYTHING };
    const fields: readonly TransformationField[] = [{ path: 'Box.name', vendorPath: 'Name' }];
    const mapping = inForceOf({ objectName: 'mine', vendorName: 'rows', fields });
    const compiled = compileMapping({ fields: { Box: box, Name: text } }, mapping, undefined);
    const loc = { offset: 0, length: 0 };
    const field = { name: 'Box', native: 'Box', ...box };
    expect(compiled.rewriting.rewrite({ kind: 'isNull', field, negated: false, loc }).kind).to.equal('local');
    expect(compiled.fields.Box).not.to.have.property('filter');
  });

  it('shows a field unchanged only where it has no default and no other source', () => {
    const plain = compile({ a: text }, [{ path: 'x', vendorPath: 'a' }]);
    const changed = compile({ a: text }, [{ path: 'x', vendorPath: 'a', configuration: [byDefault('none')] }]);
    const chosen = compile({ a: text, b: text }, [{ path: 'x', configuration: [first('a', 'b')] }]);
    const names = [plain, changed, chosen].map(({ plainNameOf }) => plainNameOf('a'));
    expect(names).to.deep.equal(['x', undefined, undefined]);
    expect([plain.vendorFieldOf('x')?.name, changed.vendorFieldOf('x')]).to.deep.equal(['a', undefined]);
  });

  it('leaves removed fields out in the direction that the mapping names', () => {
    const vendor: Record<string, FieldSpec> = { a: { ...text, createable: true, updateable: true } };
    const of = (...configuration: readonly FieldEntry[]) => {
      const compiled = compile(vendor, [{ path: 'x', vendorPath: 'a', configuration }]);
      const row = compiled.rowMapping().map({ a: 'A' }, new Map());
      const { values } = compiled.toVendor({ x: 'X' }, { action: 'create' });
      return [Object.keys(compiled.fields), Object.keys(compiled.writeOnly), row, values];
    };
    const [shown, kept] = [{ x: 'A' }, { a: 'X' }];
    expect(of()).to.deep.equal([['x'], [], shown, kept]);
    expect(of({ type: 'remove', properties: { fromVendor: true } })).to.deep.equal([[], ['x'], {}, kept]);
    expect(of({ type: 'remove', properties: { toVendor: true } })).to.deep.equal([['x'], [], shown, {}]);
    expect(of({ type: 'passThrough', properties: { fromVendor: false } })).to.deep.equal([[], ['x'], {}, kept]);
    expect(of({ type: 'passThrough', properties: { toVendor: false } })).to.deep.equal([['x'], [], shown, {}]);
  });

  it('is not sorted, and not required, by a field whose missing values have a default', () => {
    const vendor: Record<string, FieldSpec> = { a: { ...text, sortable: true, required: true, createable: true } };
    const plain = compile(vendor, [{ path: 'x', vendorPath: 'a' }]).fields.x;
    const changed = compile(vendor, [{ path: 'x', vendorPath: 'a', configuration: [byDefault('none')] }]).fields.x;
    expect(plain).to.include({ sortable: true, required: true });
    expect(changed).to.include({ nullable: false, createable: true });
    expect(changed).not.to.have.any.keys('sortable', 'required');
  });

  it('keeps the costs of the fields that a value is made of', () => {
    const costly: FieldSpec = { type: 'string', onDemand: true };
    const single: FieldSpec = { type: 'array', unlisted: true };
    const { fields } = compile({ a: text, b: costly, Line: single, Tags: { type: 'array' } }, [
      { path: 'chosen', configuration: [first('a', 'b')] },
      { path: 'joined', configuration: [join('a', 'b')] },
      { path: 'lines[*].name', vendorPath: 'Line[*].Name' },
      { path: 'lines[*].missing', vendorPath: 'Nowhere' },
      { path: 'mixed[*].name', vendorPath: 'Line[*].Name' },
      { path: 'mixed[*].tag', vendorPath: 'Tags[*]' },
    ]);
    expect(fields.chosen).to.include({ onDemand: true });
    expect(fields.joined).to.include({ onDemand: true });
    expect(fields.lines).to.include({ unlisted: true });
    expect(fields.mixed).not.to.have.property('unlisted');
  });
});
