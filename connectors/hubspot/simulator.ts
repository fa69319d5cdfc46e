import {
  changesOf,
  createMovableClock,
  createOfficialJudges,
  createSearchIndex,
  type Deviation,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createAccountRoutes } from './simulator/account.ts';
import { print } from './simulator/faults.ts';
import { createRates } from './simulator/limits.ts';
import { createLogin } from './simulator/login.ts';
import { createObjectRoutes } from './simulator/objects.ts';
import { createRecords } from './simulator/records.ts';
import { createWebhooks } from './simulator/webhooks.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, DEMO_PRIVATE_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {};

export interface HubSpotSimulatorOptions extends SimulatorOptions {
  /** Maximum number of calls in ten seconds, of which a private app has 100. Default: no limit, so that tests need not wait. */
  readonly callsPerTenSeconds?: number;
  /** Maximum number of searches in a second. HubSpot allows 5. Default: no limit. */
  readonly searchesPerSecond?: number;
  /** The time until a search finds a change. Default 0. */
  readonly indexLagMs?: number;
  /** Whether negative filters match records without a value, which HubSpot does not document. Default true. */
  readonly matchesMissing?: boolean;
  /** The number of records behind which a search cannot page. Default 10,000. */
  readonly searchWindow?: number;
}

/** The reasons why HubSpot's description is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...['SimplePublicObject', 'SimplePublicObjectWithAssociations'].map(
    (schema): Deviation => ({
      schema,
      reason: 'Recorded responses have null for a requested property without a value; the description has texts only.',
      change: ({ properties, ...rest }) => ({
        ...rest,
        properties: { ...Object(properties), properties: { additionalProperties: { type: ['string', 'null'] } } },
      }),
    }),
  ),
  {
    schema: 'Error',
    reason: 'Errors have a status, those of rate limits a policy, and a recorded 404 has no category.',
    change: ({ properties, ...rest }) => ({
      ...{ ...rest, required: ['message', 'correlationId'] },
      properties: { ...Object(properties), status: { const: 'error' }, errorType: {}, policyName: { type: 'string' } },
    }),
  },
  {
    schema: 'PublicObjectSearchRequest',
    reason: 'The guide "Search the CRM" leaves out members, and writes sorts as objects.',
    change: ({ properties, ...rest }) => ({
      ...{ ...rest, required: [] },
      properties: { ...Object(properties), sorts: { type: 'array', items: { type: ['string', 'object'] } } },
    }),
  },
  {
    schema: 'SimplePublicObjectInputForCreate',
    reason: 'Recorded creations without associations succeed.',
    change: (schema) => ({ ...schema, required: ['properties'] }),
  },
  {
    operation: 'POST /oauth/v1/token',
    unjudged: ['errors'],
    reason: 'Token errors have a status such as BAD_REFRESH_TOKEN, and no category.',
  },
  {
    operation: 'GET /oauth/authorize',
    unjudged: ['query', 'response'],
    reason: 'The page for people is at another host, and in no description.',
  },
];

const createJudge = createOfficialJudges(official, DEVIATIONS);

/** Creates a simulator of one HubSpot account in memory. */
export function createSimulator(options: HubSpotSimulatorOptions): Simulator {
  const { memory, send, indexLagMs = 0 } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const webhooks = createWebhooks(send, clock.now);
  const index = createSearchIndex({ clock, lagMs: indexLagMs });
  const records = createRecords(clock, (name, change) => {
    index.note(name, change);
    webhooks.report(name, change);
  });
  return simulate(
    {
      ...{ clock, print, authenticate: login.authenticate, open: login.routes },
      official: createJudge(),
      budget: createRates(clock, options.callsPerTenSeconds),
      routes: {
        ...createObjectRoutes(records, { ...options, clock, indexed: index.rows }),
        ...createAccountRoutes(records),
      },
      commands: { ...login.commands, ...webhooks.commands, ...changesOf(records) },
    },
    options,
  );
}
