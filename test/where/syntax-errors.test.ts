import { expect } from 'chai';
import { parseFieldList, parseOrderBy, parseStatement, parseWhere } from '../../src/where/parse.ts';
import { faultOf } from './faults.ts';

const VALUES = ["'text'", 'a number', 'TRUE', 'FALSE', 'a date', 'a date-time'];
const OPERATORS = [
  ...['=', '!=', '<', '<=', '>', '>='],
  ...['IN', 'LIKE', 'BETWEEN', 'IS NULL', 'NOT IN', 'NOT LIKE', 'IS NOT NULL'],
];
const OPERANDS = ['field', 'NOT', '('];
const NULLS = ['IS NULL', 'IS NOT NULL'];
const LIST = ['(', ',', ')'];
const AFTER = ['AND', 'OR', 'end'];
const CLAUSES = ['SELECT', 'FROM', 'WHERE', 'ORDER BY', 'LIMIT'];

const OPERAND = 'Expected a field, NOT or (';
const OPERATOR = 'Expected an operator';
const NULL_NEVER = 'A comparison with NULL never matches. Use IS NULL or IS NOT NULL.';
const UNCLOSED = "This text has no closing quote. A quote inside a text is written twice: 'O''Neil'.";
const LIST_WANTED = "Expected a list in parentheses after IN, such as ('a', 'b')";
const PATTERN_WANTED = "Expected a pattern in single quotes after LIKE, such as 'a%'";
const typographic = (quote: string) => `${quote} is a typographic quote. Write text in straight single quotes: 'text'.`;

/** Text, position, length, message, what was expected, nearest. */
type Case = readonly [string, number, number, string, readonly string[] | undefined, string?];

