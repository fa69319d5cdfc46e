import { expect } from 'chai';
import type { Queryable } from '../../src/where/model.ts';
import { EXACT, MIXED, plannedParts, planOf, provider, SUPERSET } from './planned.ts';

const none = undefined;
const full = (pushed: string) => ({ pushed, residual: none, pushdown: 'full' });
const rechecked = (pushed: string, residual: string) => ({ pushed, residual, pushdown: 'partial' });
const unpushed = (residual: string) => ({ pushed: none, residual, pushdown: 'none' });

function pushes(
  where: string,
  queryable: Queryable,
  parts: ReturnType<typeof full> | ReturnType<typeof rechecked> | ReturnType<typeof unpushed>,
) {
  it(`${where} → ${parts.pushed ?? 'nothing'}${parts.residual ? `, then ${parts.residual}` : ''}`, () => {
    expect(plannedParts(where, queryable)).to.deep.equal(parts);
  });
}

describe('pushing by declared operators', () => {
  describe('all exact', () => {
    const all = provider(EXACT);
    for (const where of [
      ...["a = 'x'", 'x != 1', 'x < 1', 'x <= 1', 'x > 1', 'x >= 1', 'x IN (1, 2)', 'x NOT IN (1, 2)', "a LIKE 'x%'"],
      ...["a NOT LIKE '%x_y'", 'a IS NULL', 'a IS NOT NULL'],
    ]) {
      pushes(where, all, full(where));
    }
    pushes("a = 'x' AND (x > 1 OR y < 2)", all, full("a = 'x' AND (x > 1 OR y < 2)"));
    pushes('NOT x BETWEEN 1 AND 5', all, full('x < 1 OR x > 5'));
  });

  describe('all superset', () => {
    const all = provider(SUPERSET);
    pushes("a = 'x'", all, rechecked("a = 'x'", "a = 'x'"));
    pushes(
      "a = 'x' AND (x > 1 OR y < 2)",
      all,
      rechecked("a = 'x' AND (x > 1 OR y < 2)", "a = 'x' AND (x > 1 OR y < 2)"),
    );
  });

  describe('some of a filter', () => {
    pushes('n = 1', MIXED, unpushed('n = 1'));
    pushes('e = 1 AND s = 1 AND n = 1', MIXED, rechecked('e = 1 AND s = 1', 's = 1 AND n = 1'));
    pushes('e = 1 OR n = 1', MIXED, unpushed('e = 1 OR n = 1'));
    pushes('e = 1 OR s = 1', MIXED, rechecked('e = 1 OR s = 1', 'e = 1 OR s = 1'));
    pushes('e = 1 AND (e = 2 OR n = 1)', MIXED, rechecked('e = 1', 'e = 2 OR n = 1'));
    pushes(
      '(e = 1 AND n = 1) OR (e = 2 AND n = 2)',
      MIXED,
      rechecked('e = 1 OR e = 2', '(e = 1 AND n = 1) OR (e = 2 AND n = 2)'),
    );
    pushes('(e = 1 AND n = 1) OR n = 2', MIXED, unpushed('(e = 1 AND n = 1) OR n = 2'));
    pushes('NOT (e = 1)', MIXED, unpushed('e != 1'));
    pushes('NOT (e != 1)', MIXED, full('e = 1'));
    pushes('NOT (e = 1 AND e != 2)', MIXED, unpushed('e != 1 OR e = 2'));
  });

  describe('without a translator', () => {
    const { translator: _, ...blind } = provider(EXACT);
    pushes('x = 1 AND y = 2', blind, unpushed('x = 1 AND y = 2'));
    it('says so', () => {
      expect(planOf('x = 1', { ...blind, shape: { kind: 'any' } }).decisions).to.deep.equal([
        {
          predicate: 'x = 1',
          position: 0,
          length: 5,
          exactness: 'exact',
          pushed: false,
          reason: 'the provider accepts no filter',
        },
      ]);
    });
  });
});

