import { isDeepStrictEqual } from 'node:util';
import type { Knex } from 'knex';
import { createAnnouncedCache } from '../../db/caches.ts';
import { change, differences } from '../../db/change.ts';
import { assertCallable } from '../../egress/callback-url.ts';
import { AppError, invalidRequest, pointer, unknownName } from '../../errors.ts';
import { createPacer } from '../../pace.ts';
import type { Platform } from '../../platform.ts';
import { missing } from '../../shared-errors.ts';
import { hostOf } from '../lease.ts';
import type { EventReceiver, EventSource, NewEvent } from '../model.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import {
  compileWish,
  createChoice,
  type FindEndpoints,
  type RecordReading,
  toRow,
  type WantingEndpoint,
} from './choose.ts';
import {
  assertHeaders,
  assertSecretsSent,
  changeSecrets,
  type EndpointChoice,
  type EndpointInput,
  type EndpointSecrets,
  type EndpointWarning,
  maskSecrets,
} from './endpoint.ts';
import { createEndpointReader, type EndpointReaderPlatform } from './endpoint-reader.ts';
import { createEndpointStore, type EndpointRow, type WishRow } from './endpoint-store.ts';
import { type KnownObject, untypedFields, warningsOf } from './warnings.ts';

interface EndpointPlatform extends EndpointReaderPlatform {
  readonly notifier: Pick<Platform['notifier'], 'publish' | 'subscribe' | 'onGap' | 'settle'>;
  readonly egress: Pick<Platform['egress'], 'check'>;
  readonly clock: Pick<Platform['clock'], 'steady'>;
}

interface EndpointNeighbours {
  readonly subscriptions: Pick<Subscriptions, 'insertEndpoint' | 'updateEndpoint'>;
  /** Returns the objects that are known without a request to a provider. */
  readonly knownObjects: (accountId: number) => Promise<readonly KnownObject[]>;
  /** Whether an element has this key, and a hub this name. */
  readonly elements: { readonly keys: () => readonly string[]; readonly hubs: () => readonly string[] };
  readonly hasInstance: (accountId: number, id: number) => Promise<boolean>;
  /** Opens the reading of records, and of their types, for the events of one call. */
  readonly openRecords: () => RecordReading;
}

/** The verdict of an endpoint's filter on an event. */
interface TestVerdict {
  readonly matches: boolean;
  readonly unfiltered: boolean;
  /** The fields of the filter whose types are unknown. */
  readonly warnings?: readonly EndpointWarning[];
}

interface KeptEndpoints {
  readonly wanting: readonly WantingEndpoint[];
}

export type Endpoints = ReturnType<typeof createEndpoints>;

