import type { Request, Response } from 'express';
import { AppError, type Budget } from '../errors.ts';
import { chooseAnswer } from '../resources/media.ts';
import type { ApiOperationId, FileAnswer, FileOperationId } from './handler.ts';

interface JsonAnswer {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number | undefined>>;
}

/** What a handler answered. */
export type Answer = JsonAnswer | FileAnswer;

export function sendAnswer(response: Response, answer: Answer): void {
  const isFile = 'file' in answer;
  // The validator checks a body by the content type of the answer, and without one by what the caller would take.
  if (!isFile) response.setHeader('Content-Type', 'application/json; charset=utf-8');
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    if (value !== undefined) response.setHeader(name, value);
  }
  if (isFile) response.send(answer.file);
  else response.json(answer.body);
}

/** draft-ietf-httpapi-ratelimit-headers-06 */
export function setBudget(response: Response, { limit, remaining, resetSeconds }: Budget): void {
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', remaining);
  response.setHeader('RateLimit-Reset', resetSeconds);
}

/** Their answers depend on the `Accept` header: they judge it themselves. */
const FILE_OPERATIONS: Readonly<Record<FileOperationId, true>> = { getRecord: true, getHubRecord: true };

export function answersFiles(id: ApiOperationId): boolean {
  return id in FILE_OPERATIONS;
}

/** @throws AppError NOT_ACCEPTABLE */
export function assertAcceptsJson(request: Request): void {
  if (chooseAnswer(request.headers.accept, []).kind === 'record') return;
  throw new AppError('NOT_ACCEPTABLE', 'Answers are JSON: send Accept: application/json.');
}
