import type { CallTally, MappingFaults, PassedRequest } from '../connector/client/index.ts';
import type { ChangesInput, Connector, RecordChange } from '../connector/contract.ts';
import type {
  IngestRows,
  IngestStart,
  ListOperation,
  NativeBulk,
  NativeEnd,
  NativeIngest,
  ObjectSpec,
  Objects,
  StoredUpload,
} from '../connector/index.ts';
import type { PlatformKeys } from '../db/platform-keys.ts';
import { isStorable } from '../db/storable.ts';
import { AppError, cutText, isAppError, pointer } from '../errors.ts';
import { createPacer } from '../pace.ts';
import type { Platform } from '../platform.ts';
import type { Sandbox } from '../scripts/index.ts';
import { currentSpan, currentTrace, errorTypeOf } from '../trace.ts';
import {
  assertFullyPushed,
  type Plan,
  type PushedField,
  parseQuery,
  print,
  type QueryText,
  quoteText,
  type Row,
} from '../where/index.ts';
import { type CallNeighbours, type CallReport, type ConnectedInstance, type InstanceCall, startCall } from './call.ts';
import { createCatalog, type MappingPorts, NO_MAPPINGS_IN_FORCE } from './catalog.ts';
import { bodyOf, isMappedObject } from './mapped.ts';
import { createMappingScripts } from './mapping-scripts.ts';
import { chooseFile, describeFile, fetchFile, type RecordFile } from './media.ts';
import { endJob, judgeResults } from './native-job.ts';
import { goOnNatively, judgeNative, type NativeFit, nativeStart, toNativeInput } from './native-walk.ts';
import { getChild, requireOperation } from './objects.ts';
import {
  type BulkExplanation,
  createPageTokens,
  explainQuery,
  firstPosition,
  type Position,
  predictNext,
} from './page.ts';
import { createQueryCache, type Query, wholeRecord } from './query.ts';
import type { RateBudgetOptions } from './rate-budget/budget.ts';
import { createBudgetStore } from './rate-budget/budget-store.ts';
import { createRateBudgets, type RateBudgets } from './rate-budget/index.ts';
import { createBudgetCounts, measureBudgets } from './rate-budget/rate-metrics.ts';
import { holdsReadOnly, sizeOf, writeRecord } from './record.ts';
import { type PartialReason, scan } from './scan.ts';
import { assertTakesJson, type FileForm, readTexts, refuseFile } from './upload.ts';

/** The record or the list of an instance that a request is about. */
export interface ObjectTarget {
  readonly instance: ConnectedInstance;
  readonly objectName: string;
  /** Aborts when the caller closes the connection, and at the end of the request. The memory of responses is counted until then. */
  readonly signal: AbortSignal;
  /** Counts the calls to the provider, also when the request fails. */
  readonly tally?: CallTally;
  /** Whether the first row whose script fails ends the request. Default: the row is returned without the script. */
  readonly failsOnScriptError?: boolean;
  /**
   * Whether filters are sent without the changes that the script of a mapping makes. Polls need that: a change that a changed filter does not
   * find would be lost. Default false.
   */
  readonly keepsFilter?: boolean;
  /** Receives the provider's records, in the form of the API, by the mapped records of a list. */
  readonly vendorRows?: WeakMap<Row, Row>;
}

/** A list below a record. */
export interface ChildTarget extends ObjectTarget {
  /** The id of the parent record. */
  readonly id: string;
  readonly child: string;
}

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

/** A single record, as the API returns it. */
export interface OneRecord extends CallReport {
  readonly record: Row;
}

/** A query that is followed page by page to its end. */
export interface WalkRequest extends QueryText {
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
  /** The version of the mapping that the walk began with. A page by another one is not read. */
  readonly mappingVersion?: string | undefined;
}

/** The facts about a walk that are known before its first page. */
export interface Walk {
  readonly object: ObjectSpec;
  /** The fields of the rows, in this order. */
  readonly fields: readonly PushedField[];
  readonly start: Position;
  /** Identifies walks that can share positions: the same query, sent to the provider in the same way. */
  readonly key: string;
  /** The version of the mapping of a mapped object. */
  readonly mappingVersion?: string | undefined;
  /** Maximum number of its pages that may be requested at a time. If it is more than one, `behind` predicts positions. */
  readonly pagesAtOnce: number;
  /** Predicts the position of the page after a given one, if that one is full. Undefined where it cannot be predicted. */
  readonly behind: (position: Position) => Position | undefined;
}

