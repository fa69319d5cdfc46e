import { expect } from 'chai';
import type { Queryable } from '../../src/where/index.ts';
import { expectedAfter, faultsOf, wordsOf } from '../../src/where/written.ts';

const OBJECT: Queryable = {
  fields: { name: { type: 'string' }, size: { type: 'integer' }, 'address.city': { type: 'string' } },
  parameters: { since: { type: 'date', description: 'Changed since.' } },
};
const VALUES = ["'text'", 'a number', 'TRUE', 'FALSE', 'a date', 'a date-time'];

describe('a filter while it is written', () => {
  describe('its words', () => {
    const kinds = (text: string) =>
      wordsOf(text).map(({ kind, offset, length }) => `${kind} ${text.slice(offset, offset + length)}`);

    it('are told apart by the lexer of the service', () => {
      expect(kinds("a.b >= -1 AND c in ('x', 2026-01-31)")).to.deep.equal([
        ...['name a', 'sign .', 'name b', 'operator >=', 'number -1', 'keyword AND', 'name c', 'keyword in'],
        ...['sign (', "text 'x'", 'sign ,', 'date 2026-01-31', 'sign )'],
      ]);
    });

    it('take keywords for names where a name stands, and habits for mistakes', () => {
      expect(kinds('like = 1 && x.not == "y')).to.deep.equal([
        ...['name like', 'operator =', 'number 1', 'mistake &&', 'name x', 'sign .', 'name not', 'mistake =='],
        'mistake "y',
      ]);
    });
  });

  describe('what can follow it', () => {
    const cases: readonly (readonly [text: string, first: string | undefined, field: string | undefined])[] = [
      ['', 'field', undefined],
      ['name = 1 AND ', 'field', 'name'],
      ['name ', '=', 'name'],
      ['address.city = ', "'text'", 'address.city'],
      ['(size IN (1, ', "'text'", 'size'],
      ['size BETWEEN 1 ', 'AND', 'size'],
      ['size BETWEEN 1 AND ', "'text'", 'size'],
      ['(size = 1 ', 'AND', 'size'],
      ['size IS ', 'NULL', 'size'],
      ['`odd name` LIKE ', "'text'", 'odd name'],
      // A fault before the last predicate does not matter to it.
      ['bad bad AND limit = ', "'text'", 'limit'],
      ['size = = ', undefined, 'size'],
    ];
    for (const [text, first, field] of cases)
      it(`is ${first ?? 'nothing'} after ${JSON.stringify(text)}`, () => {
        const expected = expectedAfter(text);
        expect([expected.words[0], expected.field]).to.deep.equal([first, field]);
      });

    it('says all that the parser expects', () => {
      expect(expectedAfter('(size = 1').words).to.deep.equal(['AND', 'OR', ')']);
      expect(expectedAfter('size = ').words).to.deep.equal(VALUES);
    });

    it('says whether a NOT waits for its operator', () => {
      expect(expectedAfter('name NOT ').isNegated).to.equal(true);
      expect(expectedAfter('name = 1 AND NOT ').isNegated).to.equal(false);
    });
  });

  describe('its faults', () => {
    it('are those of the service, with position and suggestion', () => {
      const [fault] = faultsOf("size = 1 AND nam = 'x'", OBJECT);
      expect(fault).to.include({ position: 13, length: 3, nearest: 'name' });
      expect(faultsOf('size == 1', OBJECT)[0]).to.deep.include({ position: 5, length: 2, expected: ['='] });
      expect(faultsOf("size = 'x' AND since > 2026-01-01", OBJECT).map(({ position }) => position)).to.deep.equal([
        15, 7,
      ]);
    });

    it('are none of a filter that fits, and of an empty one', () => {
      expect(faultsOf("since = 2026-01-01 AND name LIKE 'a%'", OBJECT)).to.deep.equal([]);
      expect(faultsOf(' ', OBJECT)).to.deep.equal([]);
    });

    it('count the bytes of a long text only', () => {
      const most = `name = '${'a'.repeat(16 * 1024 - 9)}'`;
      expect(faultsOf(most, OBJECT)).to.deep.equal([]);
      expect(faultsOf(`${most} `, OBJECT)[0]?.message).to.equal('The filter has 16385 bytes; the limit is 16384.');
      const wide = `name = '${'€'.repeat(5459)}'`;
      expect(faultsOf(wide, OBJECT)[0]?.message).to.equal('The filter has 16386 bytes; the limit is 16384.');
    });
  });
});
