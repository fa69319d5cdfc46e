import { hash } from 'node:crypto';
import type { Response } from 'express';

/** An answer that is the same for everybody, ready to be sent. */
export interface KeptAnswer {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** @param type the media type with its charset */
export function createKept(type: string, text: string, headers: Readonly<Record<string, string>> = {}): KeptAnswer {
  // With the headers: a browser that has the page keeps its old policy on a 304.
  const tag = hash('sha256', JSON.stringify([type, headers, text]), 'base64url');
  // To be kept by whoever asks, and asked for again each time: a new version is seen at once.
  const kept = { 'Content-Type': type, ETag: `"${tag}"`, 'Cache-Control': 'no-cache' };
  return { body: Buffer.from(text), headers: { ...headers, ...kept } };
}

/** Express answers 304 itself where the caller has it already. */
export function sendKept(response: Response, { body, headers }: KeptAnswer): void {
  response.set(headers).send(body);
}
