import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { isErrnoException } from '../src/db/files.ts';

/**
 * Ports are sought below those that Linux (from 32,768), macOS and Windows (from 49,152) give to outgoing connections and to servers that
 * ask for any port. So none of these can take a port between the search and its use.
 */
const FIRST = 20_000;
const END = 32_000;
const ATTEMPTS = 100;

/**
 * Returns a port on 127.0.0.1 on which nothing listens, from `first` up to the last one before `end`.
 * @throws Error if there is none in 100 attempts
 */
export async function findFreePort(first = FIRST, end = END): Promise<number> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const port = randomInt(first, end);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port of 127.0.0.1 from ${first} to ${end - 1} was free in ${ATTEMPTS} attempts`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch (error) {
    if (isErrnoException(error, 'EADDRINUSE') || isErrnoException(error, 'EACCES')) return false;
    throw error;
  }
  probe.close();
  await once(probe, 'close');
  return true;
}