/** Creates the service of endpoints: subscriptions that are made by themselves, and choose their events. */
export function createEndpoints(
  platform: EndpointPlatform,
  neighbours: EndpointNeighbours,
  { maxPerAccount }: { readonly maxPerAccount: number },
) {
  const { knex, egress, notifier, clock } = platform;
  const { subscriptions } = neighbours;
  const reader = createEndpointReader(platform);
  const cache = createAnnouncedCache<KeptEndpoints>({
    notifier,
    topic: 'endpoints',
    load: async (key) => {
      const rows = await createEndpointStore(knex).wishes(Number(key));
      const wanting: WantingEndpoint[] = [];
      const pacer = createPacer(NEVER);
      for (const row of rows) {
        // A hundred filters of the greatest length take a third of a second.
        if (pacer.isDue()) await pacer.pause();
        if (row.choice.active) wanting.push(toWanting(row));
      }
      return { wanting };
    },
  });

  function toWanting({ id, url, eventTypes, maxPerSecond, choice }: WishRow): WantingEndpoint {
    const receiver: EventReceiver = {
      subscriptionId: id,
      host: hostOf(url),
      ordered: choice.ordered,
      maxPerSecond: maxPerSecond ?? undefined,
    };
    return { receiver, ...compileWish({ ...choice, eventTypes }) };
  }

  const changed = (accountId: number, via?: Knex) => cache.changed(String(accountId), via);

  async function assertGood(accountId: number, input: EndpointInput, secrets: EndpointSecrets): Promise<void> {
    if (input.url !== undefined) await assertCallable(egress, input.url, '/body/url');
    const { authentication } = secrets;
    if (authentication?.type === 'oauth2')
      await assertCallable(egress, authentication.tokenUrl, '/body/authentication/tokenUrl');
    assertHeaders(secrets);
    assertKnown('element', 'elementKeys', input.elementKeys, neighbours.elements.keys());
    assertKnown('hub', 'hubs', input.hubs, neighbours.elements.hubs());
    for (const [index, id] of (input.instances ?? []).entries()) {
      if (await neighbours.hasInstance(accountId, id)) continue;
      const path = pointer('body', 'instances', String(index));
      throw invalidRequest([{ path, message: `There is no instance ${id} in this account.` }]);
    }
  }

  /** @throws AppError WHERE_SYNTAX, WHERE_INVALID */
  async function complete(
    accountId: number,
    choice: EndpointChoice,
    eventTypes: readonly string[],
  ): Promise<EndpointChoice> {
    const { warnings: _, ...rest } = choice;
    compileWish({ ...rest, eventTypes });
    const warnings = warningsOf(rest, await neighbours.knownObjects(accountId));
    return { ...rest, ...(warnings.length > 0 && { warnings }) };
  }

  return {
    /**
     * Creates an endpoint. Every process sends to it from then on.
     * @returns the id of its subscription
     * @throws AppError REQUEST_INVALID, WHERE_SYNTAX, WHERE_INVALID; CONFLICT when the account has as many as it may have
     */
    create: async (accountId: number, input: EndpointInput & { readonly url: string }): Promise<number> => {
      const { url, name = null, eventTypes = ['*'], maxPerSecond = null } = input;
      const secrets = changeSecrets({}, input);
      await assertGood(accountId, input, secrets);
      const chosen = changeChoice({ format: 'standard', ordered: false, active: true }, input);
      const choice = await complete(accountId, chosen, eventTypes);
      const make = async (via: Knex) => {
        const store = createEndpointStore(via);
        if ((await store.countLocked(accountId)) >= maxPerAccount) throw tooMany(maxPerAccount);
        const id = await subscriptions.insertEndpoint(via, { accountId, url, eventTypes, maxPerSecond });
        await store.insert({
          accountId,
          subscriptionId: id,
          name,
          choice,
          secrets: reader.seal(accountId, id, secrets),
        });
        await changed(accountId, via);
        return id;
      };
      const shown = auditOf({ url, name, eventTypes, maxPerSecond, choice, secrets });
      const id = await change(knex, make, (made) => ({
        targetId: String(made),
        changes: differences({}, shown, hideSecrets),
      }));
      await notifier.settle();
      return id;
    },

    /**
     * Changes an endpoint, for every process: members that are undefined stay, and null removes one.
     * @throws AppError REQUEST_INVALID, WHERE_SYNTAX, WHERE_INVALID, NOT_FOUND; CONFLICT when another request changes it at the same time
     */
    update: async (accountId: number, id: number, input: EndpointInput): Promise<void> => {
      const before = await createEndpointStore(knex).findWhole(accountId, id);
      if (before === undefined) throw missing('subscription', id);
      const secretsBefore = reader.open(before);
      const isMoved = input.url !== undefined && originOf(input.url) !== originOf(before.url);
      if (isMoved) assertSecretsSent(secretsBefore, input);
      const secrets = changeSecrets(isMoved ? {} : secretsBefore, input);
      await assertGood(accountId, input, secrets);
      const { url = before.url, eventTypes = before.eventTypes } = input;
      const maxPerSecond = input.maxPerSecond === undefined ? before.maxPerSecond : input.maxPerSecond;
      const name = input.name === undefined ? before.name : input.name;
      const choice = await complete(accountId, changeChoice(before.choice, input), eventTypes);
      const sealed = reader.seal(accountId, id, secrets);
      const row: EndpointRow = { accountId, subscriptionId: id, name, choice, secrets: sealed };
      const work = async (via: Knex) => {
        const store = createEndpointStore(via);
        await store.lock(accountId, id);
        const now = await store.findWhole(accountId, id);
        if (now === undefined) throw missing('subscription', id);
        if (!isDeepStrictEqual(now, before)) throw changedMeanwhile(id);
        await subscriptions.updateEndpoint(via, { accountId, id, url, eventTypes, maxPerSecond });
        await store.update(row);
        await changed(accountId, via);
      };
      const was = auditOf({ ...before, secrets: secretsBefore });
      const is = auditOf({ url, name, eventTypes, maxPerSecond, choice, secrets });
      await change(knex, work, () => ({ changes: differences(was, is, hideSecrets) }));
      await notifier.settle();
    },

    /** Announces that an endpoint was removed, or that its account was. */
    changed: async (accountId: number) => {
      await changed(accountId);
      await notifier.settle();
    },

    /** Returns the receivers among the endpoints of an account. What each wants is in memory. */
    find: (async (accountId) => {
      const kept = await cache.get(String(accountId));
      if (kept === undefined || kept.wanting.length === 0) return undefined;
      return createChoice(kept.wanting, { records: neighbours.openRecords(), pacer: createPacer(NEVER), clock });
    }) satisfies FindEndpoints as FindEndpoints,

    /** Returns how an event fares with the filter of an endpoint, whether it is active or not. */
    judge: async (accountId: number, id: number, event: NewEvent, source: EventSource): Promise<TestVerdict> => {
      const row = (await createEndpointStore(knex).wishes(accountId)).find((each) => each.id === id);
      if (row === undefined) return { matches: true, unfiltered: false };
      const { admits, filter } = toWanting(row);
      if (!admits(event.type, source)) return { matches: false, unfiltered: false };
      const eventRow = toRow(event, source);
      const verdict = filter?.plain.judge(eventRow) ?? 'yes';
      if (filter === undefined || verdict !== 'undecided') return { matches: verdict !== 'no', unfiltered: false };
      const object = event.object ?? undefined;
      // A test event has its record as the API shows it: mapped, where a mapping is in force.
      const shown = { ...event, vendorObjectName: event.objectName };
      const types = object === undefined ? 'unknown' : await neighbours.openRecords().types(shown, source);
      if (types === 'unknown') return { matches: true, unfiltered: true };
      const ofRecord = filter.of(types).judge({ ...eventRow, object });
      const warnings = untypedFields(row.choice.where ?? '', types);
      return {
        matches: ofRecord !== 'no',
        unfiltered: ofRecord === 'undecided',
        ...(warnings.length > 0 && { warnings }),
      };
    },
  };
}

