import type { MappingFaults, PassedRequest } from '../connector/client/index.ts';
import type { ChangesInput, Connector, RecordChange } from '../connector/contract.ts';
import type { ObjectSpec, Objects } from '../connector/index.ts';
import type { PlatformKeys } from '../db/platform-keys.ts';
import { isStorable } from '../db/storable.ts';
import { AppError, cutText, pointer } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { Platform } from '../platform.ts';
import type { Sandbox } from '../scripts/index.ts';
import { currentSpan, currentTrace, errorTypeOf } from '../trace.ts';
import { assertFullyPushed, parseQuery, type QueryText, quoteText, type Row } from '../where/index.ts';
import { type CallNeighbours, type CallReport, type ConnectedInstance, startCall } from './call.ts';
import { createCatalog, type MappingPorts, NO_MAPPINGS_IN_FORCE } from './catalog.ts';
import { judgeNative, type NativeFit, nativeStart, toNativeInput } from './native-walk.ts';
import { getChild, refuseOperation } from './objects.ts';
import {
  type Action,
  belowRecord,
  type ChildTarget,
  type ObjectTarget,
  type OpenedList,
  type OpenedQuery,
} from './opened.ts';
import { type BulkExplanation, createPageTokens, explainQuery, firstPosition } from './page.ts';
import { createQueryCache, type Query } from './query.ts';
import type { RateBudgetOptions } from './rate-budget/budget.ts';
import { createBudgetStore } from './rate-budget/budget-store.ts';
import { createRateBudgets, type RateBudgets } from './rate-budget/index.ts';
import { createBudgetCounts, measureBudgets } from './rate-budget/rate-metrics.ts';
import { createRecordCalls, judgeBody, requireWrite } from './record-calls.ts';
import { type PartialReason, scan } from './scan.ts';
import { createMappingScripts } from './scripted-rows.ts';
import { createWalks } from './walks.ts';

/** The parameters of a list. */
export interface ListRequest {
  readonly where?: string | undefined;
  /** Parameters of the object by name, in addition to the filter. */
  readonly parameters?: Readonly<Record<string, string | undefined>>;
  readonly orderBy?: string | undefined;
  readonly fields?: string | undefined;
  readonly page?: number | undefined;
  readonly pageSize: number;
  readonly nextPage?: string | undefined;
  readonly maxProviderCalls: number;
  /** Whether to reject a query that the provider cannot evaluate completely. */
  readonly pushdownOnly: boolean;
}

/** One page of a list, as the API returns it. */
export interface RecordList extends CallReport {
  readonly records: readonly Row[];
  /** Approximate number of bytes that the records take in memory. */
  readonly bytes: number;
  readonly nextPage?: string;
  readonly totalCount?: number;
  readonly pushdown: 'full' | 'partial' | 'none';
  readonly cutBy?: PartialReason;
}

/** The objects of a provider as they are now. */
export interface Inspection {
  readonly objects: Objects;
  /** Returns an object with its fields. */
  readonly describe: (name: string, object: ObjectSpec) => Promise<ObjectSpec>;
}

type MappedChange = Omit<RecordChange, 'record'> & { readonly record?: Row };

/** Changes that a provider reports, as one page. */
export interface ChangeList extends CallReport {
  readonly changes: readonly MappedChange[];
  readonly next?: string;
  readonly until?: string;
  readonly token?: string;
}

/** Maximum number of characters of a feed's token. */
const MOST_TOKEN_CHARACTERS = 4_000;

/** @throws AppError PROVIDER_PROTOCOL for a token of a feed that cannot be stored */
function assertFeedToken(token: unknown, { name }: Pick<Connector, 'name'>): void {
  const isFit = typeof token === 'string' && token !== '' && token.length <= MOST_TOKEN_CHARACTERS && isStorable(token);
  if (isFit) return;
  throw new AppError(
    'PROVIDER_PROTOCOL',
    `The token of the feed of ${name} must have from 1 to ${MOST_TOKEN_CHARACTERS} characters that can be stored.`,
  );
}

/** The mappings of instances, and where their scripts run. */
export interface MappedCalls extends Pick<MappingPorts, 'inForce'> {
  readonly sandbox: Pick<Sandbox, 'run'>;
}

/** Tools have no mappings, and no scripts. */
const NO_MAPPINGS: MappedCalls = {
  inForce: async () => NO_MAPPINGS_IN_FORCE,
  sandbox: { run: () => Promise.reject(new Error('Nothing runs scripts here')) },
};

/** Limits of the budgets that processes share, for tests and measurements. */
export type RateBudgetRole = Partial<RateBudgetOptions>;

