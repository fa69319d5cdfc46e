/** Runs random formulas once more, with the effort that `CONFORMANCE` of `npm run test:slow` asks for. */
import './model.test.ts';
