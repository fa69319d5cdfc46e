/** Figures, CPU time, the machine and limits, which measurements share. */
import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';

const CLOCK_TICKS_PER_SECOND = 100;
/** Places of `utime` and `stime` in `/proc/<pid>/stat` after the name, and of the same times of children that ended (proc(5)). */
const OWN_TIMES = [11, 12] as const;
const TIMES_WITH_ENDED_CHILDREN = [...OWN_TIMES, 13, 14] as const;

/** Returns the value that a share of all values does not exceed. NaN without values. */
export function quantile(values: readonly number[], share: number): number {
  return Float64Array.from(values).sort()[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** Reads options of the command line that are numbers. The given ones are their defaults. */
export function readNumbers<Name extends string>(defaults: Readonly<Record<Name, number>>): Record<Name, number> {
  const texts = Object.entries<number>(defaults).map(([name, value]) => [
    name,
    { type: 'string', default: `${value}` },
  ]);
  const { values } = parseArgs({ options: Object.fromEntries(texts) });
  return Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)])) as Record<Name, number>;
}

/** Ends this process with exit code 1 if it still runs after a time. */
export function limitTo(ms: number): void {
  const end = () => {
    console.error(`Not done within ${ms / 1000} s`);
    process.exit(1);
  };
  setTimeout(end, ms).unref();
}

/** Describes the machine and the other load on it. */
export function describeMachine() {
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model}`,
    node: process.version,
    load: loadavg().map((load) => round(load, 1)),
  };
}

/** Returns the user and system time of processes and their threads, in milliseconds. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + timesOf(pid, OWN_TIMES), 0);
}

/** Returns the user and system time of a process and its children, including those that ended, in milliseconds. */
export function cpuMsWithChildren(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return timesOf(pid, TIMES_WITH_ENDED_CHILDREN) + cpuMsOf(children.map(Number));
}

function timesOf(pid: number, places: readonly number[]): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
    return (places.reduce((sum, place) => sum + Number(fields[place]), 0) * 1000) / CLOCK_TICKS_PER_SECOND;
  } catch {
    // The process has ended meanwhile, and its parent includes its time.
    return 0;
  }
}
