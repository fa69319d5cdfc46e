import { parentPort, workerData } from 'node:worker_threads';
import type { Slice, ThreadData } from '../messages.ts';
import { createEngine } from './engine.ts';

const { progress }: ThreadData = workerData;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const engine = createEngine({ cpuMs, report: (step) => void Atomics.store(progress, 0, step) });
parentPort?.on('message', async (slice: Slice) => parentPort?.postMessage(await engine.run(slice)));
