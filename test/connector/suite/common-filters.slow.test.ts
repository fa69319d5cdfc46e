import { expect } from 'chai';
import { commonFilters, putOn } from '../../../scripts/bench/common-filters.ts';
import type { FieldSpec } from '../../../src/connector/index.ts';
import { prepareQuery } from '../../../src/where/index.ts';
import { printFilter } from '../../../suite/filters.ts';

const FIELDS: Readonly<Record<string, FieldSpec>> = {
  id: { type: 'integer' },
  name: { type: 'string' },
  note: { type: 'string' },
  open: { type: 'boolean' },
  changed: { type: 'datetime' },
};
const ROWS = [
  { id: 1, name: 'Ada', note: null, open: true, changed: '2024-02-29T08:30:00Z' },
  { id: 2, name: '🙂', note: "It's", open: false, changed: null },
];

const print = (fields: typeof FIELDS, rows = ROWS, seed = 1) =>
  putOn({ fields }, rows, commonFilters(200, seed)).map(printFilter);

describe('the common filters', () => {
  it('are the same for a seed, and others for another', () => {
    expect(print(FIELDS)).to.deep.equal(print(FIELDS));
    expect(print(FIELDS)).not.to.deep.equal(print(FIELDS, ROWS, 2));
  });

  it('can be asked of any object, on all of its fields', () => {
    const filters = print(FIELDS);
    for (const where of filters) expect(() => prepareQuery({ where }, { fields: FIELDS }), where).not.to.throw();
    for (const name of Object.keys(FIELDS))
      expect(
        filters.some((where) => where.includes(name)),
        name,
      ).to.equal(true);
  });

  it('have the same shapes on objects with fields of the same types', () => {
    const shapes = (prefix: string) => {
      const renamed = Object.entries(FIELDS).map(([name, spec]) => [`${prefix}${name}`, spec] as const);
      const rows = ROWS.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [prefix + name, value])),
      );
      return putOn({ fields: Object.fromEntries(renamed) }, rows, commonFilters(200, 1)).map((filter) =>
        printFilter(filter).replaceAll(prefix, ''),
      );
    };
    expect(shapes('a_')).to.deep.equal(shapes('b_'));
  });

  it('leave out what an object has no field for', () => {
    const filters = print({ open: { type: 'boolean' }, parts: { type: 'array' } });
    expect(filters).to.have.length.within(20, 180);
    expect(filters.join()).not.to.match(/parts|LIKE/);
  });
});
