/** Runs the model of the rights once more, with the effort that `CONFORMANCE=full` of `npm run test:all` asks for. */
import './rights-model.test.ts';
