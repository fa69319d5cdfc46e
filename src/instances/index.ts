import type { Accounts } from '../accounts/accounts.ts';
import type { ProviderClient } from '../connector/client/index.ts';
import { logProviderCalls } from '../connector/client/reporting.ts';
import type { Registry } from '../connector/registry.ts';
import type { FindSource } from '../events/model.ts';
import type { Notifications } from '../events/notifications/notifications.ts';
import type { Platform } from '../platform.ts';
import { createAuthenticate } from './authenticate.ts';
import { createFindWebhookInstance, createSources, type FindWebhookInstance } from './event-sources.ts';
import { createInstanceCodec } from './instance-codec.ts';
import { createInstances, type InstanceNeighbours, type Instances } from './instances.ts';
import { type Authorizations, createAuthorizations } from './oauth/authorizations.ts';
import { createProxies, type Proxies } from './oauth/proxies/proxies.ts';
import { type RequestToken, sendTokenRequest, type TokenEndpointPorts } from './oauth/token-endpoint.ts';
import { createTokens, type Tokens } from './oauth/tokens/tokens.ts';
import { createInstanceRecords } from './records.ts';
import { createInstanceStore } from './store.ts';

export interface InstanceRoomNeighbours {
  readonly client: ProviderClient;
  readonly registry: Registry;
  /** The address of the service, without a slash at the end. It is known when the service listens. */
  readonly publicUrl: () => string;
  /** Base URL of the simulators; undefined if they don't run. */
  readonly simulatorsUrl: string | undefined;
  readonly notifications: Pick<Notifications, 'prepare'>;
  readonly accounts: Accounts;
  readonly assertActive: InstanceNeighbours['assertActive'];
  readonly ensureSubscription: InstanceNeighbours['ensureSubscription'];
  readonly shortestPollMs: number;
  readonly ownUrls: InstanceNeighbours['ownUrls'];
  readonly noteRegistration: InstanceNeighbours['noteRegistration'];
  readonly noteRemoved: InstanceNeighbours['noteRemoved'];
  readonly noteCreated: InstanceNeighbours['noteCreated'];
  readonly mappings: InstanceNeighbours['mappings'];
}

export interface InstanceRoom {
  readonly instances: Instances;
  readonly proxies: Proxies;
  readonly authorizations: Authorizations;
  readonly tokens: Tokens;
  readonly findSource: FindSource;
  readonly findWebhookInstance: FindWebhookInstance;
  /** Maintenance jobs that run on a schedule, for all accounts. */
  readonly maintenance: {
    readonly purgeProxyTargets: Proxies['purgeTargets'];
    readonly purgeAuthorizations: Authorizations['purge'];
    readonly refreshTokens: Tokens['refreshDue'];
  };
}

/** Creates the instances: first their records, then their tokens, then the service that verifies new settings with providers. */
export function composeInstances(platform: Platform, neighbours: InstanceRoomNeighbours): InstanceRoom {
  const { client, registry, publicUrl, simulatorsUrl, notifications, accounts } = neighbours;
  const { assertActive, ensureSubscription, shortestPollMs, ownUrls, mappings } = neighbours;
  const { noteRegistration, noteRemoved, noteCreated } = neighbours;
  const { egress, clock, log } = platform;
  const store = createInstanceStore(platform.knex);
  const codec = createInstanceCodec(platform, registry);
  const records = createInstanceRecords(platform, { store, codec, notifications });
  const endpoint: TokenEndpointPorts = { egress, clock, simulatorsUrl, report: logProviderCalls(log) };
  const requestToken: RequestToken = (request, signal) => sendTokenRequest(endpoint, request, signal);
  const tokens = createTokens(platform, { records, requestToken });
  const proxies = createProxies(platform, publicUrl);
  const authorizations = createAuthorizations(platform, { assertActive, proxies, simulatorsUrl });
  const authenticate = createAuthenticate({ client, tokens, proxies, authorizations, simulatorsUrl, requestToken });
  const instances = createInstances(platform, {
    registry,
    store,
    codec,
    records,
    authenticate,
    assertActive,
    ensureSubscription,
    shortestPollMs,
    ownUrls,
    noteRegistration,
    noteRemoved,
    noteCreated,
    mappings,
  });
  const findSource = createSources(platform, { records, accounts });
  const findWebhookInstance = createFindWebhookInstance({ records });
  const maintenance = {
    purgeProxyTargets: proxies.purgeTargets,
    purgeAuthorizations: authorizations.purge,
    refreshTokens: tokens.refreshDue,
  };
  return { instances, proxies, authorizations, tokens, findSource, findWebhookInstance, maintenance };
}