const FILTERS: readonly Case[] = [
  ['', 0, 0, `${OPERAND}, found the end.`, OPERANDS],
  [' \n', 2, 0, `${OPERAND}, found the end.`, OPERANDS],
  ['= 1', 0, 1, `${OPERAND}, found '='.`, OPERANDS],
  ['1 = a', 0, 1, `${OPERAND}, found '1'.`, OPERANDS],
  ["'a' = 1", 0, 3, `${OPERAND}, found ''a''.`, OPERANDS],
  ['()', 1, 1, `${OPERAND}, found ')'.`, OPERANDS],
  ['*', 0, 1, `${OPERAND}, found '*'.`, OPERANDS],
  ['.a = 1', 0, 1, `${OPERAND}, found '.'.`, OPERANDS],
  ['a = 1 AND', 9, 0, `${OPERAND}, found the end.`, OPERANDS],
  ['a = 1 OR', 8, 0, `${OPERAND}, found the end.`, OPERANDS],
  ['NOT', 3, 0, `${OPERAND}, found the end.`, OPERANDS],
  ['a', 1, 0, `${OPERATOR}, found the end.`, OPERATORS],
  ['a b', 2, 1, `${OPERATOR}, found 'b'.`, OPERATORS],
  ['a and b', 2, 3, `${OPERATOR}, found 'and'.`, OPERATORS],
  ['a NOT 1', 6, 1, `${OPERATOR}, found '1'.`, OPERATORS],
  ['a NOT = 1', 6, 1, `${OPERATOR}, found '='.`, OPERATORS],
  ["a lik 'x%'", 2, 3, `${OPERATOR}, found 'lik'. Did you mean LIKE?`, OPERATORS, 'LIKE'],
  ['a eq 1', 2, 2, "Write '=' instead of 'eq'.", ['=']],
  ['a NE 1', 2, 2, "Write '!=' instead of 'NE'.", ['!=']],
  ['a lt 1', 2, 2, "Write '<' instead of 'lt'.", ['<']],
  ['a le 1', 2, 2, "Write '<=' instead of 'le'.", ['<=']],
  ['a gt 1', 2, 2, "Write '>' instead of 'gt'.", ['>']],
  ['a Ge 1', 2, 2, "Write '>=' instead of 'Ge'.", ['>=']],
  ['a.', 2, 0, 'Expected a field name, found the end.', ['field']],
  ['a.b. = 1', 5, 1, "Expected a field name, found '='.", ['field']],
  ['a..b = 1', 2, 1, "Expected a field name, found '.'.", ['field']],
  ['a =', 3, 0, 'Expected a value, found the end.', VALUES],
  ['a = (1)', 4, 1, "Expected a value, found '('.", VALUES],
  ['a => 1', 3, 1, "Expected a value, found '>'.", VALUES],
  ['a = AND b = 1', 4, 3, "Expected a value, found 'AND'.", VALUES],
  ['a = abc', 4, 3, "Write text in single quotes: 'abc'.", ["'abc'"]],
  ['a BETWEEN b AND 2', 10, 1, "Write text in single quotes: 'b'.", ["'b'"]],
  ['a IN (b)', 6, 1, "Write text in single quotes: 'b'.", ["'b'"]],
  ['a = NULL', 4, 4, NULL_NEVER, NULLS],
  ['a != null', 5, 4, NULL_NEVER, NULLS],
  ['a IN (null)', 6, 4, NULL_NEVER, NULLS],
  ['a IN (1, NULL)', 9, 4, NULL_NEVER, NULLS],
  ['a BETWEEN 1 AND null', 16, 4, NULL_NEVER, NULLS],
  ['a = 1 b = 2', 6, 1, "Expected AND, OR or the end of the filter, found 'b'.", AFTER],
  ['a = 1)', 5, 1, "Expected AND, OR or the end of the filter, found ')'.", AFTER],
  ["a = 'x' 'y'", 8, 3, "Expected AND, OR or the end of the filter, found ''y''.", AFTER],
  ['a = 5.', 5, 1, "Expected AND, OR or the end of the filter, found '.'.", AFTER],
  ['a = 2026-1-5', 8, 2, "Expected AND, OR or the end of the filter, found '-1'.", AFTER],
  ['(a = 1', 6, 0, 'Expected AND, OR or ), found the end.', ['AND', 'OR', ')']],
  ['(a = 1 b', 7, 1, "Expected AND, OR or ), found 'b'.", ['AND', 'OR', ')']],
  ['a IN 1', 5, 1, `${LIST_WANTED}, found '1'.`, LIST],
  ['a IN (1 2)', 8, 1, `${LIST_WANTED}, found '2'.`, LIST],
  ['a IN (1', 7, 0, `${LIST_WANTED}, found the end.`, LIST],
  ['a IN ((1))', 6, 1, "Expected a value, found '('.", VALUES],
  ['a IN ()', 6, 1, 'IN needs at least one value.', VALUES],
  ['a IN (1,)', 8, 1, 'Expected a value after the comma.', VALUES],
  ['a LIKE', 6, 0, `${PATTERN_WANTED}, found the end.`, ["'text'"]],
  ['a LIKE 1', 7, 1, `${PATTERN_WANTED}, found '1'.`, ["'text'"]],
  ['a IS 1', 5, 1, "Expected NULL or NOT NULL after IS, found '1'.", ['NULL', 'NOT NULL']],
  ['a IS NOT 1', 9, 1, "Expected NULL or NOT NULL after IS, found '1'.", ['NULL', 'NOT NULL']],
  ['a BETWEEN 1', 11, 0, 'Expected AND and a second value after BETWEEN, found the end.', ['AND']],
  ['a BETWEEN 1, 2', 11, 1, "Expected AND and a second value after BETWEEN, found ','.", ['AND']],
  ["a = 'x", 4, 2, UNCLOSED, ["'"]],
  ["a = 'x''", 4, 4, UNCLOSED, ["'"]],
  ["a = 'x''y", 4, 5, UNCLOSED, ["'"]],
  ['a = "x"', 4, 3, 'Write text in single quotes: \'x\', not "x".', ["'x'"]],
  ['a = "O\'Neil"', 4, 8, "Write text in single quotes: 'O''Neil', not \"O'Neil\".", ["'O''Neil'"]],
  ['a = "x', 4, 2, "Write text in single quotes: 'x', not \"x.", ["'x'"]],
  ['a == 1', 2, 2, "Write '=' for equality, not '=='.", ['=']],
  ['a === 1', 2, 3, "Write '=' for equality, not '==='.", ['=']],
  ['a = 1 && b = 2', 6, 2, "Write AND instead of '&&'.", ['AND']],
  ['a = 1 & b = 2', 6, 1, "Write AND instead of '&'.", ['AND']],
  ['a = 1 || b = 2', 6, 2, "Write OR instead of '||'.", ['OR']],
  ['a = 1 | b = 2', 6, 1, "Write OR instead of '|'.", ['OR']],
  ['`a = 1', 0, 6, 'This field name has no closing backtick.', ['`']],
  ['`` = 1', 0, 2, 'A field name in backticks needs at least one character.', ['field']],
  ['a = #', 4, 1, 'Unexpected character "#".', undefined],
  ['a = - 1', 4, 1, 'Unexpected character "-".', undefined],
  ['a =\0 1', 3, 1, 'Unexpected character "\\u0000".', undefined],
  ['😀 = 1', 0, 2, 'Unexpected character "😀".', undefined],
  ["a = 'x\ud800'", 6, 1, 'Half of a surrogate pair is not a character.', undefined],
  ["a = '😀\udc00'", 7, 1, 'Half of a surrogate pair is not a character.', undefined],
  ...[...'‘’‚‛“”„«»‹›'].map((quote): Case => [`a = 1 ${quote}`, 6, 1, typographic(quote), ["'"]]),
];

