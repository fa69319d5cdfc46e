/** Runs random formulas once more, with the effort that `CONFORMANCE=full` of `npm run test:slow` asks for. */
import './model.test.ts';
