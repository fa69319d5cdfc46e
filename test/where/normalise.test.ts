import { expect } from 'chai';
import { print } from '../../src/where/print.ts';
import { conditionOf } from './people.ts';

/** Filters as written and in their normal form. */
const NORMAL_FORMS = {
  'folds NOT into predicates': [
    ['NOT count = 1', 'count != 1'],
    ['NOT count != 1', 'count = 1'],
    ['NOT count < 1', 'count >= 1'],
    ['NOT count <= 1', 'count > 1'],
    ['NOT count > 1', 'count <= 1'],
    ['NOT count >= 1', 'count < 1'],
    ['NOT count IN (1, 2)', 'count NOT IN (1, 2)'],
    ['NOT count NOT IN (1, 2)', 'count IN (1, 2)'],
    ["NOT name LIKE 'a%'", "name NOT LIKE 'a%'"],
    ["NOT name NOT LIKE 'a%'", "name LIKE 'a%'"],
    ['NOT name IS NULL', 'name IS NOT NULL'],
    ['NOT name IS NOT NULL', 'name IS NULL'],
    ['NOT NOT count = 1', 'count = 1'],
    ['NOT NOT NOT count = 1', 'count != 1'],
  ],
  'turns groups under NOT round, after De Morgan': [
    ["NOT (count = 1 AND name = 'a')", "count != 1 OR name != 'a'"],
    ["NOT (count = 1 OR name = 'a')", "count != 1 AND name != 'a'"],
    ["NOT (count = 1 AND NOT (name = 'a' OR price > 5))", "count != 1 OR name = 'a' OR price > 5"],
  ],
  'takes BETWEEN as two bounds': [
    ['count BETWEEN 1 AND 5', 'count >= 1 AND count <= 5'],
    ['count NOT BETWEEN 1 AND 5', 'count < 1 OR count > 5'],
    ['NOT count BETWEEN 1 AND 5', 'count < 1 OR count > 5'],
    ['NOT count NOT BETWEEN 1 AND 5', 'count >= 1 AND count <= 5'],
    ['count BETWEEN 5 AND 1', 'count >= 5 AND count <= 1'],
  ],
  'flattens groups in groups of their kind': [
    [
      "count = 1 AND (name = 'a' AND (price > 5 AND active = TRUE))",
      "count = 1 AND name = 'a' AND price > 5 AND active = TRUE",
    ],
    ["count = 1 OR (name = 'a' OR price > 5)", "count = 1 OR name = 'a' OR price > 5"],
    ["count = 1 AND (name = 'a' OR price > 5)", "count = 1 AND (name = 'a' OR price > 5)"],
  ],
  'drops doubles, however they are spelled': [
    ['count = 1 AND count = 1.0', 'count = 1'],
    ["count = 1 OR count = '1'", 'count = 1'],
    ['created > 2026-01-31 AND created > 2026-01-31T01:00:00+01:00', 'created > 2026-01-31T00:00:00Z'],
    ["(count > 1 OR name = 'a') AND (count > 1 OR name = 'a')", "count > 1 OR name = 'a'"],
    ['NOT count < 5 AND count >= 5', 'count >= 5'],
    ["name = 'a' AND name = 'A'", "name = 'a' AND name = 'A'"],
  ],
  'gathers equalities of a field': [
    ['count = 1 OR count = 2', 'count IN (1, 2)'],
    ["count = 1 OR name = 'a' OR count IN (3, 2) OR count = 1", "count IN (1, 3, 2) OR name = 'a'"],
    ['count != 1 AND count != 2', 'count NOT IN (1, 2)'],
    ['count NOT IN (1, 2) AND count != 3', 'count NOT IN (1, 2, 3)'],
    ['NOT (count = 1 OR count = 2)', 'count NOT IN (1, 2)'],
    ['count = 1 AND count = 2', 'count = 1 AND count = 2'],
    ['count != 1 OR count != 2', 'count != 1 OR count != 2'],
    ["name = 'a' OR title = 'a'", "name = 'a' OR title = 'a'"],
  ],
  'makes an equality of a list of one': [
    ['count IN (1)', 'count = 1'],
    ['count NOT IN (1)', 'count != 1'],
    ["count IN (1, 1.0, '1')", 'count = 1'],
    ['active IN (TRUE, FALSE, TRUE)', 'active IN (TRUE, FALSE)'],
    ["title IN ('a', 'A')", "title IN ('a', 'A')"],
  ],
  'says values in canonical spelling': [
    ['price = 1e3', 'price = 1000'],
    ['price = -0.00', 'price = 0'],
    ['created = 2026-01-31T08:30:00.500+02:00', 'created = 2026-01-31T06:30:00.5Z'],
    ["active = 'true'", 'active = TRUE'],
    ["born = '2026-01-31'", 'born = 2026-01-31'],
    ["name LIKE 'a%%b'", "name LIKE 'a%b'"],
    ["name LIKE 'a\\b\\%'", "name LIKE 'ab\\%'"],
  ],
} as const;

describe('normalising', () => {
  for (const [law, examples] of Object.entries(NORMAL_FORMS)) {
    describe(law, () => {
      for (const [written, normal] of examples) {
        it(`${written} → ${normal}`, () => {
          expect(print(conditionOf(written))).to.equal(normal);
        });
      }
    });
  }

  it('changes nothing the second time', () => {
    for (const [, normal] of Object.values(NORMAL_FORMS).flat()) expect(print(conditionOf(normal))).to.equal(normal);
  });

  it('keeps the place of the first of the equalities that it gathers', () => {
    const condition = conditionOf("name = 'a' OR count = 1 OR count = 2");
    const places = condition.kind === 'or' && condition.operands.map((operand) => 'loc' in operand && operand.loc);
    expect(places).to.deep.equal([
      { offset: 0, length: 10 },
      { offset: 14, length: 9 },
    ]);
  });
});