const ORDERS: readonly Case[] = [
  ['', 0, 0, 'Expected a field name, found the end.', ['field']],
  ['a,', 2, 0, 'Expected a field name, found the end.', ['field']],
  ['a desc,,b', 7, 1, "Expected a field name, found ','.", ['field']],
  ['a desk', 2, 4, "Expected ASC, DESC, a comma or the end, found 'desk'.", ['ASC', 'DESC', ',', 'end']],
  ['a asc desc', 6, 4, "Expected ASC, DESC, a comma or the end, found 'desc'.", ['ASC', 'DESC', ',', 'end']],
];

const FIELD_LISTS: readonly Case[] = [
  ['', 0, 0, 'Expected a field name, found the end.', ['field']],
  ['1', 0, 1, "Expected a field name, found '1'.", ['field']],
  ['a,,b', 2, 1, "Expected a field name, found ','.", ['field']],
  ['a b', 2, 1, "Expected a comma or the end of the list, found 'b'.", [',', 'end']],
];

const STATEMENT = 'Expected SELECT fields FROM object [WHERE …] [ORDER BY …] [LIMIT n]';
const NEXT_CLAUSE = 'Expected WHERE, ORDER BY, LIMIT or the end of the statement';
const NEXT = ['WHERE', 'ORDER BY', 'LIMIT', 'end'];
const STATEMENTS: readonly Case[] = [
  ['', 0, 0, `${STATEMENT}, found the end.`, CLAUSES],
  ['* FROM a', 0, 1, `${STATEMENT}, found '*'.`, CLAUSES],
  ['SELECT FROM a', 12, 1, `${STATEMENT}, found 'a'.`, CLAUSES],
  ['SELECT * a', 9, 1, `${STATEMENT}, found 'a'.`, CLAUSES],
  ['SELECT * FROM a ORDER b', 22, 1, `${STATEMENT}, found 'b'.`, CLAUSES],
  ['SELECT * FROM a LIMIT b', 22, 1, `${STATEMENT}, found 'b'.`, CLAUSES],
  ['SELECT * FROM', 13, 0, 'Expected a field name, found the end.', ['field']],
  ['SELECT * FROM a ORDER BY', 24, 0, 'Expected a field name, found the end.', ['field']],
  ['SELECT * FROM a WHERE', 21, 0, `${OPERAND}, found the end.`, OPERANDS],
  ['SELECT * FROM a b', 16, 1, `${NEXT_CLAUSE}, found 'b'.`, NEXT],
  ['SELECT * FROM a WHERE b = 1 c', 28, 1, `${NEXT_CLAUSE}, found 'c'.`, NEXT],
  ['SELECT * FROM a LIMIT 1 2', 24, 1, `${NEXT_CLAUSE}, found '2'.`, NEXT],
  ...['0', '-1', '1.5', '1e99'].map(
    (rows): Case => [
      `SELECT * FROM a LIMIT ${rows}`,
      22,
      rows.length,
      'LIMIT must be a whole number of at least 1.',
      ['a whole number'],
    ],
  ),
];

