import { createHash } from 'node:crypto';
import type { Accounts } from '../../accounts/accounts.ts';
import type {
  Config,
  ProviderEvent,
  Verify,
  WebhookCall,
  WebhookResponse,
  Webhooks,
  WebhookVerdict,
} from '../../connector/contract.ts';
import { createAnnouncedCache } from '../../db/caches.ts';
import { AppError, isAppError } from '../../errors.ts';
import type { FindWebhookInstance, WebhookInstance } from '../../instances/event-sources.ts';
import type { InstanceKey } from '../../instances/instance.ts';
import { isJsonObject } from '../../numbers/exact-json.ts';
import type { Platform } from '../../platform.ts';
import { combineRedactors, createRedactor, type Redactor } from '../../redaction.ts';
import type { Resources } from '../../resources/index.ts';
import { RECORD_ACTIONS } from '../event-types.ts';
import type { Accepted, NewEvent } from '../model.ts';
import type { WebhookAddresses } from './address.ts';
import { isToBeRead, readRecords, recordKey } from './hydrate.ts';
import type { FindRegistrationSecret } from './registrations.ts';
import type { FindSigningKey } from './signing-keys.ts';

/** An instance that its provider called. */
export interface WebhookTarget extends WebhookInstance {
  readonly webhooks: Webhooks;
  /** Secret that calls are verified with, if known. */
  readonly secret: string | undefined;
  /** Maximum size of a body in bytes. */
  readonly maxBytes: number;
  /** Redacts the instance's secrets and webhook address. */
  readonly redactor: Redactor;
}

type WebhookTargets = ReturnType<typeof createWebhookTargets>;

export type Receiver = ReturnType<typeof createReceiver>;

