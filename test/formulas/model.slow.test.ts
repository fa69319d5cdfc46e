/** Runs random formulas once more, many of them. */
process.env.FORMULA_RUNS ??= process.env.CONFORMANCE === 'full' ? '1000' : '150';
await import('./model.test.ts');
