import type { ServerResponse } from 'node:http';
import { AppError } from '../errors.ts';
import { goOnInTurn } from '../pace.ts';

const HUNG_UP = new AppError('INTERNAL', 'The caller hung up.');
const RESPONDED = new AppError('INTERNAL', 'The request has ended.');

/** Returns a signal that aborts when the response is sent, or the caller closes the connection before. Then held memory can be released. */
export function signalEnd(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  // The connection has ended already, so no event will report it.
  if (response.destroyed) controller.abort(HUNG_UP);
  else
    response.on('close', () => {
      if (response.writableFinished) controller.abort(RESPONDED);
      else void abortInTurn(controller);
    });
  return controller.signal;
}

/** Hundreds hang up in one moment when what is between them and here breaks. */
async function abortInTurn(controller: AbortController): Promise<void> {
  await goOnInTurn();
  controller.abort(HUNG_UP);
}

/**
 * Asserts, between two steps of work, that the caller is still connected.
 * @throws the error that `isHangUp` recognizes
 */
export function assertThere(response: ServerResponse): void {
  if (response.destroyed) throw HUNG_UP;
}

/** Returns whether work was aborted because the caller closed the connection. Nothing failed then, and there is nobody to report to. */
export function isHangUp(thrown: unknown): boolean {
  return thrown === HUNG_UP;
}
