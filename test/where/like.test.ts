import { expect } from 'chai';
import fc from 'fast-check';
import { compileLike, printLikePattern, readLikePattern } from '../../src/where/like.ts';

const matches = (pattern: string, text: string) => compileLike(readLikePattern(pattern))(text);

describe('LIKE patterns', () => {
  for (const [pattern, form, text] of [
    ['', 'literal', ''],
    ['abc', 'literal', 'abc'],
    ['100\\%', 'literal', '100%'],
    ['a\\_b', 'literal', 'a_b'],
    ['a\\\\b', 'literal', 'a\\b'],
    ['a\\bc', 'literal', 'abc'],
    ['a\\', 'literal', 'a\\'],
    ['abc%', 'prefix', 'abc'],
    ['%abc', 'suffix', 'abc'],
    ['%abc%', 'contains', 'abc'],
    ['%%abc%%%', 'contains', 'abc'],
    ['100\\%%', 'prefix', '100%'],
    ['%', 'pattern', ''],
    ['_', 'pattern', ''],
    ['a_c', 'pattern', 'ac'],
    ['a%c', 'pattern', 'ac'],
    ['_a%', 'pattern', 'a'],
  ] as const) {
    it(`takes '${pattern}' for a ${form}`, () => {
      expect(readLikePattern(pattern)).to.include({ form, text });
    });
  }

  it('match whole texts', () => {
    for (const [pattern, yes, no] of [
      ['abc', ['abc'], ['', 'ab', 'abcd', 'ABC', ' abc']],
      ['a%', ['a', 'ab', 'a\nb'], ['', 'ba', 'A']],
      ['%a', ['a', 'ba', '\na'], ['', 'ab']],
      ['%a%', ['a', 'bab'], ['', 'b']],
      ['%', ['', 'a', '\n', '%'], []],
      ['_', ['a', '_', '\n', 'é', '😀'], ['', 'ab', 'e\u0301']],
      ['__', ['ab', '😀a'], ['a', '😀', 'abc']],
      ['a_c', ['abc', 'a😀c', 'a_c', 'a%c'], ['ac', 'abbc']],
      ['a\\_c', ['a_c'], ['abc']],
      ['100\\%', ['100%'], ['100', '1000']],
      ['%x_y%', ['x1y', 'ax_yb', 'xxxyy'], ['xy', 'x12y']],
      ['a%b%c', ['abc', 'aXbYc', 'abbc', 'abcbc'], ['acb', 'abcd', 'ab']],
      ['%a_', ['ab', 'aab', 'baab'], ['a', 'abc ']],
      ['_%', ['a', 'ab'], ['']],
      ['%_', ['a', 'ab'], ['']],
      ['a\\\\%', ['a\\', 'a\\b'], ['a', 'a%']],
      ['[a-z]^$.*', ['[a-z]^$.*'], ['a', '[a-z]^$.']],
    ] as const) {
      for (const text of yes) expect(matches(pattern, text), `'${text}' LIKE '${pattern}'`).to.equal(true);
      for (const text of no) expect(matches(pattern, text), `'${text}' LIKE '${pattern}'`).to.equal(false);
    }
  });

  it('agree with a regular expression', () => {
    const characters = fc.constantFrom(...'aab%_\\😀\n');
    const toRegExp = (pattern: string) =>
      new RegExp(
        `^${pattern.replace(/\\?./gsu, (token) => {
          if (token === '%') return '.*';
          if (token === '_') return '.';
          const plain = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token;
          return plain.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        })}$`,
        'su',
      );
    fc.assert(
      fc.property(fc.string({ unit: characters }), fc.string({ unit: characters }), (pattern, text) => {
        expect(matches(pattern, text)).to.equal(toRegExp(pattern).test(text));
      }),
      { seed: 2, numRuns: 5000 },
    );
  });

  it('come back from their printed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab%_\\') }), (pattern) => {
        const read = readLikePattern(pattern);
        expect(readLikePattern(printLikePattern(read))).to.deep.equal(read);
      }),
      { seed: 3, numRuns: 2000 },
    );
  });

  it('take no exponential time', () => {
    const startedAt = performance.now();
    expect(matches(`${'%a'.repeat(40)}%b`, 'a'.repeat(10_000))).to.equal(false);
    expect(matches(`${'_%'.repeat(2000)}b`, 'a'.repeat(10_000))).to.equal(false);
    expect(performance.now() - startedAt).to.be.lessThan(2000);
  });
});
