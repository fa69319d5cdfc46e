import type { Knex } from 'knex';
import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { type ChangeNote, change, differences } from '../db/change.ts';
import { listPage } from '../db/listing.ts';
import { isStorable } from '../db/storable.ts';
import { assertCallable } from '../egress/callback-url.ts';
import { AppError, pointer, redactAppError } from '../errors.ts';
import type { Mappings } from '../mappings/index.ts';
import type { Platform } from '../platform.ts';
import { changedMeanwhile } from '../shared-errors.ts';
import type { Authenticate, Authenticated, GivenAgain } from './authenticate.ts';
import {
  assertUnmasked,
  exchangeOf,
  invalidConfiguration,
  MASK,
  readPolling,
  secretKeys,
  unmasked,
} from './configuration.ts';
import { readShown } from './credential-change.ts';
import { CALLBACK_URL, readEventSettings, wantsRegistration } from './event-settings.ts';
import { assertUsable, type Instance, type InstanceKey, instanceNotFound } from './instance.ts';
import type { InstanceCodec } from './instance-codec.ts';
import type { AuthorizationCaller } from './oauth/authorizations.ts';
import type { ProviderData } from './oauth/authorize.ts';
import { isOAuthConnector } from './oauth/fields.ts';
import { assertInterval, findPollFaults } from './polling/poll-settings.ts';
import type { InstanceRecords } from './records.ts';
import { assertStorable } from './storable.ts';
import {
  createInstanceStore,
  FILTERABLE_INSTANCE,
  type InstanceChanges,
  type InstanceFilter,
  type InstanceListPosition,
  type InstanceRow,
  type InstanceStore,
} from './store.ts';

export interface NewInstance {
  readonly element: string;
  readonly name: string;
  readonly tags?: readonly string[] | undefined;
  readonly configuration: Readonly<Record<string, unknown>>;
  /** Parameters that the callback URL of an OAuth authorization received. */
  readonly providerData?: ProviderData | undefined;
}

/** Selection and order of a list of instances. `where` is a filter in the query language over `FILTERABLE_INSTANCE`. */
type InstanceQuery = Omit<InstanceFilter, 'condition'> & { readonly where?: string | undefined };

interface InstancePage {
  readonly instances: readonly Instance[];
  /** Position at which the next page begins; absent after the last page. */
  readonly next?: InstanceListPosition;
}

/** The user who changes an instance. The user who creates it owns it. */
type InstanceCaller = AuthorizationCaller;

/** Statements that run in the transaction of a change of an instance. If they throw, the change is rolled back. */
export type AlongWith = (via: Knex, instance: Instance) => Promise<void>;

export type Instances = ReturnType<typeof createInstances>;

type LeaveProvider = (instance: InstanceKey, signal: AbortSignal) => Promise<void>;

/** Ports through which instances register webhooks and send events. */
export interface InstanceNeighbours {
  readonly registry: Registry;
  readonly store: InstanceStore;
  readonly codec: InstanceCodec;
  readonly records: InstanceRecords;
  readonly authenticate: Authenticate;
  /** @throws AppError CONFLICT for an element that is not active in the account */
  readonly assertActive: (accountId: number, elementKey: string) => Promise<void>;
  /** Prepares deliveries to the URL. */
  readonly ensureSubscription: (accountId: number, url: string) => Promise<unknown>;
  /** Minimum interval between polls in milliseconds. */
  readonly shortestPollMs: number;
  /** Base URLs of the service, without a trailing slash. The first is the public one. */
  readonly ownUrls: () => readonly string[];
  /**
   * Notes, at the commit of the transaction, that the webhook of an instance must be registered at the provider or
   * removed.
   */
  readonly noteRegistration: (via: Knex, instance: InstanceKey, isWanted: boolean) => Promise<void>;
  /** Changes what names an instance, in the transaction of its deletion. */
  readonly noteRemoved: (via: Knex, instance: InstanceKey) => Promise<void>;
  readonly noteCreated: (accountId: number, elementKey: string) => void;
  readonly mappings: Mappings;
}

/** An instance, or the account in which one is created. */
interface MappedAt extends Pick<Instance, 'accountId' | 'connector'> {
  readonly id?: number;
}

const TOKEN_BYTES = 32;
/** Number of instances that are read at a time for a list of all. */
const PART = 1_000;
/** Number of instances whose providers are called at the same time before their removal. */
const LEFT_AT_ONCE = 4;
const REMOVED_AT_ONCE = 20;

