import fc from 'fast-check';
import { useDatabase } from '../support/database.ts';
import { expectAsModel } from './against-model.ts';
import { arbitraryFormula } from './arbitrary-formulas.ts';
import { useFormulaBench } from './bench.ts';

const { FORMULA_RUNS, CONFORMANCE } = process.env;
const RUNS_AT: Readonly<Record<string, number>> = { full: 300, thorough: 100 };
const RUNS = Number(FORMULA_RUNS ?? RUNS_AT[CONFORMANCE ?? ''] ?? 12);

describe('executions of random formulas', function model() {
  this.timeout(1_200_000);
  const bench = useFormulaBench(useDatabase());

  it('take the path of the model, with its values', async () => {
    bench.startWorker();
    await fc.assert(
      fc.asyncProperty(arbitraryFormula, (formula) => expectAsModel(bench, formula)),
      // Each smaller formula is run on a database too.
      { numRuns: RUNS, endOnFailure: FORMULA_RUNS === undefined },
    );
  });
});