describe('saying a predicate otherwise', () => {
  describe('lists and equalities', () => {
    pushes('x IN (1, 2)', provider({ '=': 'exact' }), full('x = 1 OR x = 2'));
    pushes('x NOT IN (1, 2)', provider({ '!=': 'exact' }), full('x != 1 AND x != 2'));
    pushes('x IN (1, 2)', provider({ '=': 'superset' }), rechecked('x = 1 OR x = 2', 'x IN (1, 2)'));
    pushes('x = 1', provider({ IN: 'exact' }), full('x IN (1)'));
    pushes('x != 1', provider({ 'NOT IN': 'superset' }), rechecked('x NOT IN (1)', 'x != 1'));
    pushes('x NOT IN (1, 2)', provider({ '=': 'exact' }), unpushed('x NOT IN (1, 2)'));
    pushes('flag IN (TRUE, FALSE)', provider({ '=': 'exact' }), full('flag = TRUE OR flag = FALSE'));
  });

  describe('bounds', () => {
    pushes('x > 1', provider({ '>=': 'exact' }), rechecked('x >= 1', 'x > 1'));
    pushes('x < 1', provider({ '<=': 'exact' }), rechecked('x <= 1', 'x < 1'));
    pushes('x >= 1', provider({ '>': 'exact' }), unpushed('x >= 1'));
    pushes('x <= 1', provider({ '<': 'exact' }), unpushed('x <= 1'));
    pushes('x = 1', provider({ '>=': 'exact', '<=': 'exact' }), rechecked('x >= 1 AND x <= 1', 'x = 1'));
    pushes('x = 1', provider({ '>=': 'exact' }), rechecked('x >= 1', 'x = 1'));
    pushes('x = 1', provider({ '>': 'exact', '<': 'exact' }), unpushed('x = 1'));
    pushes('x != 1', provider({ '>=': 'exact', '<=': 'exact', '=': 'exact' }), unpushed('x != 1'));
    pushes('x BETWEEN 1 AND 5', provider({ '>=': 'exact', '<=': 'exact' }), full('x >= 1 AND x <= 5'));
    pushes('x BETWEEN 1 AND 5', provider({ '>=': 'exact' }), rechecked('x >= 1', 'x <= 5'));
  });

  describe('patterns', () => {
    const forms = (...likeForms: ('literal' | 'prefix' | 'suffix' | 'contains' | 'pattern')[]) =>
      provider({ LIKE: 'exact', 'NOT LIKE': 'exact' }, { likeForms });
    pushes("a LIKE 'x%'", forms('prefix'), full("a LIKE 'x%'"));
    pushes("a NOT LIKE 'x%'", forms('prefix'), full("a NOT LIKE 'x%'"));
    pushes("a LIKE 'x%'", forms('contains'), rechecked("a LIKE '%x%'", "a LIKE 'x%'"));
    pushes("a LIKE '%x'", forms('contains'), rechecked("a LIKE '%x%'", "a LIKE '%x'"));
    pushes("a LIKE '%x%'", forms('prefix', 'suffix'), unpushed("a LIKE '%x%'"));
    pushes("a LIKE '%x_yz%'", forms('contains'), rechecked("a LIKE '%yz%'", "a LIKE '%x_yz%'"));
    pushes("a LIKE 'x_y%'", forms('prefix'), rechecked("a LIKE 'x%'", "a LIKE 'x_y%'"));
    pushes("a LIKE '%x_y'", forms('suffix'), rechecked("a LIKE '%y'", "a LIKE '%x_y'"));
    pushes("a LIKE '_x_'", forms('prefix', 'suffix'), unpushed("a LIKE '_x_'"));
    pushes("a LIKE '50\\%_'", forms('contains'), rechecked("a LIKE '%50\\%%'", "a LIKE '50\\%_'"));
    pushes("a LIKE 'x'", forms('contains'), rechecked("a LIKE '%x%'", "a LIKE 'x'"));
    pushes("a NOT LIKE 'x_'", forms('contains', 'prefix'), unpushed("a NOT LIKE 'x_'"));
    pushes("a LIKE '_'", forms('contains'), unpushed("a LIKE '_'"));
    pushes("a LIKE 'x'", provider({ '=': 'exact' }), full("a = 'x'"));
    pushes("a NOT LIKE 'x'", provider({ '!=': 'superset' }), rechecked("a != 'x'", "a NOT LIKE 'x'"));
    pushes("a LIKE ''", provider({ '=': 'exact' }), full("a = ''"));
    pushes("a LIKE '%'", provider({ 'IS NOT NULL': 'exact' }), rechecked('a IS NOT NULL', "a LIKE '%'"));
  });

  describe('long lists', () => {
    const inThrees = (kind: 'any' | 'and' | 'and-xor-or') =>
      provider(EXACT, { limits: { maxInSize: 3 }, shape: { kind } });
    pushes('x IN (1, 2, 3)', inThrees('any'), full('x IN (1, 2, 3)'));
    pushes('x IN (1, 2, 3, 4, 5, 6, 7)', inThrees('any'), full('x IN (1, 2, 3) OR x IN (4, 5, 6) OR x IN (7)'));
    pushes('x NOT IN (1, 2, 3, 4)', inThrees('and'), full('x NOT IN (1, 2, 3) AND x NOT IN (4)'));
    // In two queries.
    pushes('x IN (1, 2, 3, 4)', inThrees('and'), full('x IN (1, 2) OR x IN (3, 4)'));
    pushes('y = 1 OR x IN (1, 2, 3, 4)', inThrees('and-xor-or'), full('y = 1 OR x IN (1, 2, 3) OR x IN (4)'));
    pushes(
      'y = 1 AND x NOT IN (1, 2, 3, 4)',
      inThrees('and-xor-or'),
      full('y = 1 AND x NOT IN (1, 2, 3) AND x NOT IN (4)'),
    );
    pushes('x IN (1, 2, 3)', provider({ '=': 'exact' }, { limits: { maxInSize: 2 } }), full('x = 1 OR x = 2 OR x = 3'));
    pushes('x IN (1, 2)', provider(EXACT, { limits: { maxInSize: 0 } }), full('x IN (1) OR x IN (2)'));
  });
});
