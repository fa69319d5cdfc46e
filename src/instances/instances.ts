import type { Knex } from 'knex';
import type { ProviderClient } from '../connector/client/index.ts';
import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import type { Keyring } from '../db/keyring.ts';
import type { Notifier } from '../db/notifier.ts';
import type { PlatformKeys } from '../db/platform-keys.ts';
import { AppError } from '../errors.ts';
import type { Redactor } from '../log.ts';
import { prepareSql } from '../where/index.ts';
import { resolveConfiguration, splitSecrets, unmasked } from './configuration.ts';
import { FILTERABLE_INSTANCE } from './filter.ts';
import { assertStorable, isStorable } from './storable.ts';
import { createInstanceStore, type InstanceFilter, type InstanceRow } from './store.ts';
import { createTokenCache } from './token-cache.ts';
import { verifyCredentials } from './verify.ts';

/** An instance with its secrets in clear. Never leaves the process as it is. */
export interface Instance {
  readonly accountId: number;
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly connector: Connector;
  readonly config: Config;
  readonly token: string;
  readonly providerData: Readonly<Record<string, unknown>>;
  readonly valid: boolean;
  readonly invalidReason: string | null;
  readonly disabled: boolean;
  readonly createdAt: Date;
  /** Changes with every change of the instance. */
  readonly version: string;
}

export interface InstancePorts {
  readonly knex: Knex;
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly platformKeys: Pick<PlatformKeys, 'lookupHash'>;
  readonly notifier: Pick<Notifier, 'publish' | 'subscribe' | 'onGap'>;
  readonly registry: Registry;
  readonly client: ProviderClient;
  readonly redactor: Redactor;
  /** Cryptographically random bytes. */
  readonly random: (bytes: number) => Buffer;
}

export interface NewInstance {
  readonly element: string;
  readonly name: string;
  readonly tags?: readonly string[] | undefined;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly providerData?: { readonly code: string } | undefined;
}

export type InstanceUpdate = Partial<Omit<NewInstance, 'element'>>;

/** What to list; `where` is a filter in the query language over `FILTERABLE_INSTANCE`. */
export type InstanceQuery = Omit<InstanceFilter, 'condition'> & { readonly where?: string | undefined };

export interface InstancePage {
  readonly instances: readonly Instance[];
  /** The id to go on from; absent at the end. */
  readonly nextAfterId?: number;
}

interface Owner {
  readonly accountId: number;
  readonly userId: number;
}

export interface Instances {
  /** Verifies the credentials with the provider first. @throws AppError; then nothing is stored */
  readonly create: (owner: Owner, input: NewInstance, signal: AbortSignal) => Promise<Instance>;
  /** @throws AppError NOT_FOUND */
  readonly get: (accountId: number, id: number) => Promise<Instance>;
  /** Without `limit`: all of them. */
  readonly list: (accountId: number, query: InstanceQuery) => Promise<InstancePage>;
  /** From memory when it was asked for before and nothing changed. */
  readonly findByToken: (accountId: number, token: string) => Promise<Instance | undefined>;
  /** New credentials are verified first; id and token stay. */
  readonly update: (accountId: number, id: number, changes: InstanceUpdate, signal: AbortSignal) => Promise<Instance>;
  /** What is not given is emptied; masked secrets stay. */
  readonly replace: (
    accountId: number,
    id: number,
    input: Omit<NewInstance, 'element'>,
    signal: AbortSignal,
  ) => Promise<Instance>;
  readonly setDisabled: (accountId: number, id: number, disabled: boolean) => Promise<Instance>;
  readonly remove: (accountId: number, id: number) => Promise<void>;
  /** What the last call said of the credentials; stored when it changes `valid`. */
  readonly noteCredentials: (
    instance: Pick<Instance, 'accountId' | 'id'>,
    verdict: 'accepted' | 'refused',
  ) => Promise<void>;
}

const TOKEN_BYTES = 32;