/** The budgets of rate limits that all processes share, with the purge of their rows. */
export function composeRateBudgets(
  { knex, notifier, log, clock, metrics }: Pick<Platform, 'knex' | 'notifier' | 'log' | 'clock' | 'metrics'>,
  options?: RateBudgetRole,
) {
  const store = createBudgetStore(knex);
  const budgets = createRateBudgets({
    clock,
    sharing: { store, notifier, log, options },
    counts: createBudgetCounts(metrics),
  });
  measureBudgets(budgets.countHeld, metrics);
  return { ...budgets, purge: store.purge };
}

/** Creates the normalised calls on instances. Each finds the object, calls the provider, and returns records in the form of the API. */
export function composeResources(
  { clock, keys }: Pick<Platform, 'clock'> & { readonly keys: Pick<PlatformKeys, 'seal' | 'open'> },
  given: CallNeighbours & { readonly rateBudgets?: RateBudgets },
  { inForce, sandbox }: MappedCalls = NO_MAPPINGS,
) {
  const { rateBudgets = createRateBudgets({ clock }) } = given;
  const neighbours = { ...given, rateBudgets };
  const catalog = createCatalog(clock, { inForce, scriptOf: createMappingScripts(sandbox) });
  const prepare = createQueryCache();
  const pageTokens = createPageTokens(keys);

  async function open(target: ObjectTarget, action: Action): Promise<OpenedQuery> {
    const call = startCall(neighbours, target.instance, target.signal, `${action} ${target.objectName}`, target.tally);
    const { failsOnScriptError, vendorRows } = target;
    if (failsOnScriptError === true || vendorRows !== undefined) {
      const isStrict = failsOnScriptError === true;
      call.tally.mapping = { values: new Map(), scripts: 0, isStrict, ...(vendorRows && { vendorRows }) };
    }
    const { object, mapped } = await catalog.getObject(call, target.objectName);
    return { call, object, mapped, keepsFilter: target.keepsFilter === true };
  }

  async function openList(target: ObjectTarget): Promise<OpenedList> {
    const opened = await open(target, 'list');
    const operation = opened.object.list ?? refuseOperation(target, opened.object, 'list');
    // A page token belongs to the version of the mapping that made its page.
    const version = opened.mapped?.mapping.version;
    const path = version === undefined ? target.objectName : `${target.objectName}@${version}`;
    return { ...opened, operation, path };
  }

  async function openChildren(target: ChildTarget): Promise<OpenedList> {
    const { objectName, id, child: name } = target;
    const { call, object, keepsFilter } = await open(target, `list ${name} of`);
    const found = getChild(target, object, name);
    const child = await catalog.complete(call, found.name, found.child);
    const shown = { instance: target.instance, objectName: `${objectName}/…/${found.name}` };
    const operation = child.list ?? refuseOperation(shown, child, 'list');
    return { call, object: child, keepsFilter, operation, path: `${objectName}/${id}/${found.name}`, parentId: id };
  }

  /** Prepares a query, with the values that the script of a mapping gives to its filter. */
  async function prepareChanged({ call, object, mapped, keepsFilter }: OpenedQuery, text: QueryText): Promise<Query> {
    const changeFilter = keepsFilter ? undefined : mapped?.changeFilter;
    if (changeFilter === undefined || (text.where === undefined && text.also === undefined))
      return prepare(object, text);
    const parsed = parseQuery(text, object);
    const { tally, signal } = call;
    tally.mapping ??= { values: new Map(), scripts: 0 };
    const change = await changeFilter(parsed.condition, tally.mapping, signal);
    return prepare(object, text, change && { parsed, change });
  }

  /** Checks and plans a query. */
  async function plan(opened: OpenedQuery, text: QueryText, pushdownOnly: boolean): Promise<Query> {
    const span = currentSpan()?.child({ name: 'plan' });
    try {
      const query = await prepareChanged(opened, text);
      if (pushdownOnly) assertFullyPushed(query.plan);
      span?.end(() => ({ attributes: { 'causeway.pushdown': query.pushdown } }));
      return query;
    } catch (error) {
      span?.end(() => ({ errorType: errorTypeOf(error) }));
      throw error;
    }
  }

  async function list(opened: OpenedList | Promise<OpenedList>, request: ListRequest): Promise<RecordList> {
    const list = await opened;
    const { call, object, operation, path, parentId } = list;
    const { where, orderBy, fields } = request;
    const also = request.parameters && parametersAsFilter(path, object, request.parameters);
    const query = await plan(list, { where, also, orderBy, fields }, request.pushdownOnly);
    const { instance } = call;
    const scope = { accountId: instance.accountId, instanceId: instance.id, object: path, query: query.canonical };
    const { pageSize, maxProviderCalls, page = 1 } = request;
    const resultWindow = object.limits?.resultWindow;
    // A token contains the whole position, so a page number beside it has no meaning (decisions D16).
    const start =
      request.nextPage === undefined
        ? firstPosition(query, operation, { page, pageSize, resultWindow })
        : pageTokens.open(request.nextPage, scope);
    const input = { list: operation, query, pageSize, start, maxProviderCalls, resultWindow, parentId };
    const { records, bytes, next, total, cutBy } = await scan(call, input);
    const { pushdown } = query;
    const trace = currentTrace();
    if (trace !== undefined) {
      trace.pushdown = pushdown;
      trace.rows = records.length;
    }
    const nextPage = next && pageTokens.seal(next, scope);
    return { records, bytes, nextPage, totalCount: total, pushdown, cutBy, ...call.tally };
  }

  /** Returns the first request of a bulk job, if there are enough rows for it. */
  function explainBulk(instance: ConnectedInstance, query: Query, { native, reason }: NativeFit): BulkExplanation {
    if (native === undefined) return { way: 'paging', reason };
    const request = native.start.request(toNativeInput(query, nativeStart(native)), instance.config);
    return { way: 'native', fromRows: native.fromRows, request: neighbours.client.preview(instance, request) };
  }

  return {
    ...createRecordCalls(open),
    ...createWalks({ open, openList, prepare: prepareChanged }),

    /** Returns the provider's objects and the mapped ones. */
    listObjects: async ({ instance, signal }: Omit<ObjectTarget, 'objectName'>) =>
      catalog.listObjects(startCall(neighbours, instance, signal, undefined)),

    getObject: async ({ instance, objectName, signal }: ObjectTarget) =>
      (await catalog.getObject(startCall(neighbours, instance, signal, undefined), objectName)).object,

    /**
     * Returns the fields of an object: of the mapped one (`isMapped`), or of the provider's of that name. It is the same value while the object
     * stays as it is. Discovered objects may need a call to the provider.
     * @throws AppError as `getObject`
     */
    getFields: async (
      { instance, objectName, signal }: ObjectTarget,
      isMapped: boolean,
    ): Promise<ObjectSpec['fields']> => {
      const call = startCall(neighbours, instance, signal, undefined);
      const { object, mapped } = await catalog.getObject(call, objectName);
      return mapped !== undefined && !isMapped ? mapped.vendor.fields : object.fields;
    },

    /**
     * Reads the objects of the provider anew, past the cache. `describe` completes one of them. Mappings are left out.
     * @throws AppError as `getObject`
     */
    inspect: async ({ instance, signal, tally }: Omit<ObjectTarget, 'objectName'>): Promise<Inspection> => {
      const call = startCall(neighbours, instance, signal, undefined, tally);
      const objects = await catalog.readAgain(call);
      return { objects, describe: (name, object) => catalog.complete(call, name, object) };
    },

    /** Drops the cached objects of an instance in this process. */
    forgetObjects: catalog.forget,

    /** Returns the version of the mapping that makes an object of an instance; undefined where nothing maps it. */
    mappingVersionOf: async (instance: ConnectedInstance, objectName: string): Promise<string | undefined> =>
      (await inForce(instance)).byName.get(objectName)?.version,

    /**
     * Returns a child object.
     * @throws AppError NOT_FOUND
     */
    getChild: async (target: ObjectTarget, name: string) => {
      const call = startCall(neighbours, target.instance, target.signal, undefined);
      const { object } = await catalog.getObject(call, target.objectName);
      const found = getChild(target, object, name);
      return { name: found.name, child: await catalog.complete(call, found.name, found.child) };
    },

    listRecords: (target: ObjectTarget, request: ListRequest) => list(openList(target), request),
    listChildren: async (target: ChildTarget, request: ListRequest) => {
      const opened = await openChildren(target);
      return belowRecord(target, list(opened, request));
    },

    /**
     * Returns a page of the changes that the provider reports itself. `cursor` is the provider's.
     * @throws AppError OPERATION_UNSUPPORTED where it reports none
     */
    listChanges: async (target: ObjectTarget, input: ChangesInput): Promise<ChangeList> => {
      const { call, object } = await open(target, 'list changes of');
      const feed = object.changes?.feed;
      if (feed === undefined) {
        const { connector } = target.instance;
        throw new AppError('OPERATION_UNSUPPORTED', `${connector.name} reports no changes of ${target.objectName}.`);
      }
      const { changes, next, until, token } = await call.execute(feed, input);
      if (token !== undefined) assertFeedToken(token, target.instance.connector);
      const { map } = prepare(object, {}).steps;
      const pacer = createPacer(target.signal);
      const mapped: MappedChange[] = [];
      for (const { record, ...change } of changes) {
        if (pacer.isDue()) await pacer.pause();
        call.assertMembers(record);
        mapped.push(record === undefined ? change : { ...change, record: map(record) });
      }
      const position = { ...(next !== undefined && { next }), ...(until !== undefined && { until }) };
      return { changes: mapped, ...position, ...(token !== undefined && { token }), ...call.tally };
    },

    /**
     * Returns the mapped form of a change of a provider's object, if one of the names is that of an object that maps it. Discovered objects
     * may need a call to the provider.
     * @throws AppError as discovery does
     */
    mapChange: async (
      { instance, signal }: Omit<ObjectTarget, 'objectName'>,
      {
        names,
        vendorName,
        record,
      }: { readonly names: readonly string[]; readonly vendorName: string; readonly record?: Row | undefined },
    ) => {
      if (names.length === 0) return undefined;
      const { byName } = await inForce(instance);
      const objectName = names.find((name) => byName.get(name)?.vendorName === vendorName);
      if (objectName === undefined || record === undefined)
        return objectName === undefined ? undefined : { objectName };
      const { mapped } = await catalog.getObject(startCall(neighbours, instance, signal, undefined), objectName);
      if (mapped === undefined) return undefined;
      return { objectName, record: await mapped.toMapped(record, { values: new Map(), scripts: 0 }, signal) };
    },

    /**
     * Transforms a record as a mapping in force does, without a call for it. `write` is the write whose body the payload is.
     * @throws AppError NOT_FOUND for an object that is not mapped; what the write throws before it calls the provider
     */
    tryMapping: async (target: ObjectTarget, payload: Row, write?: 'create' | 'update' | 'replace') => {
      const { instance, objectName, signal } = target;
      const call = startCall(neighbours, instance, signal, undefined);
      const { mapped } = await catalog.getObject(call, objectName);
      if (mapped === undefined) {
        throw new AppError(
          'NOT_FOUND',
          `'${cutText(objectName)}' is an object of the provider, and no transformation maps it.`,
        );
      }
      const faults: MappingFaults = { values: new Map(), scripts: 0 };
      if (write === undefined) return { record: await mapped.toMapped(payload, faults, signal), faults };
      requireWrite(target, mapped, write);
      const action = write === 'create' ? 'create' : 'update';
      const { row } = await mapped.toVendor(judgeBody(payload, mapped, action), { action, faults, signal });
      return { record: row, faults };
    },

    /** Explains how a query would be processed, without sending it. It also works for a disabled instance. */
    explain: async ({ instance, objectName, signal }: ObjectTarget, request: QueryText) => {
      const call = startCall(neighbours, instance, signal, undefined);
      const { object, mapped } = await catalog.getObject(call, objectName);
      const operation = object.list ?? refuseOperation({ instance, objectName }, object, 'list');
      const { resultWindow } = object.limits ?? {};
      const query = await prepareChanged({ call, object, mapped, keepsFilter: false }, request);
      const explained = explainQuery(neighbours.client, { instance, operation, query, resultWindow });
      const fit = judgeNative(object, query, undefined);
      const bulk = fit !== undefined && { bulk: explainBulk(instance, query, fit) };
      return { explanation: { objectName, ...explained, ...bulk }, mapping: call.tally.mapping };
    },

    /**
     * Makes one cheap call with the credentials of the instance.
     * @throws AppError as calls to the provider
     */
    ping: async ({ instance, signal }: Omit<ObjectTarget, 'objectName'>) => {
      const call = startCall(neighbours, instance, signal, 'ping');
      await call.send(instance.connector.probe);
      return call.tally;
    },

    /** Passes a request to the provider on, with the authentication of the instance. */
    pass: async ({ instance, signal }: Omit<ObjectTarget, 'objectName'>, request: PassedRequest) => {
      const call = startCall(neighbours, instance, signal, 'passthrough');
      const response = await call.pass(request);
      return { response, report: call.tally };
    },

    /** Returns the rate limit of an instance, as the provider last reported it to any process, until it is renewed. */
    rateLimitOf: rateBudgets.find,
  };
}

/** The normalised calls on instances. */
export type Resources = ReturnType<typeof composeResources>;

/** @throws AppError REQUEST_INVALID for a parameter that the object does not have */
function parametersAsFilter(
  objectName: string,
  { parameters = {} }: ObjectSpec,
  given: NonNullable<ListRequest['parameters']>,
): string | undefined {
  const terms = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
  const strange = terms.filter(({ name }) => !Object.hasOwn(parameters, name));
  if (strange.length > 0) {
    const known = Object.keys(parameters).join(', ') || 'none';
    const details = strange.map(({ name }) => ({
      path: pointer('query', name),
      message: 'is not one of its parameters',
    }));
    throw new AppError('REQUEST_INVALID', `'${objectName}' of this element accepts the parameters: ${known}.`, {
      details,
    });
  }
  if (terms.length === 0) return undefined;
  return terms.map(({ name, value }) => `\`${name}\` = ${quoteText(value)}`).join(' AND ');
}
