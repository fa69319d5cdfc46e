import { serialize } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import type { OffloadModule } from '../contract.ts';
import { provideContract } from '../provide-contract.ts';
import type { ThreadData, ThreadMessage } from './index.ts';

const { module, text, maxResultBytes }: ThreadData = workerData;
provideContract();
const loaded: OffloadModule = await import(module);
const result = serialize(loaded.default(text));
const bytes = result.byteLength;
const message: ThreadMessage = bytes > maxResultBytes ? { kind: 'tooLarge', bytes } : { kind: 'done', result };
parentPort?.postMessage(message);
