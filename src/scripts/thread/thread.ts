import { parentPort, workerData } from 'node:worker_threads';
import type { ScriptThreadData, Slice } from '../messages.ts';
import { createEngine } from './engine.ts';

const { progress }: ScriptThreadData = workerData;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const engine = createEngine({ cpuMs, report: (step) => void Atomics.store(progress, 0, step) });
parentPort?.on('message', async (slice: Slice) => parentPort?.postMessage(await engine.run(slice)));
