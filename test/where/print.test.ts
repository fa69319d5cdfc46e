import { expect } from 'chai';
import { parseWhere } from '../../src/where/parse.ts';
import { print } from '../../src/where/print.ts';

describe('printing a filter', () => {
  for (const [written, canonical] of [
    ["a='x'", "a = 'x'"],
    ['a<>1', 'a != 1'],
    ['a   >=\n1', 'a >= 1'],
    ['a in(1,2)', 'a IN (1, 2)'],
    ['a nOt In (1)', 'a NOT IN (1)'],
    ["a like 'x%'", "a LIKE 'x%'"],
    ["a not like 'x\\%'", "a NOT LIKE 'x\\%'"],
    ['a is null', 'a IS NULL'],
    ['a is not null', 'a IS NOT NULL'],
    ['a between 1 and 2', 'a BETWEEN 1 AND 2'],
    ['a not between 1 and 2', 'a NOT BETWEEN 1 AND 2'],
    ['a=true', 'a = TRUE'],
    ["a='it''s'", "a = 'it''s'"],
    ["a='\r\n\0\\'", "a = '\r\n\0\\'"],
    ['a=1e5', 'a = 1e5'],
    ['a=2026-01-31', 'a = 2026-01-31'],
    ['a=2026-01-31t08:30z', 'a = 2026-01-31t08:30z'],
    ['not a=1', 'NOT (a = 1)'],
    ['not not a=1', 'NOT (NOT (a = 1))'],
    ['a=1 or b=2 and c=3', 'a = 1 OR (b = 2 AND c = 3)'],
    ['(a=1 or b=2) and c=3', '(a = 1 OR b = 2) AND c = 3'],
    ['a=1 and (b=2 and c=3)', 'a = 1 AND (b = 2 AND c = 3)'],
    ['((a=1))', 'a = 1'],
    ['`a`=1', 'a = 1'],
    ['`a b`.c=1', '`a b.c` = 1'],
    ['`1a`=1', '`1a` = 1'],
    ['`-1`=1', '`-1` = 1'],
    ['`a..b`=1', '`a..b` = 1'],
    ['-a.-b=1', '-a.-b = 1'],
    ['not=1', 'not = 1'],
    ["`it's`=1", "`it's` = 1"],
  ] as const) {
    it(`${JSON.stringify(written)} → ${JSON.stringify(canonical)}`, () => {
      expect(print(parseWhere(written))).to.equal(canonical);
      expect(print(parseWhere(canonical))).to.equal(canonical);
    });
  }
});
