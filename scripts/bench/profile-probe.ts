/** Loaded into the service by profile-by-room.ts. It takes a profile of the main thread between two questions. */
import { type Profiler, Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';
import { serve } from '../event-load/channel.ts';

/** The time that a function used itself, without the functions that it called. */
export interface SelfTime extends SourcePosition {
  readonly us: number;
  /**
   * The nearest function of the project or of a library that called a function of Node.js or of native code. Undefined for other functions.
   */
  readonly calledBy: SourcePosition | undefined;
}

export interface SourcePosition {
  readonly url: string;
  readonly name: string;
  readonly line: number;
}

const SAMPLE_EVERY_US = 200;

if (isMainThread) await listen();

async function listen(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
  serve(async (question: 'begin' | 'end') => {
    if (question === 'begin') await session.post('Profiler.start');
    else return selfTimes((await session.post('Profiler.stop')).profile);
  });
}

function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): readonly SelfTime[] {
  const usOf = new Map<number, number>();
  for (const [at, id] of samples.entries()) usOf.set(id, (usOf.get(id) ?? 0) + (timeDeltas[at] ?? 0));
  const parentOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node] as const)));

  function findCaller(node: Profiler.ProfileNode): SourcePosition | undefined {
    if (!isOfNode(node)) return undefined;
    let at: Profiler.ProfileNode | undefined = node;
    while (at !== undefined && isOfNode(at)) at = parentOf.get(at.id);
    return at && placeOf(at);
  }

  return nodes.flatMap((node) => {
    const us = usOf.get(node.id) ?? 0;
    return us > 0 ? [{ ...placeOf(node), us, calledBy: findCaller(node) }] : [];
  });
}

function isOfNode({ callFrame: { url } }: Profiler.ProfileNode): boolean {
  return url === '' || url.startsWith('node:');
}

function placeOf({ callFrame: { url, functionName: name, lineNumber } }: Profiler.ProfileNode): SourcePosition {
  return { url, name, line: lineNumber + 1 };
}
