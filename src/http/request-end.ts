import type { ServerResponse } from 'node:http';
import { createWorkSignal, type WorkSignal } from '../abort.ts';
import { AppError } from '../errors.ts';
import { goOnInTurn } from '../pace.ts';

const HUNG_UP = new AppError('INTERNAL', 'The caller hung up.');
const RESPONDED = new AppError('INTERNAL', 'The caller was answered.');

/**
 * Aborts when the caller is gone before the response is, and when the response is sent: what was held for it can go. After a success, only
 * what listens for an abort hears of it.
 */
export function signalEnd(response: ServerResponse): AbortSignal {
  const work = createWorkSignal();
  // The connection has ended already, so no event will report it.
  if (response.destroyed) work.abort(HUNG_UP);
  else
    response.on('close', () => {
      if (!response.writableFinished) void abortInTurn(work);
      else if (response.statusCode < 400) work.end(RESPONDED);
      else work.abort(RESPONDED);
    });
  return work.signal;
}

/** Hundreds hang up in one moment when what is between them and here breaks. */
async function abortInTurn(work: WorkSignal): Promise<void> {
  await goOnInTurn();
  work.abort(HUNG_UP);
}

/** Between two steps of work for a caller. @throws what `isHangUp` knows */
export function assertThere(response: ServerResponse): void {
  if (response.destroyed) throw HUNG_UP;
}

/** Returns whether work was aborted because the caller closed the connection. Nothing failed then, and there is nobody to report to. */
export function isHangUp(thrown: unknown): boolean {
  return thrown === HUNG_UP;
}
