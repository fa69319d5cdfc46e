import { once } from 'node:events';
import { EgressError } from '../../src/egress/index.ts';
import type { MisbehavingServer } from '../support/misbehaving-server.ts';

/** The failure of a call that must fail. */
export async function catchError(call: Promise<unknown>): Promise<EgressError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof EgressError) return error;
    throw error;
  }
  throw new Error('The call succeeded, though it must not');
}

/** No connection is open any more, on the server's side. */
export function closed(server: MisbehavingServer): Promise<void> {
  return until(() => server.openConnections() === 0);
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await once(AbortSignal.timeout(5), 'abort');
}
