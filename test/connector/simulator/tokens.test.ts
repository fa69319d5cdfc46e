import { expect } from 'chai';
import { Fault, type FilterTree, groupOf, readSeparated, readTokens } from '#connector/simulator';

const TOKENS = /'(?<text>(?:[^']|'')*)'|(?<word>[a-z]\w*)|(?<sign><=|[=(),])/i;
const open = (text: string) =>
  readTokens<'text' | 'word' | 'sign'>(text, TOKENS, ({ kind, text: found, at }, wanted) => {
    return new Fault(400, kind, `${wanted} expected, but '${found}' at ${at}`);
  });

describe('the tokens of a filter', () => {
  it('are taken by kind and text, whatever their case and the blanks between them', () => {
    const { isNext, take, need, needEnd } = open("  NAME<= 'it''s' ");
    expect([isNext('sign'), take('word', 'nope'), take('word', 'x', 'name')?.text]).to.deep.equal([
      false,
      undefined,
      'NAME',
    ]);
    expect([need('sign'), need('text')]).to.deep.equal([
      { kind: 'sign', text: '<=', at: 6 },
      { kind: 'text', text: "it''s", at: 9 },
    ]);
    needEnd();
  });

  for (const [text, read, message] of [
    ['a b', ({ need }) => need('word', 'x', 'y'), "x or y expected, but 'a' at 0"],
    ['a b', ({ take, needEnd }) => [take('word'), needEnd()], "the end expected, but 'b' at 2"],
    ['a', ({ take, need }) => [take('word'), need('sign')], "a sign expected, but '' at 1"],
    ['a  ? b', () => undefined, " expected, but '? b' at 3"],
  ] satisfies readonly (readonly [string, (reader: ReturnType<typeof open>) => unknown, string])[]) {
    it(`are refused with "${message}"`, () => {
      expect(() => read(open(text))).to.throw(Fault, message);
    });
  }

  it('make groups, in which a single operand stands alone', () => {
    const test = (field: string): FilterTree => ({ kind: 'test', field, operator: 'IS NULL', values: [] });
    const read = (text: string) => {
      const { need, take } = open(text);
      return groupOf(
        'or',
        readSeparated(
          () => test(need('word').text),
          () => take('sign', ','),
        ),
      );
    };
    expect(read('a')).to.deep.equal(test('a'));
    expect(read('a, b')).to.deep.equal({ kind: 'or', operands: [test('a'), test('b')] });
  });
});