/** The jobs of the provider that write rows. */
export interface IngestCall extends Pick<IngestStart, 'action' | 'key'> {
  readonly ingest: NativeIngest;
}

/** One page of a walk. */
export interface WalkedPage extends CallReport {
  readonly records: readonly Row[];
  /** The position of the next page. It is absent at the end. */
  readonly next?: Position;
  /** Number of rows of the query, where the provider reports it. */
  readonly total?: number;
  /** The approximate memory of the records in bytes. */
  readonly bytes: number;
  /** Milliseconds to wait before `next` can be read, because a job of the provider is running. */
  readonly waitMs?: number;
  /**
   * Whether the provider lost its job, with the rows that were not read yet. Then the walk begins again and skips the rows that were read.
   */
  readonly isLost?: true;
  /** Whether the mapping changed since the walk began. Then nothing was read, and the walk begins anew. */
  readonly isOutdated?: true;
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

/** The greatest number of rows. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;
/** Maximum rows per page when pages are requested in parallel. Larger pages only increase memory and the pauses of garbage collection. */
const MOST_ROWS_OF_SEVERAL = 500;

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
    const object = await catalog.getObject(call, target.objectName);
    return { call, object, keepsFilter: target.keepsFilter === true };
  }

  async function openList(target: ObjectTarget): Promise<OpenedList> {
    const { call, object, keepsFilter } = await open(target, 'list');
    const operation = requireOperation(target, object, 'list');
    // A page token belongs to the version of the mapping that made its page.
    const version = versionOf(object);
    const path = version === undefined ? target.objectName : `${target.objectName}@${version}`;
    return { call, object, keepsFilter, operation, path };
  }

  async function openChildren(target: ChildTarget): Promise<OpenedList> {
    const { objectName, id, child: name } = target;
    const { call, object, keepsFilter } = await open(target, `list ${name} of`);
    const found = getChild(target, object, name);
    const child = await catalog.complete(call, found.name, found.child);
    const shown = { instance: target.instance, objectName: `${objectName}/…/${found.name}` };
    const operation = requireOperation(shown, child, 'list');
    return { call, object: child, keepsFilter, operation, path: `${objectName}/${id}/${found.name}`, parentId: id };
  }

  /** Prepares a query, with the values that the script of a mapping gives to its filter. */
  async function prepareChanged({ call, object, keepsFilter }: OpenedQuery, text: QueryText): Promise<Query> {
    const hasFilter = text.where !== undefined || text.also !== undefined;
    if (keepsFilter || !hasFilter || !isMappedObject(object) || object.changeFilter === undefined)
      return prepare(object, text);
    const parsed = parseQuery(text, object);
    const { tally, signal } = call;
    tally.mapping ??= { values: new Map(), scripts: 0 };
    const change = await object.changeFilter(parsed.condition, tally.mapping, signal);
    return prepare(object, text, change && { parsed, change });
  }

  /** Checks and plans a query. */
  async function plan(opened: OpenedQuery, text: QueryText, pushdownOnly: boolean): Promise<Query> {
    const span = currentSpan()?.child({ name: 'plan' });
    try {
      const query = await prepareChanged(opened, text);
      if (pushdownOnly) assertFullyPushed(query.plan);
      span?.end(() => ({ attributes: { 'causeway.pushdown': pushdownOf(query) } }));
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
        ? firstPosition(query.plan, operation, { page, pageSize, resultWindow })
        : pageTokens.open(request.nextPage, scope);
    const input = { list: operation, query, pageSize, start, maxProviderCalls, resultWindow, parentId };
    const { records, bytes, next, total, cutBy } = await scan(call, input);
    const pushdown = pushdownOf(query);
    noteList(pushdown, records.length);
    return {
      records,
      bytes,
      nextPage: next && pageTokens.seal(next, scope),
      totalCount: total,
      pushdown,
      cutBy,
      ...call.tally,
    };
  }

  async function openWalk(target: ObjectTarget, { where, also, orderBy, fields }: WalkRequest) {
    const opened = await openList(target);
    const query = await prepareChanged(opened, { where, also, orderBy, fields });
    assertSortPushed(query.plan);
    return { ...opened, query };
  }

  /** Returns the first request of a bulk job, if there are enough rows for it. */
  function explainBulk(instance: ConnectedInstance, query: Query, { native, reason }: NativeFit): BulkExplanation {
    if (native === undefined) return { way: 'paging', reason };
    const request = native.start.request(toNativeInput(query, nativeStart(native)), instance.config);
    return { way: 'native', fromRows: native.fromRows, request: neighbours.client.preview(instance, request) };
  }

  function toRecord(call: InstanceCall, object: ObjectSpec, native: unknown): OneRecord {
    call.assertMembers(native);
    const record = wholeRecord(object).map(native);
    call.keep(sizeOf(record));
    return { record, ...call.tally };
  }

  async function readRecord(target: ObjectTarget, id: string, { call, object }: Opened): Promise<OneRecord> {
    const operation = requireOperation(target, object, 'get');
    const { fields } = wholeRecord(object);
    return toRecord(call, object, await onRecord(target, id, call.execute(operation, { id, fields })));
  }

  /**
   * Returns the values of a request in the fields of an object. Writes and their try-outs share it.
   * @throws AppError REQUEST_INVALID that names the members that cannot be written
   */
  function judgeBody(body: Row, object: ObjectSpec, action: 'create' | 'update', stored?: Row): Row {
    return writeRecord(body, bodyOf(object), action, stored);
  }

  /** Asserts that the object has an operation that takes JSON. */
  function requireWrite<Name extends 'create' | 'update' | 'replace'>(
    target: ObjectTarget,
    object: ObjectSpec,
    action: Name,
  ) {
    if (action !== 'update') assertTakesJson(target.objectName, object, action);
    return requireOperation(target, object, action);
  }

  /** Returns the values of an update. A record may be sent back as it was read. */
  async function judgeUpdate(target: ObjectTarget, id: string, body: Row, { call, object }: Opened): Promise<Row> {
    const isJudged = object.get !== undefined && holdsReadOnly(body, bodyOf(object));
    const stored = isJudged ? (await readRecord(target, id, { call, object })).record : undefined;
    return judgeBody(body, object, 'update', stored);
  }

  async function write(target: ObjectTarget, action: 'update' | 'replace', id: string, body: Row): Promise<OneRecord> {
    const { call, object } = await open(target, action);
    const operation = requireWrite(target, object, action);
    const values = await judgeUpdate(target, id, body, { call, object });
    const { fields } = wholeRecord(object);
    const record = await onRecord(target, id, call.execute(operation, { id, values, fields }));
    return toRecord(call, object, record);
  }

  /** Returns the record as it is stored. Some providers return only its id. */
  async function readUploaded(target: ObjectTarget, opened: Opened, stored: StoredUpload): Promise<OneRecord> {
    if ('record' in stored) return toRecord(opened.call, opened.object, stored.record);
    return readRecord(target, stored.id, opened);
  }

  return {
    /** Returns the provider's objects and the mapped ones. */
    listObjects: async ({ instance, signal }: Omit<ObjectTarget, 'objectName'>) =>
      catalog.listObjects(startCall(neighbours, instance, signal, undefined)),

    getObject: async ({ instance, objectName, signal }: ObjectTarget) =>
      catalog.getObject(startCall(neighbours, instance, signal, undefined), objectName),

    /**
     * Returns the fields of an object: of the mapped one (`isMapped`), or of the provider's of that name. It is the same value while the object
     * stays as it is. Discovered objects may need a call to the provider.
     * @throws AppError as `getObject`
     */
    getFields: async (
      { instance, objectName, signal }: ObjectTarget,
      isMapped: boolean,
    ): Promise<ObjectSpec['fields']> => {
      const object = await catalog.getObject(startCall(neighbours, instance, signal, undefined), objectName);
      return isMappedObject(object) && !isMapped ? object.vendor.fields : object.fields;
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
      const found = getChild(target, await catalog.getObject(call, target.objectName), name);
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
     * Plans a walk.
     * @throws AppError WHERE_UNSUPPORTED for an order that the provider does not support, because not all rows can be sorted here
     */
    planWalk: async (target: ObjectTarget, request: WalkRequest): Promise<Walk> => {
      const { object, operation, query } = await openWalk(target, request);
      const { pagesAtOnce = 1 } = operation;
      const mappingVersion = versionOf(object);
      const { resultWindow } = object.limits ?? {};
      const paged = pagedStart({ object, operation, query }, request);
      const { native } = judgeNative(object, query, request.limit) ?? {};
      return {
        object,
        fields: query.fields,
        start: native === undefined ? paged : nativeStart(native),
        key: walkKey(query, paged, mappingVersion),
        mappingVersion,
        pagesAtOnce,
        behind: (position) =>
          position.native === undefined ? predictNext(operation, position, resultWindow) : undefined,
      };
    },

    /**
     * Reads a page of a walk and returns its matching rows. The page ends with the provider's page, so the position of a row is the page's,
     * with as many matches to skip as there are rows before it.
     * @throws AppError as `planWalk` and as calls to the provider; WHERE_UNSUPPORTED where the provider returns only a part of the rows
     */
    readPage: async (target: ObjectTarget, request: WalkRequest, position: Position): Promise<WalkedPage> => {
      const opened = await openWalk(target, request);
      const { call, object, operation: list, query } = opened;
      const { mappingVersion } = request;
      if (mappingVersion !== undefined && versionOf(object) !== mappingVersion)
        return { records: [], bytes: 0, next: position, isOutdated: true, ...call.tally };
      const { native: step } = position;
      if (step !== undefined) {
        const native = requireNative(target, object, 'query');
        const paged = pagedStart(opened, request);
        const part = await goOnNatively(call, { native, query, position: { ...position, native: step }, paged });
        return { ...part, ...call.tally };
      }
      const { resultWindow } = object.limits ?? {};
      const input = { list, query, start: position, resultWindow, pageSize: ANY_NUMBER, maxProviderCalls: 1 };
      const { records, bytes, next, total, cutBy } = await scan(call, input);
      if (cutBy === 'result-window') throw hiddenFromWalk(target, resultWindow);
      return {
        records,
        bytes,
        ...(next !== undefined && { next }),
        ...(total !== undefined && { total }),
        ...call.tally,
      };
    },

    /**
     * Stops and removes a job of the provider that was started for us.
     * @throws AppError as calls to the provider
     */
    endNative: async (
      target: ObjectTarget,
      { ability, ...end }: NativeEnd & { readonly ability: keyof NativeBulk },
    ) => {
      const { call, object } = await open(target, 'list');
      await endJob(call, requireNative(target, object, ability), end);
    },

    /**
     * Starts a job of the provider that writes rows. It sends the rows when the id of the job is stored.
     * @throws AppError as calls to the provider
     */
    startIngest: async (
      target: ObjectTarget,
      { ingest, action, key }: IngestCall,
      input: Omit<IngestStart, 'action' | 'key'>,
    ) => {
      const { call } = await open(target, action);
      await call.execute(ingest.start, { ...input, action, key });
      return call.tally;
    },
    /**
     * Requests the state of a job.
     * @throws AppError as calls to the provider; NOT_FOUND where the job no longer exists
     */
    lookAtIngest: async (target: ObjectTarget, { ingest, action }: IngestCall, id: string) => {
      const { call } = await open(target, action);
      return { look: await call.execute(ingest.look, { id }), ...call.tally };
    },
    /**
     * Returns the outcomes of the rows of a job that has ended.
     * @throws as `lookAtIngest`
     */
    readIngest: async (
      target: ObjectTarget,
      { ingest, action }: IngestCall,
      job: IngestRows & { readonly id: string },
    ) => {
      const { call } = await open(target, action);
      return { rows: await judgeResults(call, await call.execute(ingest.read, job)), ...call.tally };
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
      const object = await catalog.getObject(startCall(neighbours, instance, signal, undefined), objectName);
      if (!isMappedObject(object)) return undefined;
      return { objectName, record: await object.toMapped(record, { values: new Map(), scripts: 0 }, signal) };
    },

    /**
     * Transforms a record as a mapping in force does, without a call for it. `write` is the write whose body the payload is.
     * @throws AppError NOT_FOUND for an object that is not mapped; what the write throws before it calls the provider
     */
    tryMapping: async (target: ObjectTarget, payload: Row, write?: 'create' | 'update' | 'replace') => {
      const { instance, objectName, signal } = target;
      const call = startCall(neighbours, instance, signal, undefined);
      const object = await catalog.getObject(call, objectName);
      if (!isMappedObject(object)) {
        throw new AppError(
          'NOT_FOUND',
          `'${cutText(objectName)}' is an object of the provider, and no transformation maps it.`,
        );
      }
      const faults: MappingFaults = { values: new Map(), scripts: 0 };
      if (write === undefined) return { record: await object.toMapped(payload, faults, signal), faults };
      requireWrite(target, object, write);
      const action = write === 'create' ? 'create' : 'update';
      const { row } = await object.toVendor(judgeBody(payload, object, action), { action, faults, signal });
      return { record: row, faults };
    },

    /** Explains how a query would be processed, without sending it. It also works for a disabled instance. */
    explain: async ({ instance, objectName, signal }: ObjectTarget, request: QueryText) => {
      const call = startCall(neighbours, instance, signal, undefined);
      const object = await catalog.getObject(call, objectName);
      const operation = requireOperation({ instance, objectName }, object, 'list');
      const { resultWindow } = object.limits ?? {};
      const query = await prepareChanged({ call, object, keepsFilter: false }, request);
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

    getRecord: async (target: ObjectTarget, id: string) => readRecord(target, id, await open(target, 'get')),

    /**
     * Returns the record or its file, depending on the `Accept` header.
     * @throws AppError NOT_ACCEPTABLE
     */
    getRecordOrFile: async (
      target: ObjectTarget,
      id: string,
      accept: string | undefined,
    ): Promise<OneRecord | RecordFile> => {
      const opened = await open(target, 'get');
      const file = chooseFile(target.objectName, opened.object, accept);
      if (file === undefined) return readRecord(target, id, opened);
      const described = { objectName: target.objectName, id, file, accept };
      const known = await onRecord(target, id, describeFile(opened.call, described));
      if (known === undefined) return readRecord(target, id, opened);
      return onRecord(target, id, fetchFile(opened.call, known, id));
    },

    createRecord: async (target: ObjectTarget, body: Row) => {
      const { call, object } = await open(target, 'create');
      const operation = requireWrite(target, object, 'create');
      const values = judgeBody(body, object, 'create');
      const { fields } = wholeRecord(object);
      return toRecord(call, object, await call.execute(operation, { values, fields }));
    },

    /**
     * Creates a record from a file.
     * @throws AppError UNSUPPORTED_MEDIA_TYPE for an object that accepts no files
     */
    uploadRecord: async (target: ObjectTarget, { values: given, isText, file, bytes }: FileForm) => {
      const opened = await open(target, 'upload');
      const { call, object } = opened;
      const operation = object.upload?.create ?? refuseFile(target, object, 'create');
      const values = writeRecord(isText ? readTexts(given, object) : given, object, 'create');
      const input = { values, fields: wholeRecord(object).fields, file };
      return readUploaded(target, opened, await call.upload(operation, input, bytes));
    },

    /**
     * Stores a new version of a file.
     * @throws as `uploadRecord`
     */
    uploadVersion: async (target: ObjectTarget, id: string, { values: given, isText, file, bytes }: FileForm) => {
      const opened = await open(target, 'upload');
      const { call, object } = opened;
      const operation = object.upload?.replace ?? refuseFile(target, object, 'replace');
      const values = await judgeUpdate(target, id, isText ? readTexts(given, object) : given, opened);
      const input = { id, values, fields: wholeRecord(object).fields, file };
      return readUploaded(target, opened, await onRecord(target, id, call.upload(operation, input, bytes)));
    },

    updateRecord: (target: ObjectTarget, id: string, body: Row) => write(target, 'update', id, body),
    replaceRecord: (target: ObjectTarget, id: string, body: Row) => write(target, 'replace', id, body),

    /** Passes a request to the provider on, with the authentication of the instance. */
    pass: async ({ instance, signal }: Omit<ObjectTarget, 'objectName'>, request: PassedRequest) => {
      const call = startCall(neighbours, instance, signal, 'passthrough');
      const response = await call.pass(request);
      return { response, report: call.tally };
    },

    /** Returns the rate limit of an instance, as the provider last reported it to any process, until it is renewed. */
    rateLimitOf: rateBudgets.find,

    deleteRecord: async (target: ObjectTarget, id: string) => {
      const { call, object } = await open(target, 'delete');
      await onRecord(target, id, call.execute(requireOperation(target, object, 'remove'), { id }));
      return call.tally;
    },
  };
}

/** The normalised calls on instances. */
export type Resources = ReturnType<typeof composeResources>;

/** Returns the first position of a walk that reads the pages of the list. */
function pagedStart(
  { object, operation, query }: Pick<OpenedList, 'object' | 'operation'> & { readonly query: Query },
  { limit }: WalkRequest,
): Position {
  const most = (operation.pagesAtOnce ?? 1) > 1 ? MOST_ROWS_OF_SEVERAL : ANY_NUMBER;
  const { resultWindow } = object.limits ?? {};
  return firstPosition(query.plan, operation, { page: 1, pageSize: Math.min(limit ?? ANY_NUMBER, most), resultWindow });
}

/** A connector that had jobs of its provider when a walk began may no longer have any. */
function requireNative<Ability extends keyof NativeBulk>(
  { instance, objectName }: ObjectTarget,
  { bulk }: ObjectSpec,
  ability: Ability,
): NonNullable<NativeBulk[Ability]> {
  const native = bulk?.[ability];
  if (native !== undefined) return native;
  throw new AppError('PROVIDER_PROTOCOL', `${instance.connector.name} has no jobs for '${objectName}' any more.`);
}

function pushdownOf({ plan }: Query): RecordList['pushdown'] {
  return plan.sortPushed || plan.pushdown !== 'full' ? plan.pushdown : 'partial';
}

function noteList(pushdown: RecordList['pushdown'], rows: number): void {
  const trace = currentTrace();
  if (trace === undefined) return;
  trace.pushdown = pushdown;
  trace.rows = rows;
}

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

function versionOf(object: ObjectSpec): string | undefined {
  return isMappedObject(object) ? object.mapping.version : undefined;
}

function walkKey({ canonical, plan, steps }: Query, { limit }: Position, mappingVersion: string | undefined): string {
  const asked = plan.queries.map(({ pushed }) => (pushed === undefined ? '' : print(pushed)));
  const version = mappingVersion === undefined ? [] : [mappingVersion];
  return JSON.stringify([canonical, asked, steps.fields.map(({ name }) => name), limit, ...version]);
}

function assertSortPushed({ sortPushed, orderBy }: Plan): void {
  if (sortPushed) return;
  const names = orderBy.map(({ field }) => `'${field.name}'`).join(', ');
  throw new AppError(
    'WHERE_UNSUPPORTED',
    `The provider cannot sort by ${names}, and Causeway cannot sort all rows of a bulk query. Leave out the order.`,
    { details: [{ path: '/query/orderBy', message: 'Not sortable at the provider.' }] },
  );
}

function hiddenFromWalk({ objectName }: ObjectTarget, resultWindow: number | undefined): AppError {
  return new AppError(
    'WHERE_UNSUPPORTED',
    `The provider returns at most ${resultWindow} rows for one query of '${objectName}', and this query has more. Narrow the filter.`,
  );
}

type Action =
  | 'list'
  | 'list changes of'
  | 'get'
  | 'create'
  | 'update'
  | 'upsert'
  | 'replace'
  | 'upload'
  | 'delete'
  | `list ${string} of`;

interface Opened {
  readonly call: InstanceCall;
  readonly object: ObjectSpec;
}

interface OpenedQuery extends Opened {
  /** Whether the script of a mapping does not change the filter. */
  readonly keepsFilter: boolean;
}

interface OpenedList extends OpenedQuery {
  readonly operation: ListOperation<unknown>;
  /** Distinguishes the lists of an instance. */
  readonly path: string;
  readonly parentId?: string;
}

/** Adds the id of the record to a provider's NOT_FOUND. */
function onRecord<Result>({ objectName }: ObjectTarget, id: string, work: Promise<Result>): Promise<Result> {
  return onNotFound(work, `There is no record '${id}' in '${objectName}'.`);
}

/** The message leaves open whether the record exists: the provider only says that there is nothing below it. */
function belowRecord<Result>({ objectName, id, child }: ChildTarget, work: Promise<Result>): Promise<Result> {
  return onNotFound(
    work,
    `There are no '${child}' of the record '${id}' in '${objectName}': the record does not exist, or this instance may not see it.`,
  );
}

async function onNotFound<Result>(work: Promise<Result>, message: string): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!isAppError(error, 'NOT_FOUND')) throw error;
    throw new AppError('NOT_FOUND', message, {
      ...(error.providerMessage !== undefined && { providerMessage: error.providerMessage }),
      ...(error.details !== undefined && { details: error.details }),
      cause: error,
    });
  }
}