interface ReceiverNeighbours {
  readonly targets: Pick<WebhookTargets, 'get'>;
  readonly accounts: Pick<Accounts, 'isThere'>;
  readonly addresses: Pick<WebhookAddresses, 'read'>;
  readonly findSigningKey: FindSigningKey;
  readonly getRecord: Resources['getRecord'];
  readonly mapChange: Resources['mapChange'];
  readonly accept: (events: readonly NewEvent[]) => Promise<Accepted>;
  readonly noteEventWarning: (instance: InstanceKey, warning: string | null) => Promise<unknown>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Maximum number of events in a webhook. All are stored or none. */
const MOST_EVENTS = 1_000;
/** People must repair a secret that cannot be read. */
const UNREADABLE_RETRY_SECONDS = 600;

interface TargetNeighbours {
  readonly findInstance: FindWebhookInstance;
  readonly findSecret: FindRegistrationSecret;
  readonly addresses: Pick<WebhookAddresses, 'keyOf'>;
}

export function createWebhookTargets(
  { notifier }: Pick<Platform, 'notifier'>,
  { findInstance, findSecret, addresses }: TargetNeighbours,
) {
  // An unknown instance is cached too, because a provider continues to call for a deleted one.
  const cache = createAnnouncedCache<{ readonly target: WebhookTarget | undefined }>({
    notifier,
    topic: 'instance',
    load: async (key) => {
      const [accountId = 0, id = 0] = key.split(':').map(Number);
      const found = await findInstance(accountId, id);
      const { webhooks } = found?.instance.connector ?? {};
      if (found === undefined || webhooks === undefined) return { target: undefined };
      const secret = keyedSecret(webhooks, found.instance.config) ?? (await findSecret({ accountId, id }));
      const redactor = combineRedactors([
        found.instance.redactor,
        createRedactor([addresses.keyOf({ accountId, id })]),
      ]);
      return { target: { ...found, webhooks, secret, redactor, maxBytes: webhooks.maxBytes ?? MAX_BODY_BYTES } };
    },
  });
  const keyOf = ({ accountId, id }: InstanceKey) => `${accountId}:${id}`;
  return {
    /** Returns the target from memory as long as nothing changes. */
    get: async (instance: InstanceKey) => (await cache.get(keyOf(instance)))?.target,
    /** Call it when the values that verify webhooks may have changed. */
    changed: (instance: InstanceKey) => cache.changed(keyOf(instance)),
  };
}

function keyedSecret({ secretKey }: Webhooks, config: Config): string | undefined {
  const value = secretKey === undefined ? undefined : config[secretKey];
  return typeof value === 'string' ? value : undefined;
}

type ReceiveOutcome =
  | 'accepted'
  | 'dropped'
  | 'handshake'
  | 'unknown'
  | 'malformed'
  | 'refused'
  | 'failed'
  | Idle
  | Exclude<WebhookVerdict, 'genuine'>;

interface Verifier {
  readonly verify: Verify;
  readonly secret: string;
}

/** Why a genuine webhook is accepted without storing its events. */
type Idle = 'disabled' | 'off' | 'polling';

export function createReceiver(platform: Pick<Platform, 'clock' | 'log' | 'metrics'>, neighbours: ReceiverNeighbours) {
  const { clock, log } = platform;
  const { targets, accounts, addresses, findSigningKey, getRecord, mapChange, accept, noteEventWarning } = neighbours;
  const measures = createMeasures(platform);

  /**
   * Asserts that the provider sent the call.
   * @throws AppError UNAUTHENTICATED, OVERLOADED
   */
  async function assertGenuine(target: WebhookTarget, call: WebhookCall): Promise<void> {
    const { webhooks, instance } = target;
    const { verify, signingKey } = webhooks;
    if (verify === 'unsigned') return;
    const secret = signingKey === undefined ? target.secret : await findSigningKey(target, call);
    // Before the secret is known, nobody can have signed with it.
    const verdict = secret === undefined ? 'unsigned' : judge(target, call, { verify, secret });
    if (verdict === 'genuine') return;
    measures.received(instance.connector.key, verdict);
    throw new AppError('UNAUTHENTICATED', REFUSALS[verdict]);
  }

  /**
   * Verifies a call.
   * @throws AppError PAYLOAD_TOO_LARGE for a body that is too large to verify
   */
  function judge({ instance }: WebhookTarget, call: WebhookCall, { verify, secret }: Verifier): WebhookVerdict {
    try {
      return verify(call, { secret, now: clock.now(), config: instance.config });
    } catch (error) {
      measures.received(instance.connector.key, 'malformed');
      throw error;
    }
  }

  function read(
    { webhooks, instance: { connector, config } }: WebhookTarget,
    call: WebhookCall,
  ): readonly ProviderEvent[] {
    try {
      const events = webhooks.events(call, config);
      const unsound = events.find((event) => !isSound(event));
      if (unsound !== undefined) throw new Error('An event has no action, object or id that can be stored.');
      if (events.length <= MOST_EVENTS) return events;
      const message = `The request has ${events.length} events; the maximum is ${MOST_EVENTS}.`;
      throw new AppError('PAYLOAD_TOO_LARGE', message);
    } catch (error) {
      measures.received(connector.key, 'malformed');
      if (isAppError(error, 'PAYLOAD_TOO_LARGE')) throw error;
      // The connector's own words, see `rejected`.
      const message = isAppError(error, 'PROVIDER_REJECTED')
        ? error.message
        : `The request does not have the form of a webhook of ${connector.name}.`;
      throw new AppError('REQUEST_INVALID', message, { cause: error });
    }
  }

  /**
   * Stores the events of a call.
   * @returns the number of stored events
   */
  async function store(target: WebhookTarget, call: WebhookCall): Promise<number> {
    const events = read(target, call);
    const fresh = toNewEvents(target, call, events);
    // After a provider rejected the credentials, records are not requested for each event.
    const isRead = target.settings.hydrate && target.instance.valid && events.some(isToBeRead);
    const { eventIds } = isRead
      ? await acceptRead(target, { events, fresh })
      : await acceptWith(
          target,
          fresh,
          events.map(({ record }) => record),
        );
    return eventIds.filter((id) => id !== undefined).length;
  }

  /** Continues for a provider that waits no longer. It would send the webhook again, which takes as long to read, and stop at some time. */
  async function acceptRead(
    target: WebhookTarget,
    { events, fresh }: { readonly events: readonly ProviderEvent[]; readonly fresh: readonly NewEvent[] },
  ): Promise<Accepted> {
    const { instance } = target;
    // The memory of the records is held until they are stored.
    const stored = new AbortController();
    try {
      const done = stored.signal;
      const records = await readRecords({ getRecord, clock, log }, { instance, events, done }, measures.reads);
      return await acceptWith(
        target,
        fresh,
        events.map((event) => event.record ?? records.get(recordKey(event))),
      );
    } finally {
      stored.abort();
    }
  }

  /**
   * Accepts events with their records. If a record is too large for an event, it accepts them with what the provider sent, which always
   * fits.
   */
  async function acceptWith(
    { instance, objectNames: names }: WebhookTarget,
    given: readonly NewEvent[],
    objects: readonly (object | undefined)[],
  ): Promise<Accepted> {
    const whole = await mapEvents(
      { instance, objectNames: names },
      given.map((event, index) => ({ ...event, object: objects[index] })),
    );
    const events = whole.map(({ object: _, ...event }) => event);
    try {
      return await accept(whole);
    } catch (error) {
      if (!isAppError(error, 'PAYLOAD_TOO_LARGE')) throw error;
      return accept(events);
    }
  }

  /** Maps events to the mapped objects that the configuration of the instance selects, with their records. */
  async function mapEvents(
    { instance, objectNames: names }: Pick<WebhookTarget, 'instance' | 'objectNames'>,
    events: readonly NewEvent[],
  ): Promise<readonly NewEvent[]> {
    if (names.length === 0) return events;
    const done = new AbortController();
    const mapOne = async (event: NewEvent): Promise<NewEvent> => {
      const { objectName: vendorName = '', object, type } = event;
      const record = isJsonObject(object) ? object : undefined;
      const mapped = await mapChange({ instance, signal: done.signal }, { names, vendorName, record });
      if (mapped === undefined) return event;
      const { objectName } = mapped;
      const action = RECORD_ACTIONS.find((each) => type.endsWith(`.${each}`)) ?? 'unknown';
      return {
        ...event,
        type: `${objectName}.${action}`,
        objectName,
        vendorObjectName: vendorName,
        object: mapped.record,
      };
    };
    try {
      return await Promise.all(events.map(mapOne));
    } finally {
      done.abort();
    }
  }

  return {
    /**
     * Finds the instance of an address.
     * @throws AppError NOT_FOUND for an unknown address, whatever the reason is
     */
    find: async (elementKey: string, instanceKey: string) => {
      const instance = addresses.read(instanceKey);
      // The data of a deleted account is removed gradually.
      const isThere = instance !== undefined && (await accounts.isThere(instance.accountId));
      const target = isThere ? await targets.get(instance) : undefined;
      const isReachable = target?.instance.connector.key === elementKey && target.instance.fault?.kind !== 'element';
      if (target === undefined || !isReachable) {
        measures.received('none', 'unknown');
        throw new AppError('NOT_FOUND', 'This URL does not receive events.');
      }
      if (target.instance.fault === undefined) return target;
      throw new AppError('OVERLOADED', 'Events of this instance cannot be verified at the moment.', {
        retryAfterSeconds: UNREADABLE_RETRY_SECONDS,
      });
    },

    /**
     * Receives a call. Resolves when all its events are committed, or when it has none.
     * @throws AppError UNAUTHENTICATED for a call that was not verified, REQUEST_INVALID, PAYLOAD_TOO_LARGE, OVERLOADED; then nothing is
     * stored
     */
    receive: async (target: WebhookTarget, call: WebhookCall) => {
      const { webhooks, instance, secret } = target;
      const { key } = instance.connector;
      const response = webhooks.handshake?.(call, { secret: secret ?? '' });
      if (response !== undefined) {
        measures.received(key, 'handshake');
        if (response.notice !== undefined) await noteEventWarning(instance, response.notice);
        return response;
      }
      await assertGenuine(target, call);
      // Where there is a registration, it knows what stands in its way.
      if (instance.eventWarning !== null && webhooks.registration === undefined) await noteEventWarning(instance, null);
      const idle = idleness(target);
      if (idle !== undefined) {
        measures.received(key, idle);
        return webhooks.response ?? responseOf(0);
      }
      try {
        const stored = await store(target, call);
        measures.received(key, stored > 0 ? 'accepted' : 'dropped');
        return webhooks.response ?? responseOf(stored);
      } catch (error) {
        if (!isAppError(error, 'REQUEST_INVALID', 'PAYLOAD_TOO_LARGE')) {
          measures.received(key, isAppError(error, 'OVERLOADED') ? 'refused' : 'failed');
        }
        throw error;
      }
    },
  };
}

const ACTIONS: ReadonlySet<string> = new Set<ProviderEvent['action']>(['created', 'updated', 'deleted', 'unknown']);
const MOST_ID_CHARACTERS = 1_024;

/** Returns whether object name and id can be stored and filtered. A connector may pass on any text of a webhook. */
function isSound({ action, objectName, objectId = '' }: ProviderEvent): boolean {
  return ACTIONS.has(action) && /^\w[\w./-]{0,199}$/.test(objectName) && objectId.length <= MOST_ID_CHARACTERS;
}

const REFUSALS: Readonly<Record<Exclude<WebhookVerdict, 'genuine'>, string>> = {
  unsigned: 'The request has no signature to verify.',
  forged: 'The signature of the request does not match this instance.',
  stale: 'The signature of the request is too old, or dated in the future.',
};

function idleness({ instance, settings }: WebhookInstance): Idle | undefined {
  if (instance.disabled) return 'disabled';
  if (!settings.isEnabled) return 'off';
  return settings.vendorType === 'polling' ? 'polling' : undefined;
}

function responseOf(accepted: number): WebhookResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ accepted }) };
}

