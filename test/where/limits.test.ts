import { expect } from 'chai';
import { LIMITS, parseOrderBy, parseStatement, parseWhere } from '../../src/where/parse.ts';
import { faultOf } from './faults.ts';

const faults = (text: string) => faultOf(() => parseWhere(text), 'WHERE_SYNTAX');
const predicates = (count: number) => Array.from({ length: count }, (_, index) => `a=${index}`).join(' OR ');
const members = (count: number) => `a IN (${Array.from({ length: count }, (_, index) => index).join(',')})`;
const nested = (depth: number) => `${'('.repeat(depth)}a=1${')'.repeat(depth)}`;

describe('the limits of a filter', () => {
  it('are 16 KB, 500 predicates, 1,000 members, 64 levels and 32 fields of an order', () => {
    expect(LIMITS).to.deep.equal({ textBytes: 16_384, predicates: 500, inMembers: 1000, nesting: 64, orderFields: 32 });
  });

  it('count bytes, not characters', () => {
    const longest = `a='${'é'.repeat(8190)}'`;
    expect(Buffer.byteLength(longest)).to.equal(16_384);
    expect(parseWhere(longest).kind).to.equal('compare');
    const message = 'The filter has 16385 bytes; the limit is 16384.';
    expect(faults(`${longest} `).message).to.equal(message);
    expect(faults(`${longest} `).details).to.deep.equal([{ position: 0, message }]);
  });

  it('take 500 predicates and not 501', () => {
    expect(parseWhere(predicates(500)).kind).to.equal('or');
    expect(faults(predicates(501)).message).to.equal('The filter has 501 predicates; the limit is 500.');
    expect(faults(`NOT (${predicates(501)})`).message).to.equal('The filter has 501 predicates; the limit is 500.');
  });

  it('take 1,000 members of an IN and not 1,001', () => {
    expect(parseWhere(members(1000)).kind).to.equal('in');
    const message = "IN on 'a' has 1001 values; the limit is 1000.";
    expect(faults(`b=1 OR NOT ${members(1001)}`).message).to.equal(message);
    expect(faults(`b=1 OR NOT ${members(1001)}`).details).to.deep.equal([{ position: 11, message }]);
  });

  it('take 64 levels of parentheses and NOT, and not 65', () => {
    for (const deep of [
      nested(64),
      `${'NOT '.repeat(64)}a=1`,
      `${'NOT ('.repeat(32)}a=1${')'.repeat(32)}`,
      `${'(b=1 OR '.repeat(64)}a=1${')'.repeat(64)}`,
      // An IN has its own parentheses: they are a level too.
      `${'('.repeat(63)}a IN (1)${')'.repeat(63)}`,
    ]) {
      expect(parseWhere(deep), deep).to.be.an('object');
    }
    for (const [deeper, position] of [
      [nested(65), 64],
      [`${'NOT '.repeat(65)}a=1`, 256],
      [`${'NOT ('.repeat(33)}a=1${')'.repeat(33)}`, 160],
      [`b=1 OR ${nested(65)}`, 71],
      [`${'('.repeat(64)}NOT a=1${')'.repeat(64)}`, 64],
    ] as const) {
      const message = 'The filter nests deeper than 64 levels.';
      expect(faults(deeper).message, deeper).to.equal(message);
      expect(faults(deeper).details, deeper).to.deep.equal([{ position, message }]);
    }
  });

  it('take 32 fields of an order and not 33', () => {
    const order = (count: number) => Array.from({ length: count }, () => 'ab').join(',');
    const message = 'The order has 33 fields; the limit is 32.';
    expect(parseOrderBy(order(32))).to.have.length(32);
    expect(faultOf(() => parseOrderBy(order(33)), 'WHERE_SYNTAX').details).to.deep.equal([{ position: 96, message }]);
    const statement = `SELECT * FROM a ORDER BY ${order(33)}`;
    expect(faultOf(() => parseStatement(statement), 'WHERE_SYNTAX').message).to.equal(message);
  });

  it('count only what is open at once', () => {
    expect(parseWhere(Array.from({ length: 100 }, () => nested(60)).join(' AND ')).kind).to.equal('and');
    expect(parseWhere(Array.from({ length: 100 }, () => 'NOT a=1').join(' OR ')).kind).to.equal('or');
  });

  it('refuse deep texts before the parser recurses into them, even broken ones', () => {
    expect(faults('('.repeat(16_384)).message).to.equal('The filter nests deeper than 64 levels.');
    expect(faults('not '.repeat(4096)).message).to.equal('The filter nests deeper than 64 levels.');
    expect(faults(')'.repeat(16_384)).message).to.match(/^The filter cannot be read at position 0: /);
  });

  it('hold for statements and orders, by their own names', () => {
    const statement = faultOf(() => parseStatement(`SELECT * FROM a WHERE ${predicates(501)}`), 'WHERE_SYNTAX');
    expect(statement.message).to.equal('The filter has 501 predicates; the limit is 500.');
    const deep = faultOf(() => parseStatement(`SELECT * FROM a WHERE ${nested(65)}`), 'WHERE_SYNTAX');
    expect(deep.message).to.equal('The statement nests deeper than 64 levels.');
    const order = faultOf(() => parseOrderBy(' '.repeat(16_385)), 'WHERE_SYNTAX');
    expect(order.message).to.equal('The order has 16385 bytes; the limit is 16384.');
  });
});