/** The condition and the companions of a change: it fails if the settings changed meanwhile, and all parts are stored together. */
interface Guard extends Pick<Authenticated, 'keep'>, Pick<Instance, 'settingsVersion'> {
  readonly along?: AlongWith | undefined;
}

const WORKING = { valid: true, invalidReason: null, refusedCalls: [] };

export function createInstances(
  { knex, keys, shares, random, egress, notifier }: Platform,
  {
    registry,
    store,
    codec,
    records,
    authenticate,
    assertActive,
    ensureSubscription,
    noteRegistration,
    noteRemoved,
    noteCreated,
    shortestPollMs,
    ownUrls,
    mappings,
  }: InstanceNeighbours,
) {
  const { decode, encodeSettings } = codec;

  /** Stores changes. It resolves when every process uses them. */
  async function settle(accountId: number, id: number, changes: InstanceChanges, guard?: Guard): Promise<Instance> {
    const work = async (via: Knex): Promise<Step & { readonly after: Instance }> => {
      const before = await lock(via, accountId, id);
      const updated = await store.update(via, accountId, id, changes, guard?.settingsVersion);
      if (updated === undefined) throw changedMeanwhile(`Instance ${id}`);
      if (guard !== undefined || changes.disabled !== undefined) await noteEvents(via, updated);
      const isRepaired = guard !== undefined && (await guard.keep(via, { accountId, id }));
      const row = isRepaired && !updated.valid ? await store.update(via, accountId, id, WORKING) : updated;
      const after = decode(row ?? updated);
      await guard?.along?.(via, after);
      await records.changed(accountId, id, via);
      return { before, after };
    };
    const { after } = await change(knex, work, noteOf);
    await notifier.settle();
    return after;
  }

  /** @throws AppError NOT_FOUND */
  async function lock(via: Knex, accountId: number, id: number): Promise<Instance> {
    const row = await store.lock(via, accountId, id);
    if (row === undefined) throw instanceNotFound(id);
    return decode(row);
  }

  async function noteEvents(via: Knex, row: InstanceRow): Promise<void> {
    const { connector, config } = decode(row);
    if (connector.webhooks?.registration === undefined) return;
    await noteRegistration(via, row, wantsRegistration(connector, config));
  }

  /** The stored settings of the instance cannot be trusted, so new ones must be complete and without masks. */
  function authenticateAnew(connector: Connector, { earlier: _, ...credentials }: GivenAgain): Promise<Authenticated> {
    assertUnmasked(connector, credentials.given);
    return authenticate.first(connector, { ...credentials, base: {} });
  }

  /** Verifies new settings with the provider before they become part of the changes. */
  async function reauthenticate(instance: Instance, credentials: GivenAgain) {
    const { connector, accountId, id, settingsVersion } = instance;
    if (instance.fault?.kind === 'element') assertUsable(instance);
    const { config, verified, keep } = await withoutOldSecrets(instance, () =>
      instance.fault === undefined
        ? authenticate.again(instance, credentials)
        : authenticateAnew(connector, credentials),
    );
    const settings = encodeSettings(connector, config, { accountId, id });
    return {
      settings: { ...settings, ...(verified && WORKING) },
      // Settings are merged into those that were read, so they must still be those.
      guard: { settingsVersion, keep },
    };
  }

  async function list(accountId: number, query: InstanceQuery): Promise<InstancePage> {
    const { searchText = '', tags = [] } = query;
    const { rows, last } = await listPage(FILTERABLE_INSTANCE, query, async (filter) => {
      // PostgreSQL would report an error for a text that it cannot store.
      if (![searchText, ...tags].every(isStorable)) return [];
      return shares.list(accountId, (via) => createInstanceStore(via).list(accountId, filter));
    });
    return { instances: rows.map(decode), ...(last && { next: { id: last.id, value: last.value } }) };
  }

  async function listAll(accountId: number, where?: string): Promise<readonly Instance[]> {
    const all: Instance[] = [];
    for (let after: InstanceListPosition | undefined = { id: 0 }; after !== undefined; ) {
      const page: InstancePage = await list(accountId, { where, limit: PART, after });
      all.push(...page.instances);
      after = page.next;
    }
    return all;
  }

  /** Returns the element with the mapped objects, which polls and events may name as well. */
  async function withMapped({ accountId, id, connector }: MappedAt): Promise<Connector> {
    const { objects } = connector;
    // Objects that are discovered are not looked at.
    if (typeof objects === 'function') return connector;
    const { byName } =
      id === undefined
        ? await mappings.inForceForElement({ accountId, elementKey: connector.key })
        : await mappings.inForce({ accountId, id, connector });
    const mapped = [...byName].flatMap(([name, { vendorName }]) => {
      const vendor = Object.hasOwn(objects, vendorName) ? objects[vendorName] : undefined;
      return vendor === undefined ? [] : [[name, { ...vendor, aliases: [] }] as const];
    });
    return mapped.length === 0 ? connector : { ...connector, objects: { ...objects, ...Object.fromEntries(mapped) } };
  }

  /** Asserts that event and poll settings are valid, before anything else is done. */
  async function assertEventSettings(
    at: MappedAt,
    configuration: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const element = await withMapped(at);
    assertInterval(configuration, shortestPollMs);
    const faults = findPollFaults(readPolling(configuration), element, { element, ownUrls: ownUrls() });
    if (faults.length > 0) throw invalidConfiguration(element, faults);
    const url = configuration[CALLBACK_URL];
    // An invalid URL is reported with the rest of the configuration.
    if (typeof url === 'string' && URL.canParse(url))
      await assertCallable(egress, url, pointer('body', 'configuration', CALLBACK_URL));
  }

  /**
   * Prepares deliveries right after an instance is stored. No event is lost between the two, because accepting an event prepares its
   * deliveries as well.
   */
  async function readyForEvents(instance: Instance): Promise<Instance> {
    const { callbackUrl } = readEventSettings(instance.config);
    if (callbackUrl !== undefined) await ensureSubscription(instance.accountId, callbackUrl);
    return instance;
  }

  return {
    get: records.get,
    getCached: records.getCached,
    getAll: records.getAll,
    findByToken: records.findByToken,
    noteCredentials: records.noteCredentials,
    noteEventWarning: records.noteEventWarning,

    /**
     * Creates an instance. It verifies the credentials with the provider first.
     * @throws AppError, and stores nothing then
     */
    create: async (caller: InstanceCaller, input: NewInstance, signal: AbortSignal, along?: AlongWith) => {
      const { accountId, userId } = caller;
      const connector = registry.getConnector(input.element);
      await assertActive(accountId, connector.key);
      await assertEventSettings({ accountId, connector }, input.configuration);
      assertStorable(input);
      const { configuration: given, providerData } = input;
      const { config, keep } = await authenticate.first(connector, { caller, given, base: {}, providerData, signal });
      const id = await store.nextId();
      const token = random.bytes(TOKEN_BYTES).toString('base64url');
      const newRow = {
        accountId,
        id,
        userId,
        name: input.name.trim(),
        elementKey: connector.key,
        tags: trimmed(input.tags),
        ...encodeSettings(connector, config, { accountId, id }),
        token: codec.encodeToken(token, { accountId, id }),
        tokenHash: keys.lookupHash(token),
        providerData: {},
      };
      const insert = async (via: Knex): Promise<Step & { readonly after: Instance }> => {
        const inserted = await store.insert(via, newRow);
        await noteEvents(via, inserted);
        await keep(via, { accountId, id });
        await records.changed(accountId, id, via);
        const after = decode(inserted);
        await along?.(via, after);
        return { after };
      };
      const { after } = await change(knex, insert, noteOf);
      noteCreated(accountId, connector.key);
      // The code is used up. It is only returned to the caller who sent it, and never stored.
      const shown = providerData?.code === undefined ? {} : { providerData: { code: providerData.code } };
      return readyForEvents({ ...after, ...shown });
    },

    list,

    /** Returns all instances of the account, or all that match `where`. They are read in parts. */
    listAll,

    /** Returns the id of an instance whose events are delivered to the URL. */
    findByCallback: store.findByCallback,

    /** Changes an instance. New credentials are verified first, and id and token stay. */
    update: async (
      caller: InstanceCaller,
      id: number,
      changes: Partial<Omit<NewInstance, 'element'>>,
      signal: AbortSignal,
      along?: AlongWith,
    ) => {
      const instance = await records.get(caller.accountId, id);
      await assertEventSettings(instance, changes.configuration);
      assertStorable(changes);
      const { configuration: given, providerData } = changes;
      const change = {
        ...(changes.name !== undefined && { name: changes.name.trim() }),
        ...(changes.tags !== undefined && { tags: trimmed(changes.tags) }),
      };
      if (given === undefined && providerData === undefined) {
        return readyForEvents(await settle(caller.accountId, id, change));
      }
      const base = instance.config;
      const { settings, guard } = await reauthenticate(instance, {
        caller,
        given: given ?? {},
        base,
        providerData,
        earlier: { config: instance.config, shown: readShown(given ?? {}) },
        signal,
      });
      return readyForEvents(await settle(caller.accountId, id, { ...change, ...settings }, { ...guard, along }));
    },

    /** Replaces name, tags and configuration. Values that are not sent are removed, except masked secrets. */
    replace: async (caller: InstanceCaller, id: number, input: Omit<NewInstance, 'element'>, signal: AbortSignal) => {
      const instance = await records.get(caller.accountId, id);
      await assertEventSettings(instance, input.configuration);
      assertStorable(input);
      const given = unmasked(input.configuration, instance.config);
      const base = providerValues(instance);
      const { providerData } = input;
      const earlier = { config: instance.config, shown: readShown(input.configuration) };
      const again = { caller, given, base, providerData, earlier, signal };
      const { settings, guard } = await reauthenticate(instance, again);
      const change = { ...settings, name: input.name.trim(), tags: trimmed(input.tags) };
      return readyForEvents(await settle(caller.accountId, id, change, guard));
    },

    setDisabled: (accountId: number, id: number, disabled: boolean) => settle(accountId, id, { disabled }),

    /** Logs headers and bodies of its calls until a time. Null ends it. */
    traceUntil: (accountId: number, id: number, traceLoggingUntil: Date | null) =>
      settle(accountId, id, { traceLoggingUntil }),

    remove: async (accountId: number, id: number) => {
      const remove = async (via: Knex): Promise<Step> => {
        const before = await lock(via, accountId, id);
        await store.remove(via, accountId, id);
        await noteRemoved(via, { accountId, id });
        await records.changed(accountId, id, via);
        return { before };
      };
      await change(knex, remove, noteOf);
      await notifier.settle();
    },

    /** Removes some instances of an account. `leave` first removes each at its provider; a failure there is ignored. */
    removeSome: async (accountId: number, leave: LeaveProvider, signal: AbortSignal) => {
      const ids = await store.listIds(accountId, REMOVED_AT_ONCE);
      const left = ids.values();
      const removeNext = async () => {
        for (const id of left) {
          if (signal.aborted) return;
          await leave({ accountId, id }, signal);
          await store.transaction(async (via) => {
            await store.remove(via, accountId, id);
            await noteRemoved(via, { accountId, id });
            await records.changed(accountId, id, via);
          });
        }
      };
      await Promise.all(Array.from({ length: LEFT_AT_ONCE }, removeNext));
      return ids.length === 0 ? 'done' : 'more';
    },
  };
}

