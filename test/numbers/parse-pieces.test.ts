import { expect } from 'chai';
import fc from 'fast-check';
import { RESPONSE_LIMITS } from '../../src/connector/client/response-limits.ts';
import { isAppError } from '../../src/errors.ts';
import { parseJson } from '../../src/numbers/exact-json.ts';
import { parsePieces } from '../../src/numbers/parse-pieces.ts';
import { runs } from '../../suite/effort.ts';

function parse(text: string | Buffer, pieceBytes?: number): unknown {
  const parsing = parsePieces(Buffer.from(text), RESPONSE_LIMITS, pieceBytes);
  for (;;) {
    const step = parsing.next();
    if (step.done) return step.value;
  }
}

/** Of a refusal as no answer of the provider; empty where there is none. */
function messageOf(text: string): string {
  try {
    parse(text);
    return '';
  } catch (error) {
    if (isAppError(error, 'PROVIDER_PROTOCOL')) return error.message;
    throw error;
  }
}

/** The value as text, so that the order of members counts and `__proto__` is seen; or that it is not JSON. */
function outcome(read: () => unknown): string {
  try {
    return JSON.stringify(read());
  } catch (error) {
    if (error instanceof SyntaxError) return 'SyntaxError';
    throw error;
  }
}

const SIZES = [1, 2, 3, 7, 20, 1000];

function expectSame(given: string): void {
  // A half of a surrogate pair has no UTF-8.
  const text = Buffer.from(given).toString();
  const expected = outcome(() => parseJson(text));
  for (const size of SIZES) {
    expect(
      outcome(() => parse(text, size)),
      `${text} in pieces of ${size}`,
    ).to.equal(expected);
  }
}

/** Any character, without the map of all of them that fast-check's own unit makes in a second of CPU time. */
const stringUnit = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code));

const json = fc.oneof(
  fc.json({ stringUnit, depthSize: 'large' }),
  fc.jsonValue({ depthSize: 'medium' }).map((value) => JSON.stringify(value, null, 2)),
);

describe('JSON that is parsed in pieces', () => {
  it('is what JSON.parse makes of it, however it is cut', () => {
    fc.assert(fc.property(json, expectSame), { numRuns: runs(300) });
  });

  it('is refused where JSON.parse refuses it, when a character is lost, doubled or changed', () => {
    const character = fc.constantFrom(...'{}[],:"\\ 1a-e.\n\u00a0\ufeff');
    const broken = fc.tuple(json, fc.nat(), fc.constantFrom(0, 1), character).map(([text, at, lost, added]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + added + text.slice(place + lost);
    });
    fc.assert(fc.property(broken, expectSame), { numRuns: runs(1000) });
  });

  for (const text of [
    ...['{"a":[1,9007199254740993],"b":-1e400}', '{"a":[1,2],"a":3,"b":[4,5],"a":[6]}'],
    ...['{"__proto__":{"polluted":[1,2,3]},"constructor":[1,2,3]}', '{"2":[1,2,3],"1":[1,2,3]}', '[[1,2,3],,[4]]'],
    ...['[[1,2,3][4]]', '[[1,2,3],]', '[,[1,2,3]]', '{"a":[1,2,3],}', '{"a":[1,2,3] "b":1}', '{"a":1{"b":[1,2,3]}}'],
    ...['{"a" [1,2,3]}', '{"a":[1,2,3]}]', '[[1,2,3]', '[1,2}', '"[1,2', '[1,2,3] 4', '[1],[2]', '   ', ' [ ] '],
    ...['"a \\" [ b"', '["\\\\","\\"]","]"]', '12', '{"a:b":[1,2,3],"\\":":[1,2,3]}'],
  ]) {
    it(`is the same as in one go: ${text}`, () => expectSame(text));
  }

  it('keeps characters of several bytes whole, and replaces bytes that are none', () => {
    expectSame(JSON.stringify(['äöü', { '😀': '€', 日本: ['語', '語'] }]));
    const wrong = Buffer.concat([Buffer.from('["a'), Buffer.from([0xe2, 0x82]), Buffer.from('",["b"],"c"]')]);
    expect(parse(wrong, 2)).to.deep.equal(['a\ufffd', ['b'], 'c']);
  });

  it('does no more work in a step than a piece needs, wherever the bytes are', () => {
    const rows = Array.from({ length: 3000 }, (_, id) => ({ id, name: `Name ${id}`, tags: ['a', 'b'] }));
    for (const value of [rows, { data: { rows } }, [[[rows]]], { text: 'x'.repeat(200_000), rows }]) {
      const text = JSON.stringify(value);
      const costs = [...parsePieces(Buffer.from(text), RESPONSE_LIMITS, 1024)];
      expect(costs).to.have.length(Math.ceil(text.length / 1024));
      expect(Math.max(...costs.map(({ bytes }) => bytes))).to.be.below(64 * 1024);
    }
  });

  it('has its members counted, however it is cut', () => {
    const COUNTS: Readonly<Record<string, number>> = {
      '[]': 0,
      '{ "a" : [ ] }': 1,
      '[1,2,3]': 3,
      '{"a":1,"b":[1,{"c":[]}]}': 5,
      '["[,,{", {"a,":"\\",,"}]': 3,
      '[[],[],{}]': 3,
    };
    for (const [text, count] of Object.entries(COUNTS)) {
      for (const size of SIZES) {
        const costs = [...parsePieces(Buffer.from(text), RESPONSE_LIMITS, size)];
        const sum = costs.reduce((members, cost) => members + cost.members, 0);
        expect(sum, `${text} in pieces of ${size}`).to.equal(count);
      }
    }
  });

  it('is refused with more than 2,000,000 members, and 100,000 of one object, before they are all parsed', () => {
    const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n}":0`)}}`;
    const list = (count: number) => `[${'0,'.repeat(count - 1)}0]`;
    if (process.env.CONFORMANCE !== 'smoke') expect(messageOf(list(2_000_000))).to.equal('');
    expect(messageOf(list(2_000_001))).to.equal('The provider returned JSON with more than 2000000 members.');
    expect(messageOf(`{"data":${members(100_000)}}`)).to.equal('');
    const tooMany = 'The provider returned an object with more than 100000 members.';
    expect(messageOf(`{"data":[1,${members(100_001)}]}`)).to.equal(tooMany);
    // What follows is not looked at: the text ends in the middle.
    const [first = ''] = members(110_000).split('"105000"');
    expect(messageOf(first)).to.equal(tooMany);
  });

  it('is refused when it is nested deeper than 200 levels', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    expect(outcome(() => parse(nested(200), 10))).to.equal(nested(200));
    for (const text of [nested(201), '[{"a":'.repeat(1_000_000)]) {
      const failed = (() => {
        try {
          return parse(text);
        } catch (error) {
          return error;
        }
      })();
      expect(isAppError(failed, 'PROVIDER_PROTOCOL')).to.equal(true);
      expect(failed)
        .to.have.property('message')
        .that.equals('The provider returned JSON that is nested deeper than 200 levels.');
    }
  });
});
