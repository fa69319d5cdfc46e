import { expect } from 'chai';
import { prepareQuery } from '../../src/where/query.ts';
import { readSelect } from '../../src/where/select.ts';
import { faultOf } from './faults.ts';

const OBJECT = {
  fields: {
    id: { type: 'integer' },
    name: { type: 'string', sortable: true },
    from: { type: 'string' },
    limit: { type: 'integer', sortable: true },
  },
} as const;

describe('a SELECT statement', () => {
  it('is a query of its object', () => {
    const text =
      "SELECT id, from FROM `My Orders` WHERE (from = 'x' OR limit = 1) AND id > 2 ORDER BY limit DESC LIMIT 10";
    const { objectLoc, fields = '', where = '', orderBy = '', ...rest } = readSelect(text);
    expect(rest).to.deep.equal({ objectName: 'My Orders', limit: 10 });
    expect(objectLoc).to.deep.equal({ offset: text.indexOf('`My'), length: '`My Orders`'.length });
    expect([fields, where, orderBy].map((part) => part.trim())).to.deep.equal([
      'id, from',
      "(from = 'x' OR limit = 1) AND id > 2",
      'limit DESC',
    ]);
  });

  it('needs its object only', () => {
    expect(readSelect('select * from a')).to.deep.equal({
      objectName: 'a',
      objectLoc: { offset: 14, length: 1 },
      fields: undefined,
      where: undefined,
      orderBy: undefined,
      limit: undefined,
    });
  });

  for (const [text, code, wrong] of [
    ['SELECT id, nmae FROM a WHERE id = 1', 'WHERE_INVALID', 'nmae'],
    ['SELECT id FROM a\n WHERE name = 1 AND idd = 2 LIMIT 3', 'WHERE_INVALID', 'idd'],
    ["SELECT id FROM a WHERE name = 'é😀' ORDER BY name, lmit", 'WHERE_INVALID', 'lmit'],
    ['SELECT id FROM a WHERE name == 1', 'WHERE_SYNTAX', '=='],
    ['SELECT id FROM a WHERE id = 1 LIMIT 0', 'WHERE_SYNTAX', '0'],
  ] as const) {
    it(`tells a fault at its position in the whole: ${JSON.stringify(text)}`, () => {
      const { details = [] } = faultOf(() => prepareQuery(readSelect(text), OBJECT), code);
      const places = details.map(({ position = 0, length = 0 }) => text.slice(position, position + length));
      expect(places).to.include(wrong);
    });
  }
});