export function createInstances(ports: InstancePorts): Instances {
  const { keyring, platformKeys, notifier, registry, client, redactor } = ports;
  const store = createInstanceStore(ports.knex);
  const cache = createTokenCache(notifier, async (accountId, token, kept) => {
    const row = await store.findByTokenHash(accountId, platformKeys.lookupHash(token));
    if (row === undefined) return undefined;
    // The same row stays the same object: what is derived from it (headers, metadata, plans) is kept with it.
    return kept?.version === row.version ? kept : decode(row);
  });

  function decode(row: InstanceRow): Instance {
    const { accountId, id, elementKey, credentials, token, ...rest } = row;
    const secrets: Config = JSON.parse(keyring.decrypt(credentials, contextOf(accountId, id, 'credentials')));
    const plainToken = keyring.decrypt(token, contextOf(accountId, id, 'token'));
    redactor.add(plainToken);
    const config = Object.freeze({ ...rest.configuration, ...secrets });
    return Object.freeze({
      ...rest,
      accountId,
      id,
      connector: registry.getConnector(elementKey),
      config,
      token: plainToken,
    });
  }

  function encrypted(connector: Connector, config: Config, accountId: number, id: number) {
    const { plain, secret } = splitSecrets(connector, config);
    const credentials = keyring.encrypt(JSON.stringify(secret), contextOf(accountId, id, 'credentials'));
    return { configuration: plain, credentials };
  }

  async function get(accountId: number, id: number): Promise<Instance> {
    const row = await store.find(accountId, id);
    if (row === undefined) throw notFound(id);
    return decode(row);
  }

  /** With `version`: only if nobody changed the instance since. */
  async function settle(
    accountId: number,
    id: number,
    changes: Parameters<typeof store.update>[2],
    version?: string,
  ): Promise<Instance> {
    const row = await store.update(accountId, id, changes, version);
    if (row !== undefined) {
      await cache.changed(accountId, id);
      return decode(row);
    }
    if (version === undefined || (await store.find(accountId, id)) === undefined) throw notFound(id);
    throw new AppError('CONFLICT', `Instance ${id} was changed at the same time. Read it again and repeat the change.`);
  }

  /** New settings become part of the changes only after the provider took them. */
  async function reauthenticate(instance: Instance, config: Config, signal: AbortSignal) {
    const { connector, accountId, id } = instance;
    await verifyCredentials(client, { connector, config, signal });
    return { ...encrypted(connector, config, accountId, id), valid: true, invalidReason: null };
  }

  return {
    create: async ({ accountId, userId }, input, signal) => {
      const connector = registry.getConnector(input.element);
      assertNoCode(connector, input);
      assertStorable(input);
      const config = resolveConfiguration(connector, input.configuration);
      await verifyCredentials(client, { connector, config, signal });
      const id = await store.nextId();
      const token = ports.random(TOKEN_BYTES).toString('base64url');
      const row = await store.insert({
        accountId,
        id,
        userId,
        name: input.name.trim(),
        elementKey: connector.key,
        tags: trimmed(input.tags),
        ...encrypted(connector, config, accountId, id),
        token: keyring.encrypt(token, contextOf(accountId, id, 'token')),
        tokenHash: platformKeys.lookupHash(token),
        providerData: {},
      });
      return decode(row);
    },

    get,

    list: async (accountId, { where, ...filter }) => {
      const { limit, searchText = '', tags = [] } = filter;
      const condition = where === undefined ? undefined : prepareSql(where, FILTERABLE_INSTANCE);
      // What no instance can hold would be an error to PostgreSQL.
      if (![searchText, ...tags].every(isStorable)) return { instances: [] };
      const oneMore = limit === undefined ? undefined : limit + 1;
      const rows = await store.list(accountId, { ...filter, condition, limit: oneMore });
      const instances = rows.slice(0, limit).map(decode);
      const last = instances.at(-1);
      return { instances, ...(rows.length > instances.length && last && { nextAfterId: last.id }) };
    },

    findByToken: cache.find,

    update: async (accountId, id, changes, signal) => {
      const instance = await get(accountId, id);
      assertNoCode(instance.connector, changes);
      assertStorable(changes);
      const { configuration } = changes;
      const settings =
        configuration === undefined
          ? {}
          : await reauthenticate(
              instance,
              resolveConfiguration(instance.connector, configuration, instance.config),
              signal,
            );
      const change = {
        ...settings,
        ...(changes.name !== undefined && { name: changes.name.trim() }),
        ...(changes.tags !== undefined && { tags: trimmed(changes.tags) }),
      };
      // A configuration is merged into the one that was read, so it must still be that one.
      return settle(accountId, id, change, configuration === undefined ? undefined : instance.version);
    },

    replace: async (accountId, id, input, signal) => {
      const instance = await get(accountId, id);
      assertNoCode(instance.connector, input);
      assertStorable(input);
      const config = resolveConfiguration(instance.connector, unmasked(input.configuration, instance.config));
      const settings = await reauthenticate(instance, config, signal);
      const change = { ...settings, name: input.name.trim(), tags: trimmed(input.tags) };
      return settle(accountId, id, change, instance.version);
    },

    setDisabled: (accountId, id, disabled) => settle(accountId, id, { disabled }),

    remove: async (accountId, id) => {
      if (!(await store.remove(accountId, id))) throw notFound(id);
      await cache.changed(accountId, id);
    },

    noteCredentials: async ({ accountId, id }, verdict) => {
      const reason = verdict === 'refused' ? 'The provider refuses the credentials.' : null;
      if (await store.setValid(accountId, id, verdict === 'accepted', reason)) await cache.changed(accountId, id);
    },
  };
}

function contextOf(accountId: number, id: number, column: 'credentials' | 'token'): string {
  return `instance:${accountId}:${id}:${column}`;
}

function notFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no instance ${id}.`);
}

function trimmed(tags: readonly string[] = []): string[] {
  return [...new Set(tags.map((tag) => tag.trim()))];
}

function assertNoCode(connector: Connector, { providerData }: Pick<NewInstance, 'providerData'>): void {
  if (providerData === undefined) return;
  const message = `${connector.name} does not use OAuth: leave out providerData and give its configuration keys.`;
  throw new AppError('REQUEST_INVALID', message, { details: [{ path: 'providerData', message }] });
}
