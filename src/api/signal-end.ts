import type { Response } from 'express';
import { AppError } from '../errors.ts';

const HUNG_UP = new AppError('INTERNAL', 'The caller hung up.');
const ANSWERED = new AppError('INTERNAL', 'The caller was answered.');

/** Aborts when the caller is gone before the answer is, and when the answer is sent: what was held for it can go. */
export function signalEnd(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort(response.writableFinished ? ANSWERED : HUNG_UP));
  return controller.signal;
}
