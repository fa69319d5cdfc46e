import { expect } from 'chai';
import { assert, constantFrom, dictionary, property, record, boolean as truth } from 'fast-check';
import type { ObjectSpec } from '../../src/connector/contract.ts';
import { compareShapes, needsConfirmation } from '../../src/schemas/compare.ts';
import { GONE, hashOfShape, readField, type Shape, shapeOf } from '../../src/schemas/shape.ts';
import type { FieldSpec } from '../../src/where/index.ts';

const remove = { request: () => ({ path: '/' }), read: () => undefined };
const objectOf = (fields: Record<string, FieldSpec>, more: Partial<ObjectSpec> = {}): ObjectSpec => ({
  fields,
  ...more,
});
const compare = (before: ObjectSpec, after: ObjectSpec) => compareShapes(shapeOf(before), shapeOf(after));

const ID = { type: 'string', nullable: false } as const;
const NAME = { type: 'string', createable: true, updateable: true } as const;

describe('comparing two shapes of an object', () => {
  it('names added, removed and changed fields, with the properties that differ', () => {
    const before = objectOf({
      id: ID,
      name: { ...NAME, nativeType: 'Edm.String', filter: { '=': 'exact' } },
      old: { type: 'date' },
    });
    const after = objectOf({
      id: ID,
      name: { type: 'integer', nativeType: 'Edm.Int32', createable: true, required: true, sortable: true },
      young: { type: 'date' },
    });
    expect(compare(before, after)).to.deep.equal({
      added: ['young'],
      removed: ['old'],
      changed: [
        {
          field: 'name',
          from: {
            type: 'string',
            nativeType: 'Edm.String',
            required: false,
            updateable: true,
            filterable: true,
            sortable: false,
          },
          to: {
            type: 'integer',
            nativeType: 'Edm.Int32',
            required: true,
            updateable: false,
            filterable: false,
            sortable: true,
          },
        },
      ],
    });
  });

  it('names operations that are gained or lost', () => {
    expect(compare(objectOf({ id: ID }), objectOf({ id: ID }, { remove }))).to.deep.equal({
      ...{ added: [], removed: [], changed: [] },
      operations: { added: ['delete'], removed: [] },
    });
  });

  it('shows a renamed field of the provider under the same name', () => {
    const change = compare(objectOf({ a: ID }), objectOf({ a: { ...ID, native: 'with space\u00e4' } }));
    expect(change?.changed).to.deep.equal([{ field: 'a', from: {}, to: { nativeName: 'with spaceä' } }]);
  });

  it('does not depend on the order of the fields, on labels or on values', () => {
    const one = objectOf({ id: ID, name: { ...NAME, label: 'Name', values: ['a'] } });
    const other = objectOf({ name: { ...NAME, label: 'Nom', values: ['b'] }, id: ID });
    expect(compare(one, other)).to.equal(undefined);
    expect(hashOfShape(shapeOf(one)).equals(hashOfShape(shapeOf(other)))).to.equal(true);
  });

  it('says that the object disappeared, and that it is back', () => {
    const shape = shapeOf(objectOf({ id: ID, name: NAME }));
    expect(compareShapes(shape, GONE)).to.deep.include({ object: 'removed', added: [], removed: ['id', 'name'] });
    expect(compareShapes(GONE, shape)).to.deep.include({ object: 'added', added: ['id', 'name'], removed: [] });
    expect(compareShapes(GONE, GONE)).to.equal(undefined);
  });

  it('asks for a second reading when the object is missing, or more than half of its fields', () => {
    const fields = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, ID]));
    const before = shapeOf(objectOf(fields));
    const without = (...names: readonly string[]) =>
      shapeOf(objectOf(Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))));
    const needs = (after: Shape) => {
      const change = compareShapes(before, after);
      return change !== undefined && needsConfirmation(before, change);
    };
    expect(needs(without('a'))).to.equal(false);
    expect(needs(without('a', 'b'))).to.equal(false);
    expect(needs(without('a', 'b', 'c'))).to.equal(true);
    expect(needs(GONE)).to.equal(true);
  });

  const field = record({
    type: constantFrom('string', 'integer', 'date', 'boolean'),
    nullable: truth(),
    required: truth(),
    createable: truth(),
    updateable: truth(),
    sortable: truth(),
    nativeType: constantFrom('', 'Edm.String', 'two words', 'reference(Account, Lead)'),
    native: constantFrom('Native', 'with\u00e4', 'a.b'),
  });

  it('reads every property of a stored field as it was', () => {
    assert(
      property(field, (spec) => {
        // Only `type` is narrower than what the generator is typed as.
        const shape = shapeOf(objectOf({ name: spec as FieldSpec }));
        const { nativeType, native, ...flags } = spec;
        expect(readField(shape.fields.name ?? '')).to.deep.equal({
          ...flags,
          filterable: false,
          nativeName: native,
          ...(nativeType !== '' && { nativeType }),
        });
      }),
    );
  });

  it('leads from one shape to the other, in both directions', () => {
    const fields = dictionary(constantFrom('a', 'b', 'c', 'd', 'e'), field);
    assert(
      property(fields, fields, (had, has) => {
        const [before, after] = [had, has].map((each) => shapeOf(objectOf(each as Record<string, FieldSpec>)));
        if (before === undefined || after === undefined) throw new Error('There are two.');
        const there = compareShapes(before, after);
        const back = compareShapes(after, before);
        const isSame = hashOfShape(before).equals(hashOfShape(after));
        expect(there === undefined).to.equal(isSame);
        expect(back?.added ?? []).to.deep.equal(there?.removed ?? []);
        expect(back?.removed ?? []).to.deep.equal(there?.added ?? []);
        expect(back?.changed ?? []).to.deep.equal(
          (there?.changed ?? []).map(({ field: name, from, to }) => ({ field: name, from: to, to: from })),
        );
      }),
    );
  });
});
