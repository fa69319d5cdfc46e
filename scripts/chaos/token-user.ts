/** One user of tokens, as a process of the service is one: a database pool, a notifier, a client and tokens of its own. */

import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { type AccessTokens, createProviderClient } from '../../src/connector/client/index.ts';
import { openDatabase } from '../../src/db/database.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { createNotifier } from '../../src/db/notifier.ts';
import { createEgress } from '../../src/egress/index.ts';
import type { InstanceKey } from '../../src/instances/instance.ts';
import type { OAuthConnector } from '../../src/instances/oauth/fields.ts';
import { type RequestToken, sendTokenRequest, type TokenGrant } from '../../src/instances/oauth/token-endpoint.ts';
import type { TokenRecords } from '../../src/instances/oauth/tokens/refresh.ts';
import { createTokens, type TokenOptions } from '../../src/instances/oauth/tokens/tokens.ts';
import { createLogger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';

export interface TokenUserOptions extends TokenOptions {
  readonly databaseUrl: string;
  /** Of the strict authorization server. */
  readonly providerUrl: string;
  /** Shown to the authorization server as the id of the client. */
  readonly name: string;
  readonly encryptionKeys: string;
  readonly poolSize?: number;
}

export interface TokenUser {
  readonly knex: Knex;
  /** A call to the provider on behalf of an instance. @throws AppError */
  readonly call: (key: InstanceKey) => Promise<void>;
  readonly tokensOf: (key: InstanceKey) => AccessTokens;
  readonly connect: (key: InstanceKey, grant: TokenGrant) => Promise<void>;
  /** Since the start. */
  readonly counts: { queries: number; decryptions: number };
  readonly close: () => Promise<void>;
}

export async function startTokenUser(options: TokenUserOptions): Promise<TokenUser> {
  const { databaseUrl: url, providerUrl, name, poolSize = 4 } = options;
  const log = createLogger({ level: 'silent' });
  const database = openDatabase({ url, poolSize, log });
  const { knex } = database;
  const notifier = createNotifier({ url, knex, log });
  await notifier.start();
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const counts = { queries: 0, decryptions: 0 };
  knex.on('query', () => counts.queries++);
  const keyring = createKeyring(options.encryptionKeys);
  const client = createProviderClient({ egress, clock: SYSTEM_CLOCK, random: { fraction: Math.random } });
  const connector = createConnector(providerUrl);
  const config = Object.freeze({ 'oauth.api.key': name, 'oauth.api.secret': 'secret-of-the-chaos' });
  const ownerOf = ({ accountId, id }: InstanceKey) => ({
    accountId,
    id,
    connector,
    config,
    valid: true,
    settingsVersion: 1,
  });
  const counted = {
    ...keyring,
    decrypt: (ciphertext: string, context: string) => {
      counts.decryptions++;
      return keyring.decrypt(ciphertext, context);
    },
  };
  const records: TokenRecords = {
    get: async (accountId, id) => ownerOf({ accountId, id }),
    invalidate: async ({ accountId, id, reason }, via) => {
      // A second refusal of the same tokens breaks the primary key.
      await via.raw(
        'insert into refusal select instance_id, generation, ? from oauth_token where account_id = ? and instance_id = ?',
        [reason, accountId, id],
      );
    },
    restore: async () => {},
    adoptValues: async () => {},
  };
  const requestToken: RequestToken = (request, signal) =>
    sendTokenRequest({ egress, clock: SYSTEM_CLOCK }, request, signal);
  const platform = {
    knex,
    notifier,
    log,
    keyring: counted,
    metrics: createMetrics({ processMetrics: false }),
    clock: SYSTEM_CLOCK,
    random: { bytes: randomBytes, fraction: Math.random },
  };
  const tokens = createTokens(platform, { records, requestToken }, options);

  const tokensOf = (key: InstanceKey): AccessTokens => {
    const found = tokens.of(ownerOf(key));
    if (found === undefined) throw new Error('The connector has no OAuth');
    return found;
  };
  return {
    knex,
    tokensOf,
    call: async (key) => {
      const signal = new AbortController().signal;
      await client.send({ connector, config, tokens: tokensOf(key), signal }, connector.probe);
    },
    connect: (key, grant) => knex.transaction((via) => tokens.store(via, ownerOf(key), grant)),
    counts,
    close: async () => {
      await tokens.close(30_000);
      await notifier.close();
      await egress.close();
      await database.close();
    },
  };
}

function createConnector(providerUrl: string): OAuthConnector {
  return {
    key: 'strict',
    id: 1,
    name: 'Strict',
    description: 'A provider with strict tokens',
    hub: 'general',
    auth: { type: 'oauth2', tokenUrl: () => `${providerUrl}/token` },
    configuration: [],
    baseUrl: () => providerUrl,
    hosts: [new URL(providerUrl).host],
    objects: {},
    probe: { path: '/api/me' },
  };
}
