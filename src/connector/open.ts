import { join } from 'node:path';
import type { Cleanup } from '../cleanup.ts';
import type { ServiceConfig } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import type { Logger } from '../log.ts';
import type { Connector } from './contract.ts';
import { createRegistry, loadConnectorMappings, loadConnectors, OWN_CONNECTORS, type Registry } from './registry.ts';
import { demoAccountsOf, type FindDemoAccount, SIMULATORS_HOST, startSimulators } from './simulators/index.ts';

/** Connectors that tests use instead of the installed ones. */
export interface GivenConnectors {
  /** Connectors that replace all others. */
  readonly connectors?: readonly Connector[] | undefined;
  /** The address of their simulators, where they run elsewhere. */
  readonly simulatorsUrl?: string | undefined;
}

/** The loaded connectors, and access to their simulators. */
interface OpenedConnectors {
  readonly registry: Registry;
  /** The folders that they were loaded from. */
  readonly folders: readonly string[];
  /** The content of each `mappings.json`, by the key of its connector. */
  readonly mappings: ReadonlyMap<string, unknown>;
  /** The address of the simulators, of this or another process, without a slash at the end. Undefined where there are none. */
  readonly simulatorsUrl: string | undefined;
  /** Finds the demo account of a simulator. A worker serves no API, so it finds none. */
  readonly findDemoAccount: FindDemoAccount;
  /** Lets the simulators send webhooks. The egress decides which addresses they reach. */
  readonly sendWebhooks: (ground: WebhookGround) => void;
}

/** The ports through which the simulators send webhooks. */
interface WebhookGround {
  readonly egress: Egress;
  readonly log: Logger;
}

const WEBHOOK_TIMEOUT_MS = 10_000;

/**
 * Loads the connectors and, unless this is a worker, serves their simulators. A process that serves none uses those of another process.
 * @throws ConnectorError; the errors of listening on a port
 */
export async function openConnectors(
  config: ServiceConfig,
  cleanup: Cleanup,
  given: GivenConnectors = {},
): Promise<OpenedConnectors> {
  const { role, dataDir, connectorsPath } = config;
  const folders = [OWN_CONNECTORS, ...connectorsPath];
  const sources = { folders, packages: config.connectors };
  const port = role === 'worker' ? undefined : config.simulatorsPort;
  const memoryFolder = join(dataDir, 'simulators');
  const [connectors, mappings, simulators] = await Promise.all([
    given.connectors ?? loadConnectors(sources),
    loadConnectorMappings(sources),
    port === undefined ? undefined : startSimulators({ port, url: config.simulatorsUrl, sources, memoryFolder }),
  ]);
  if (simulators !== undefined) cleanup.add('simulators', simulators.stop);
  const simulatorsUrl = given.simulatorsUrl ?? simulators?.url ?? simulatorsElsewhere(config);
  const sendWebhooks = ({ egress, log }: WebhookGround) =>
    simulators?.onWebhook(({ url, headers, body }) => {
      egress
        .request({ method: 'POST', url, headers, body, timeoutMs: WEBHOOK_TIMEOUT_MS })
        .catch((error: unknown) => log.warn({ err: error }, 'a simulator could not send a webhook'));
    });
  const showsThem = role !== 'worker' && config.simulatorsUrl !== undefined;
  const findDemoAccount = simulators?.findAccount ?? (showsThem ? demoAccountsOf(sources) : async () => undefined);
  const registry = createRegistry(connectors, config.providerHosts);
  return { registry, folders, mappings, simulatorsUrl, findDemoAccount, sendWebhooks };
}

/** A port that the system chose is known only to the process that listens. */
function simulatorsElsewhere({ simulatorsUrl, simulatorsPort = 0 }: ServiceConfig): string | undefined {
  return simulatorsUrl ?? (simulatorsPort === 0 ? undefined : `http://${SIMULATORS_HOST}:${simulatorsPort}`);
}
