/**
 * Preloaded into the service by `npm run chaos:hostile`: measures how long the event loop was blocked, and how much memory is kept. It
 * costs one system call per turn of the loop. The service itself does not use it.
 */
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { serve } from '../../event-load/channel.ts';
import type { ProbeQuestion, Stretch } from './messages.ts';

const BYTES_PER_KB = 1024;
/** Value for /proc/self/clear_refs that resets the peak of memory to the current use (proc_pid_clear_refs(5)). */
const RESET_PEAK = '5';

const NANOSECONDS_PER_MS = 1_000_000;
/** Interval between samples in microseconds. It is short enough to show the parts of a stretch of about ten milliseconds. */
const SAMPLING_US = 200;

let longest: Stretch = { ms: 0, requests: 0 };
/** The longest stretch, in microseconds of the clock of profiles. */
let longestBetween = { beganAt: 0, endedAt: 0 };
let turnBeganAt = clock();
let turnBeganAtMs = cpuMs();
let requestsOfTurn = 0;
let starvedBeforeMs = 0;
let session: Session | undefined;

/** Returns the CPU time of this thread alone, without PostgreSQL, workers and other programs. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Ends the measurement of one turn of the loop. It does not keep the loop awake, so an idle loop waits for its next event as it would
 * without the probe.
 */
function endTurn(): void {
  const nowMs = cpuMs();
  if (nowMs - turnBeganAtMs > longest.ms) {
    longest = { ms: nowMs - turnBeganAtMs, requests: requestsOfTurn };
    longestBetween = { beganAt: turnBeganAt, endedAt: clock() };
  }
  beginTurn(nowMs);
  setImmediate(endTurn).unref();
}

function beginTurn(nowMs: number): void {
  turnBeganAtMs = nowMs;
  turnBeganAt = clock();
  requestsOfTurn = 0;
}

function clock(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Returns the memory after a full collection. It runs twice, because memory that finalizers release is free only afterwards. */
function keptBytes(): number {
  global.gc?.();
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  beginTurn(cpuMs());
  return heapUsed + external;
}

function peakRssBytes(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * BYTES_PER_KB;
}

/** Returns how long this thread could have run and did not, because others used the processors (sched-stats, field 2). */
function starvedMs(): number {
  const [, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ').map(Number);
  return (waited ?? 0) / NANOSECONDS_PER_MS;
}

async function startProfile(): Promise<void> {
  session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_US });
  await session.post('Profiler.start');
}

async function writeProfile(file: string): Promise<void> {
  if (session === undefined) return;
  const { profile } = await session.post('Profiler.stop');
  session.disconnect();
  session = undefined;
  await writeFile(file, JSON.stringify({ ...profile, longest: longestBetween }));
}

const ANSWERS: { readonly [Kind in ProbeQuestion['kind']]: (question: ProbeQuestion & { kind: Kind }) => unknown } = {
  begin: async ({ profiled }) => {
    if (profiled) await startProfile();
    writeFileSync('/proc/self/clear_refs', RESET_PEAK);
    longest = { ms: 0, requests: 0 };
    starvedBeforeMs = starvedMs();
    beginTurn(cpuMs());
  },
  end: async ({ profile }) => {
    const response = { longest, peakRssBytes: peakRssBytes(), starvedMs: starvedMs() - starvedBeforeMs };
    if (profile !== undefined) await writeProfile(profile);
    return response;
  },
  memory: () => keptBytes(),
};

subscribe('http.server.request.start', () => {
  requestsOfTurn++;
});
serve((question: ProbeQuestion) => {
  const answer: (question: never) => unknown = ANSWERS[question.kind];
  return answer(question as never);
});
endTurn();
