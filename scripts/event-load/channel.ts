/** Both ends of the channel between a script and a process that it has started: questions, and their responses by number. */
import type { ChildProcess } from 'node:child_process';

interface Asked<Question> {
  readonly id: number;
  readonly question: Question;
}

/** A response. `failure` is the text of an error. */
interface Response {
  readonly id: number;
  readonly value?: unknown;
  readonly failure?: string;
}

/** Sends a message to the starter of this process, if that still runs. */
export function tell(message: object): void {
  if (process.connected) process.send?.(message);
}

/** Responds to the questions of the starter of this process. */
export function serve<Question>(respond: (question: Question) => Promise<unknown> | unknown): void {
  process.on('message', async ({ id, question }: Asked<Question>) => {
    try {
      tell({ id, value: await respond(question) } satisfies Response);
    } catch (error) {
      tell({ id, failure: String(Object(error).stack ?? error) } satisfies Response);
    }
  });
}

/** Sends a question to a process. Rejects if it fails there, if the process ends, or if the response takes too long. */
export type Ask<Question> = <Answer>(question: Question, timeoutMs?: number) => Promise<Answer>;

export function createAsk<Question>(child: ChildProcess): Ask<Question> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  child.on('message', ({ id, value, failure }: Response) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (failure === undefined) asked?.resolve(value);
    else asked?.reject(new Error(failure));
  });
  child.once('exit', (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`The process ended (${signal ?? code})`));
    waiting.clear();
  });

  return async <Answer>(question: Question, timeoutMs?: number) => {
    if (!child.connected) throw new Error('The process has ended');
    const id = ++lastId;
    const asked = Promise.withResolvers<unknown>();
    waiting.set(id, asked);
    child.send({ id, question } satisfies Asked<Question>);
    const late =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => asked.reject(new Error(`The process did not respond within ${timeoutMs} ms`)), timeoutMs);
    return (await asked.promise.finally(() => clearTimeout(late))) as Answer;
  };
}
