import { expect } from 'chai';
import fc from 'fast-check';
import { compileLike, printLikePattern, readLikePattern, searchPasses } from '../../src/where/like.ts';
import { runs, seedOr } from '../../suite/effort.ts';

const matches = (pattern: string, text: string) => compileLike(readLikePattern(pattern))(text);

/** Milliseconds of this process's own time, which a busy machine does not stretch. */
function cpuMsOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** All beginnings of the text that the pattern so far matches, character by character of the pattern. */
function plainlyMatches(pattern: string, characters: readonly string[]): boolean {
  let places = characters.map((_, index) => index === 0);
  places.push(characters.length === 0);
  for (const wanted of pattern) {
    const first = places.indexOf(true);
    const moved = places.map(
      (_, at) => at > 0 && places[at - 1] === true && (wanted === '_' || wanted === characters[at - 1]),
    );
    places = wanted === '%' ? places.map((_, at) => first >= 0 && at >= first) : moved;
  }
  return places.at(-1) === true;
}

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
      { seed: seedOr(2), numRuns: runs(5000) },
    );
  });

  it('come back from their printed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab%_\\') }), (pattern) => {
        const read = readLikePattern(pattern);
        expect(readLikePattern(printLikePattern(read))).to.deep.equal(read);
      }),
      { seed: seedOr(3), numRuns: runs(2000) },
    );
  });

  it('agree with a plain matcher on long texts that nearly match', () => {
    const pieces = fc
      .array(fc.constantFrom('a', 'a', 'a', 'b', '_', '😀', 'é'), { minLength: 1, maxLength: 8 })
      .chain((unit) => fc.nat(20).map((times) => unit.join('').repeat(times + 1)));
    const patterns = fc.array(fc.oneof(pieces, fc.constant('%')), { minLength: 1, maxLength: 5 });
    const edits = fc.array(fc.tuple(fc.nat(3000), fc.constantFrom('a', 'b', 'z', '😀', '\ud83d')), { maxLength: 4 });
    const repeated = fc.constantFrom('a', 'ab', 'aab', 'a😀', 'é', '😀');
    let matched = 0;
    fc.assert(
      fc.property(patterns, repeated, edits, fc.nat(3000), (parts, unit, changes, length) => {
        const characters = [...unit.repeat(1500)].slice(0, length);
        for (const [at, character] of changes) if (at < characters.length) characters[at] = character;
        const [pattern, text] = [parts.join(''), characters.join('')];
        const expected = plainlyMatches(pattern, [...text]);
        matched += Number(expected);
        expect(matches(pattern, text), pattern).to.equal(expected);
      }),
      { seed: seedOr(4), numRuns: runs(1500) },
    );
    expect(matched).to.be.greaterThan(runs(100));
  });

  it('are found wherever they stand in a long text', () => {
    for (const at of [0, 1, 31, 32, 4095, 4096, 4097, 8191, 8192, 12_345, 19_979, 19_980]) {
      const text = `${'ab'.repeat(10_000).slice(0, at)}axbxaxbxaxbxaxbxaxbz${'ab'.repeat(10_000)}`.slice(0, 20_000);
      const isWhole = at <= 20_000 - 20;
      expect(matches('%a_b_a_b_a_b_a_b_a_bz%', text), `at ${at}`).to.equal(isWhole);
      expect(matches('%axbxaxbxaxbxaxbxaxbz%', text), `at ${at}`).to.equal(isWhole);
      expect(matches('%a_b_a_b_a_b_a_b_a_bz_%', text), `at ${at}`).to.equal(at < 20_000 - 20);
    }
  });

  // Each took text × pattern before: seconds to half a minute.
  for (const [title, pattern, text] of [
    ['many pieces', `${'%a'.repeat(40)}%b`, 'a'.repeat(1_000_000)],
    ['many characters of any kind', `${'_%'.repeat(2000)}b`, 'a'.repeat(1_000_000)],
    ['one long piece', `%x%${'a'.repeat(3000)}b${'a'.repeat(900)}%`, `x${'a'.repeat(1_000_000)}`],
    ['one long piece with gaps', `%${'a_'.repeat(1999)}b%`, 'a'.repeat(1_000_000)],
    ['gaps, and a text that nearly matches', `%${'a_'.repeat(2000)}%`, `${'a'.repeat(2000)}bb`.repeat(500)],
  ] as const) {
    it(`go through a megabyte once for ${title}`, () => {
      expect(cpuMsOf(() => expect(matches(pattern, text)).to.equal(false))).to.be.lessThan(1000);
    });
  }

  it('say how often they go through a text', () => {
    for (const [pattern, passes] of [
      ['a', 0],
      ['a%', 0],
      ['%a', 0],
      ['%a%', 1],
      ['a%b%c', 1],
      ['%_%', 2],
      ['a_b', 2],
      ['%12345678901234567%', 2],
      ['%a_b%', 3],
      ['%a_b%c_d%', 3],
      [`%${'a_'.repeat(320)}%b_c%`, 7],
    ] as const) {
      expect(searchPasses(readLikePattern(pattern)), pattern).to.equal(passes);
    }
  });
});