/** Nothing aborts the choice: its events are accepted or rejected as a whole. */
const NEVER = new AbortController().signal;

function assertKnown(
  kind: string,
  member: string,
  given: readonly string[] | null | undefined,
  known: readonly string[],
): void {
  const faults = (given ?? []).flatMap((name, index) =>
    known.includes(name) ? [] : [{ path: pointer('body', member, String(index)), ...unknownName(kind, name, known) }],
  );
  if (faults.length > 0) throw invalidRequest(faults);
}

const CHOICE_MEMBERS = ['where', 'instances', 'elementKeys', 'hubs', 'tags', 'format', 'ordered', 'active'] as const;

function changeChoice(before: EndpointChoice, input: EndpointInput): EndpointChoice {
  const changes = Object.fromEntries(
    CHOICE_MEMBERS.flatMap((member) => (input[member] === undefined ? [] : [[member, input[member]]])),
  );
  // A blank filter is none.
  const where = typeof changes.where === 'string' && changes.where.trim() === '' ? { where: null } : {};
  const entries = Object.entries({ ...before, ...changes, ...where }).filter(([, value]) => value !== null);
  // The spec checked the types of the members.
  return Object.fromEntries(entries) as unknown as EndpointChoice;
}

function changedMeanwhile(id: number): AppError {
  return new AppError('CONFLICT', `Endpoint ${id} was changed by another request at the same time. Read it again.`);
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin;
}

function tooMany(most: number): AppError {
  return new AppError(
    'CONFLICT',
    `The account has ${most} endpoints, which is the maximum (MAX_ENDPOINTS_PER_ACCOUNT). Delete one first.`,
  );
}

interface AuditedEndpoint {
  readonly url: string;
  readonly name: string | null;
  readonly eventTypes: readonly string[];
  readonly maxPerSecond: number | null;
  readonly choice: EndpointChoice;
  readonly secrets: EndpointSecrets;
}

function auditOf({ url, name, eventTypes, maxPerSecond, choice, secrets }: AuditedEndpoint): Record<string, unknown> {
  const { warnings: _, ...rest } = choice;
  const shown = { url, name: name ?? undefined, eventTypes, maxPerSecond: maxPerSecond ?? undefined, ...rest };
  return { ...shown, headers: secrets.headers, authentication: secrets.authentication };
}

/** Masks what the audit log must not contain. The values themselves are compared. */
function hideSecrets(name: string, value: unknown): unknown {
  if (name !== 'headers' && name !== 'authentication') return value;
  return Reflect.get(maskSecrets({ [name]: value }), name);
}
