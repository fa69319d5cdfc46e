import type { Config } from '#connector';
import type { Clock } from '../src/clock.ts';
import { createByteBudget, createProviderClient } from '../src/connector/client/index.ts';
import { createEgress } from '../src/egress/index.ts';
import { composeResources, type MappedCalls } from '../src/resources/index.ts';
import { tokensIn } from './testing.ts';

interface Simulated {
  readonly config: Config;
  readonly simulatorsUrl: string;
  readonly clock: Clock;
  /** The clock by which requests are repeated. Default: `clock`. */
  readonly retryClock?: Clock;
}

/** Composes the normalized calls of the service for instances on a simulator, without its database and its API. */
export function createSimulatedResources(
  { config, simulatorsUrl, clock, retryClock = clock }: Simulated,
  mapped?: MappedCalls,
) {
  return composeResources(
    { clock, keys: { seal: (plain) => plain, open: (sealed) => sealed } },
    {
      client: createProviderClient({
        egress: createEgress({ allow: ['127.0.0.0/8'], simulatorsUrl, keepAliveMs: 1000 }),
        clock: retryClock,
        random: { fraction: () => 0 },
        report: () => undefined,
        simulatorsUrl,
      }),
      budget: createByteBudget(Number.POSITIVE_INFINITY),
      tokensOf: () => tokensIn(config),
      noteCredentials: async () => undefined,
    },
    mapped,
  );
}
