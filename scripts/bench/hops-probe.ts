/**
 * Loaded into the service by hops.ts. It reports which functions of the project ran since the last report, and how many of them were on the
 * stack when a request was passed to the network.
 */
import diagnostics from 'node:diagnostics_channel';
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';
import { serve } from '../event-load/channel.ts';

export interface Hops {
  /** The functions as `file function`, without anonymous ones. */
  readonly functions: readonly string[];
  readonly files: readonly string[];
  /**
   * Number of frames of the deepest request that was sent; 0 where none was. Awaited functions count; functions that only return a promise
   * don't show.
   */
  readonly frames: number;
}

const ROOT = new URL('../../', import.meta.url).href;
const OWN = /^(?:src|connectors)\//;
const MORE_FRAMES_THAN_THERE_ARE = 200;

if (isMainThread) await listen();

async function listen(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  Error.stackTraceLimit = MORE_FRAMES_THAN_THERE_ARE;
  let frames = 0;
  diagnostics.subscribe('undici:request:create', () => {
    const lines = new Error('the way here').stack?.split('\n') ?? [];
    frames = Math.max(frames, lines.filter((line) => OWN.test(pathOf(line))).length);
  });
  serve(async (): Promise<Hops> => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.flatMap(({ url, functions }) => {
      const path = url.startsWith(ROOT) ? url.slice(ROOT.length) : '';
      if (!OWN.test(path)) return [];
      // The function at offset 0 is the module itself.
      return functions.flatMap(({ functionName, ranges: [range] }) =>
        range !== undefined && range.count > 0 && range.startOffset > 0 ? [{ path, name: functionName }] : [],
      );
    });
    const deepest = frames;
    frames = 0;
    return {
      functions: [...new Set(called.filter(({ name }) => name !== '').map(({ path, name }) => `${path} ${name}`))],
      files: [...new Set(called.map(({ path }) => path))],
      frames: deepest,
    };
  });
}

function pathOf(line: string): string {
  const at = line.indexOf(ROOT);
  return at < 0 ? '' : line.slice(at + ROOT.length);
}
