import { once } from 'node:events';
import express, { type Response } from 'express';
import { createPacer } from '../pace.ts';
import { isLarge, printPieces } from './json-printing.ts';

/** A caller that reads nothing for so long gets no more: what it was answered is kept for it in memory. */
const STALL_MS = 60_000;

/** `response.json` for answers of any size: a large one is printed and sent piece by piece, as fast as the caller takes it. */
export function sendJson(this: Response, body: unknown): Response {
  if (!isLarge(body)) return express.response.json.call(this, body);
  if (!this.get('Content-Type')) this.type('json');
  sendPieces(this, body).catch((error: unknown) => this.req.next?.(error));
  return this;
}

async function sendPieces(response: Response, body: unknown): Promise<void> {
  // Gone before its answer was there: no event would tell so any more.
  if (response.destroyed) return;
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  response.setTimeout(STALL_MS);
  const pacer = createPacer(ended.signal);
  try {
    for (const piece of printPieces(body)) {
      if (!response.write(piece)) await once(response, 'drain', { signal: ended.signal });
      if (pacer.isDue()) await pacer.pause();
    }
  } catch (error) {
    // The caller hung up: there is nobody left to tell.
    if (ended.signal.aborted) return;
    throw error;
  }
  response.end();
}
