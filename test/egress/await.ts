import { EgressError } from '../../src/egress/index.ts';
import { failureOf } from '../support/failures.ts';
import type { MisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';

/** The refusal of a call that must fail. */
export const refusalOf = (call: Promise<unknown>) => failureOf(call, EgressError);

/** No connection is open any more, on the server's side. */
export function closed(server: MisbehavingServer): Promise<void> {
  return until(() => server.openConnections() === 0);
}
