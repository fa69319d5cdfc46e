import { expect } from 'chai';
import { isAppError } from '../src/errors.ts';
import { isWithinShape } from '../src/numbers/json-shape.ts';
import { cookiesIn, decodeForm, decodeQuery, findCookie, hasMorePairs, MOST_PAIRS, searchOf } from '../src/pairs.ts';

const pairs = (count: number) => Array.from({ length: count }, (_, n) => `n${n}=v`).join('&');

describe('a form and a query string', () => {
  it('have at most 1,000 pairs, counted before they are decoded', () => {
    expect([...decodeForm(pairs(MOST_PAIRS))]).to.have.length(1_000);
    expect([...decodeQuery(`?${pairs(MOST_PAIRS)}`)]).to.have.length(1_000);
    expect(messageOf(() => decodeForm(pairs(MOST_PAIRS + 1)))).to.deep.equal([
      'PAYLOAD_TOO_LARGE',
      'The form has more than 1000 fields.',
    ]);
    expect(messageOf(() => decodeQuery(pairs(MOST_PAIRS + 1)))).to.deep.equal([
      'REQUEST_INVALID',
      'The query string has more than 1000 parameters.',
    ]);
  });

  it('are counted by their separators, whatever stands between them', () => {
    expect(hasMorePairs('', 1)).to.equal(false);
    expect(hasMorePairs('a=%26%26%26', 1)).to.equal(false);
    expect(hasMorePairs('&', 1)).to.equal(true);
    expect(hasMorePairs('&'.repeat(1_000))).to.equal(true);
    expect(hasMorePairs('a&'.repeat(999))).to.equal(false);
  });

  it('is found behind the first question mark', () => {
    expect(['/a', '/a?', '/a?b=c?d', 'https://a.example/?x'].map(searchOf)).to.deep.equal(['', '', 'b=c?d', 'x']);
  });
});

function messageOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (isAppError(error)) return [error.code, error.message];
    throw error;
  }
  return [];
}

describe('the cookies of a request', () => {
  it('are found by name, once', () => {
    expect(findCookie('a=1;b = 2; c=3', 'c')).to.equal('3');
    expect(findCookie('a=1 ; a=2', 'a')).to.equal(undefined);
    expect(findCookie('aa=1', 'a')).to.equal(undefined);
    expect(findCookie('', 'a')).to.equal(undefined);
  });

  it('are cut without a pattern that looks at every blank from every other', () => {
    const blanks = ' '.repeat(1_000_000);
    // A pattern takes a quarter of an hour for it: the run would end by its time-out.
    expect(cookiesIn(`a=1${blanks}x;${blanks}b=2`).map(({ length }) => length)).to.deep.equal([1_000_004, 3]);
  });
});

describe('the shape of a JSON text', () => {
  it('is judged in one go', () => {
    const most = { depth: 2, members: 4, ownMembers: 2 };
    const texts = ['{"a":[1,2],"b":"[[[,,,"}', '{"a":1,"b":2,"c":3}', '[[1,2,3],4]', '[[[]]]', '{"a":"'];
    expect(texts.map((text) => isWithinShape(Buffer.from(text), most))).to.deep.equal([
      ...[true, false, false, false, true],
    ]);
  });
});
