import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../src/where/ast.ts';
import { checkFilter } from '../../src/where/check.ts';
import type { Checked } from '../../src/where/condition.ts';
import { compileCondition } from '../../src/where/evaluate.ts';
import { normalise } from '../../src/where/normalise.ts';
import { print } from '../../src/where/print.ts';
import { RECORD_FIELDS, RECORDS, recordFilters } from './records.ts';
import { evaluate } from './reference.ts';

function checked(filter: Filter): Checked {
  const { condition } = checkFilter(filter, { fields: RECORD_FIELDS });
  if (condition === undefined) throw new Error(`'${print(filter)}' has no condition.`);
  return condition;
}

/** Holds for all random filters; the rows come along as the reference sees them. */
function holds(law: (filter: Filter, tree: Checked) => void): void {
  fc.assert(
    fc.property(recordFilters, (filter) => {
      law(filter, checked(filter));
    }),
    { seed: 8, numRuns: 600 },
  );
}

const negated = (operand: Checked): Checked => ({ kind: 'not', operand });
const rowsOf = (tree: Checked) => RECORDS.filter(compileCondition(normalise(tree)));

describe('the laws of the language', () => {
  it('normalising keeps exactly the rows for which a filter is true', () => {
    holds((filter, tree) => {
      const meant = RECORDS.filter((row) => evaluate(tree, row) === true);
      expect(rowsOf(tree), print(filter)).to.deep.equal(meant);
    });
  });

  it('p, NOT p and "p is unknown" share out all rows', () => {
    let unknowns = 0;
    holds((filter, tree) => {
      const yes = new Set(rowsOf(tree));
      const no = new Set(rowsOf(negated(tree)));
      const neither = new Set(RECORDS.filter((row) => evaluate(tree, row) === undefined));
      unknowns += neither.size;
      const homes = RECORDS.map((row) => [yes, no, neither].filter((set) => set.has(row)).length);
      expect(new Set(homes), print(filter)).to.deep.equal(new Set([1]));
    });
    expect(unknowns).to.be.greaterThan(1000);
  });

  it('NOT NOT p is p', () => {
    holds((filter, tree) => expect(rowsOf(negated(negated(tree))), print(filter)).to.deep.equal(rowsOf(tree)));
  });

  it('normalising the printed normal form changes nothing', () => {
    holds((_, tree) => {
      const normal = normalise(tree);
      expect(print(normalise(normal))).to.equal(print(normal));
    });
  });

  it('De Morgan holds', () => {
    fc.assert(
      fc.property(recordFilters, recordFilters, (a, b) => {
        const [p, q] = [checked(a), checked(b)];
        const notBoth = negated({ kind: 'and', operands: [p, q] });
        const eitherNot: Checked = { kind: 'or', operands: [negated(p), negated(q)] };
        expect(rowsOf(notBoth)).to.deep.equal(rowsOf(eitherNot));
      }),
      { seed: 9, numRuns: 300 },
    );
  });
});
