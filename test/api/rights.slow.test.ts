/** Runs both proofs of the rights once more, with the effort that `CONFORMANCE=full` of `npm run test:all` asks for. */
import './access-matrix.test.ts';
import './rights-model.test.ts';
