import { defineConnector } from '#connector';
import impatient from '../impatient/index.ts';

/** For tests of large answers, which take their time on a busy machine. */
export default defineConnector({ ...impatient, key: 'patient', id: 990003, name: 'Patient', timeoutMs: 30_000 });