/** An instance before and after a change. */
interface Step {
  readonly before?: Instance;
  readonly after?: Instance;
}

/** Returns the changes for the audit log, with secrets masked. */
function noteOf({ before, after }: Step): ChangeNote {
  const instance = after ?? before;
  if (instance === undefined) return {};
  const secrets = new Set([...secretKeys(instance.connector)].map(settingName));
  const show = (name: string, value: unknown) => (secrets.has(name) ? MASK : value);
  return { instanceId: instance.id, changes: differences(toAudit(before), toAudit(after), show) };
}

function toAudit(instance: Instance | undefined): Readonly<Record<string, unknown>> {
  if (instance === undefined) return {};
  const { id, connector, name, tags, valid, disabled, config } = instance;
  const settings = Object.entries(config).map(([key, value]) => [settingName(key), value]);
  return { id, element: connector.key, name, tags, valid, disabled, ...Object.fromEntries(settings) };
}

function settingName(key: string): string {
  return `configuration.${key}`;
}

function trimmed(tags: readonly string[] = []): string[] {
  return [...new Set(tags.map((tag) => tag.trim()))];
}

/** Redacts the old secrets in an error. A provider that receives new secrets may quote the old ones, which the caller did not send. */
async function withoutOldSecrets<Result>({ redactor }: Instance, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof AppError ? redactAppError(error, redactor) : error;
  }
}

/** Returns the values that the provider sent when it granted access. A caller cannot remove them. */
function providerValues({ connector, config }: Instance): Config {
  const grantedKeys = isOAuthConnector(connector)
    ? Object.keys(connector.auth.values ?? {})
    : [exchangeOf(connector)?.token].filter((key) => key !== undefined);
  return Object.fromEntries(grantedKeys.flatMap((key) => (config[key] === undefined ? [] : [[key, config[key]]])));
}