/** Converts provider events, without their records. */
function toNewEvents(
  { instance }: WebhookTarget,
  call: WebhookCall,
  events: readonly ProviderEvent[],
): readonly NewEvent[] {
  const { accountId, id: instanceId } = instance;
  const bytes = events.some(({ id }) => id === undefined) ? hashOf(call) : '';
  return events.map(({ id, action, objectName, objectId, at, raw }, index) => ({
    accountId,
    instanceId,
    type: `${objectName}.${action}`,
    objectName,
    objectId,
    raw,
    timestamp: at === undefined || Number.isNaN(at.getTime()) ? undefined : at,
    deduplicationKey: id === undefined ? `webhook bytes:${bytes}:${index}` : `webhook:${id}`,
  }));
}

/** A call by GET has all in its address. */
function hashOf({ url, body }: WebhookCall): string {
  return createHash('sha256')
    .update(body.length > 0 ? body : url)
    .digest('base64url');
}

function createMeasures({ metrics }: Pick<Platform, 'metrics'>) {
  const received = metrics.counter<'element' | 'outcome'>({
    name: 'causeway_webhooks_received_total',
    help: 'Webhook requests of providers, by element and outcome.',
    labelNames: ['element', 'outcome'],
  });
  const reads = metrics.counter<'outcome'>({
    name: 'causeway_webhook_reads_total',
    help: 'Records read for events that came without their record, by outcome: read, failed, or left (the webhook had too many).',
    labelNames: ['outcome'],
  });
  return {
    received: (element: string, outcome: ReceiveOutcome) => received.inc({ element, outcome }),
    reads: (outcome: string, count: number) => reads.inc({ outcome }, count),
  };
}