function explains(what: string, parse: (text: string) => unknown, cases: readonly Case[]): void {
  describe(`what is wrong with a ${what}`, () => {
    for (const [text, position, length, message, expected, nearest] of cases) {
      it(`${JSON.stringify(text)}: ${message}`, () => {
        const error = faultOf(() => parse(text), 'WHERE_SYNTAX');
        expect(error.message).to.equal(`The ${what} cannot be read at position ${position}: ${message}`);
        const detail = { position, length, message };
        expect(error.details).to.deep.equal([
          { ...detail, ...(expected !== undefined && { expected }), ...(nearest !== undefined && { nearest }) },
        ]);
      });
    }
  });
}

explains('filter', parseWhere, FILTERS);
explains('order', parseOrderBy, ORDERS);
explains('field list', parseFieldList, FIELD_LISTS);
explains('statement', parseStatement, STATEMENTS);

describe('several syntax errors', () => {
  const faults = (text: string) => faultOf(() => parseWhere(text), 'WHERE_SYNTAX');

  it('are reported together, in order', () => {
    const error = faults('a = x AND b = NULL AND c LIKE 3');
    expect(error.message).to.equal(
      "The filter cannot be read at position 4: Write text in single quotes: 'x'. (and 2 more, see details)",
    );
    expect(error.details?.map(({ position, message }) => [position, message])).to.deep.equal([
      [4, "Write text in single quotes: 'x'."],
      [14, NULL_NEVER],
      [30, `${PATTERN_WANTED}, found '3'.`],
    ]);
  });

  it('are reported together for characters and quotes too', () => {
    expect(faults('a # 1 && b = “x”').details?.map(({ position, message }) => [position, message])).to.deep.equal([
      [2, 'Unexpected character "#".'],
      [6, "Write AND instead of '&&'."],
      [13, typographic('“')],
      [15, typographic('”')],
    ]);
  });

  it('are told to 50, however many there are', () => {
    const error = faults('# '.repeat(8000));
    expect(error.message).to.equal(
      'The filter cannot be read at position 0: Unexpected character "#". (and at least 50 more, see details)',
    );
    expect(error.details).to.have.length(50);
  });

  it('end the parse at the 51st, which the last entry says', () => {
    for (const text of ['a and '.repeat(2500), 'a = and '.repeat(2000), 'a in () or '.repeat(1000)]) {
      const error = faults(text);
      expect(error.message, text.slice(0, 12)).to.match(/ \(and at least 50 more, see details\)$/);
      expect(error.details).to.have.length(50);
      expect(error.details?.at(-1)).to.deep.equal({ message: '… and more.' });
      expect(error.details?.slice(0, -1).every(({ position }) => position !== undefined)).to.equal(true);
    }
  });

  it('quote no more than 100 characters', () => {
    const long = 'é'.repeat(4000);
    for (const text of [`a = ${long}`, `a = "${long}`, `a '${long}'`, `a = 1 ${long}`, `a ${long}`]) {
      const { message, details } = faults(text);
      expect(message.length, message).to.be.lessThan(400);
      expect(JSON.stringify(details).length).to.be.lessThan(900);
      expect(message).to.contain('é…');
    }
    const members = `\`${'x'.repeat(300)}\` IN (${Array.from({ length: 1001 }, () => '1').join(',')})`;
    expect(faults(members).message).to.equal(`IN on '${'x'.repeat(100)}…' has 1001 values; the limit is 1000.`);
  });

  it('leave the parser as it was', () => {
    faults('a =');
    faults('a and '.repeat(2500));
    expect(parseWhere('a = 1').kind).to.equal('compare');
  });
});
