import type { PassedAnswer, PassedRequest } from '../connector/client/index.ts';
import type { ListOperation, ObjectSpec, Objects } from '../connector/index.ts';
import { createOffload } from '../connector/offload/index.ts';
import { AppError, isAppError } from '../errors.ts';
import { assertFullyPushed, type PreparedQuery, type QueryText, type Row } from '../where/index.ts';
import { getChild, requireOperation } from './abilities.ts';
import { type CallReport, type InstanceCall, startCall } from './call.ts';
import { createCatalog } from './catalog.ts';
import { explainQuery, type QueryExplanation } from './explain.ts';
import { chooseFile, describeFile, fetchFile, type RecordFile } from './media.ts';
import { openPosition, type Position, sealPosition, type TokenScope } from './page-token.ts';
import type { ConnectedInstance, ResourcePorts } from './ports.ts';
import { createQueryCache, type Query } from './query-cache.ts';
import { holdsReadOnly, writeRecord } from './record.ts';
import { sizeOf } from './row-size.ts';
import { firstPosition, type PartialReason, scan } from './scan.ts';

/** Which record or list of an instance a request is about. */
export interface Target {
  readonly instance: ConnectedInstance;
  readonly objectName: string;
  /** Aborts when the caller hangs up, and at the end of the request: what its answer holds is counted until then. */
  readonly signal: AbortSignal;
}

export interface ChildTarget extends Target {
  /** Of the record above. */
  readonly id: string;
  readonly child: string;
}

export interface ListRequest {
  readonly where?: string | undefined;
  readonly orderBy?: string | undefined;
  readonly fields?: string | undefined;
  readonly page?: number | undefined;
  readonly pageSize: number;
  readonly nextPage?: string | undefined;
  readonly maxProviderCalls: number;
  /** Refuse what the provider cannot answer alone. */
  readonly pushdownOnly: boolean;
}

export interface RecordList extends CallReport {
  readonly records: readonly Row[];
  readonly nextPage?: string;
  readonly totalCount?: number;
  readonly pushdown: 'full' | 'partial' | 'none';
  readonly cutBy?: PartialReason;
}

export interface OneRecord extends CallReport {
  readonly record: Row;
}

export interface Resources {
  readonly listObjects: (target: Omit<Target, 'objectName'>) => Promise<Objects>;
  readonly getObject: (target: Target) => Promise<ObjectSpec>;
  readonly listRecords: (target: Target, request: ListRequest) => Promise<RecordList>;
  readonly listChildren: (target: ChildTarget, request: ListRequest) => Promise<RecordList>;
  /** How the query would be answered; it is not sent. Answers for a disabled instance too. */
  readonly explain: (target: Target, query: QueryText) => Promise<QueryExplanation & { readonly objectName: string }>;
  /** One cheap call with the credentials of the instance; it fails as the provider does. */
  readonly ping: (target: Omit<Target, 'objectName'>) => Promise<CallReport>;
  readonly getRecord: (target: Target, id: string) => Promise<OneRecord>;
  /** The record or its file, as the `Accept` header has it. @throws AppError NOT_ACCEPTABLE */
  readonly getRecordOrFile: (target: Target, id: string, accept: string | undefined) => Promise<OneRecord | RecordFile>;
  readonly createRecord: (target: Target, body: Row) => Promise<OneRecord>;
  readonly updateRecord: (target: Target, id: string, body: Row) => Promise<OneRecord>;
  readonly replaceRecord: (target: Target, id: string, body: Row) => Promise<OneRecord>;
  readonly deleteRecord: (target: Target, id: string) => Promise<CallReport>;
  /** Any request to the provider, made as the instance. */
  readonly pass: (
    target: Omit<Target, 'objectName'>,
    request: PassedRequest,
  ) => Promise<{ readonly answer: PassedAnswer; readonly report: CallReport }>;
}

/** Normalised calls on an instance: each finds the object, does its work at the provider and answers our records. */
export function createResources(ports: ResourcePorts): Resources {
  const catalog = createCatalog({ now: ports.now, offload: createOffload() });
  const prepare = createQueryCache();

  async function open(target: Target, action: Action): Promise<Opened> {
    const call = startCall(ports, target.instance, target.signal, `${action} ${target.objectName}`);
    const object = await catalog.getObject(call, target.objectName);
    return { call, object };
  }

  async function list(call: InstanceCall, found: FoundList, request: ListRequest): Promise<RecordList> {
    const { object, operation, parentId } = found;
    const query = prepare(object, request);
    const resultWindow = object.limits?.resultWindow;
    if (request.pushdownOnly) assertFullyPushed(query.plan);
    const scope = scopeOf(call.instance, found.path, query);
    const result = await scan(call, {
      list: operation,
      plan: query.plan,
      steps: query.steps,
      pageSize: request.pageSize,
      start: startOf(ports, request, scope, { operation, query, resultWindow }),
      maxProviderCalls: request.maxProviderCalls,
      resultWindow,
      parentId,
    });
    return {
      records: result.records,
      ...(result.next !== undefined && { nextPage: sealPosition(ports, result.next, scope) }),
      ...(result.total !== undefined && { totalCount: result.total }),
      pushdown: query.plan.sortPushed ? query.plan.pushdown : withoutSort(query.plan.pushdown),
      ...(result.cutBy !== undefined && { cutBy: result.cutBy }),
      ...call.report(),
    };
  }

  function answer(call: InstanceCall, object: ObjectSpec, native: unknown): OneRecord {
    const record = prepare(object, {}).steps.map(native);
    call.keep(sizeOf(record));
    return { record, ...call.report() };
  }

  async function readRecord(target: Target, id: string, { call, object }: Opened): Promise<OneRecord> {
    const operation = requireOperation(target, object, 'get');
    const { fields } = prepare(object, {});
    return answer(call, object, await onRecord(target, id, call.execute(operation, { id, fields })));
  }

  async function write(target: Target, action: 'update' | 'replace', id: string, body: Row): Promise<OneRecord> {
    const { call, object } = await open(target, action);
    const operation = requireOperation(target, object, action);
    const isJudged = object.get !== undefined && holdsReadOnly(body, object);
    const stored = isJudged ? (await readRecord(target, id, { call, object })).record : undefined;
    const values = writeRecord(body, object, 'update', stored);
    const { fields } = prepare(object, {});
    const record = await onRecord(target, id, call.execute(operation, { id, values, fields }));
    return answer(call, object, record);
  }

  return {
    listObjects: async ({ instance, signal }) => catalog.getObjects(startCall(ports, instance, signal, undefined)),

    getObject: async ({ instance, objectName, signal }) =>
      catalog.getObject(startCall(ports, instance, signal, undefined), objectName),

    listRecords: async (target, request) => {
      const { call, object } = await open(target, 'list');
      const operation = requireOperation(target, object, 'list');
      return list(call, { object, operation, path: target.objectName }, request);
    },

    listChildren: async (target, request) => {
      const { call, object } = await open(target, `list ${target.child} of`);
      const objectName = `${target.objectName}/…/${target.child}`;
      const child = await catalog.complete(call, target.child, getChild(target, object, target.child));
      const operation = requireOperation({ ...target, objectName }, child, 'list');
      const path = `${target.objectName}/${target.id}/${target.child}`;
      return belowRecord(target, list(call, { object: child, operation, path, parentId: target.id }, request));
    },

    explain: async ({ instance, objectName, signal }, request) => {
      const call = startCall(ports, instance, signal, undefined);
      const object = await catalog.getObject(call, objectName);
      const operation = requireOperation({ instance, objectName }, object, 'list');
      return {
        objectName,
        ...explainQuery(ports.client, {
          instance,
          operation,
          query: prepare(object, request),
          resultWindow: object.limits?.resultWindow,
        }),
      };
    },

    ping: async ({ instance, signal }) => {
      const call = startCall(ports, instance, signal, 'ping');
      await call.send(instance.connector.probe);
      return call.report();
    },

    getRecord: async (target, id) => readRecord(target, id, await open(target, 'get')),

    getRecordOrFile: async (target, id, accept) => {
      const opened = await open(target, 'get');
      const file = chooseFile(target.objectName, opened.object, accept);
      if (file === undefined) return readRecord(target, id, opened);
      const described = { objectName: target.objectName, id, file, accept };
      const known = await onRecord(target, id, describeFile(opened.call, described));
      if (known === undefined) return readRecord(target, id, opened);
      return onRecord(target, id, fetchFile(opened.call, known, id));
    },

    createRecord: async (target, body) => {
      const { call, object } = await open(target, 'create');
      const operation = requireOperation(target, object, 'create');
      const values = writeRecord(body, object, 'create');
      const { fields } = prepare(object, {});
      return answer(call, object, await call.execute(operation, { values, fields }));
    },

    updateRecord: (target, id, body) => write(target, 'update', id, body),
    replaceRecord: (target, id, body) => write(target, 'replace', id, body),

    pass: async ({ instance, signal }, request) => {
      const call = startCall(ports, instance, signal, 'passthrough');
      const answer = await call.pass(request);
      return { answer, report: call.report() };
    },

    deleteRecord: async (target, id) => {
      const { call, object } = await open(target, 'delete');
      await onRecord(target, id, call.execute(requireOperation(target, object, 'remove'), { id }));
      return call.report();
    },
  };
}

type Action = 'list' | 'get' | 'create' | 'update' | 'replace' | 'delete' | `list ${string} of`;

interface Opened {
  readonly call: InstanceCall;
  readonly object: ObjectSpec;
}

interface FoundList {
  readonly object: ObjectSpec;
  readonly operation: ListOperation<unknown>;
  /** Tells lists of one instance apart. */
  readonly path: string;
  readonly parentId?: string;
}

function scopeOf(instance: ConnectedInstance, path: string, query: PreparedQuery): TokenScope {
  return { accountId: instance.accountId, instanceId: instance.id, object: path, query: query.canonical };
}

/** The caller's page, as a place in the provider's paging; a token says all, and a page beside it means nothing (decisions D16). */
function startOf(
  ports: ResourcePorts,
  request: ListRequest,
  scope: TokenScope,
  { operation, query, resultWindow }: StartedQuery,
): Position {
  if (request.nextPage !== undefined) return openPosition(ports, request.nextPage, scope);
  return firstPosition(query.plan, operation, { page: request.page ?? 1, pageSize: request.pageSize, resultWindow });
}

interface StartedQuery {
  readonly operation: ListOperation<unknown>;
  readonly query: Query;
  readonly resultWindow: number | undefined;
}

function withoutSort(pushdown: RecordList['pushdown']): RecordList['pushdown'] {
  return pushdown === 'full' ? 'partial' : pushdown;
}

/** A provider's "not found" says which record it was. */
function onRecord<Result>({ objectName }: Target, id: string, work: Promise<Result>): Promise<Result> {
  return onNotFound(work, `There is no record '${id}' in '${objectName}'.`);
}

/** That there is nothing below a record does not say that there is no record. */
function belowRecord<Result>({ objectName, id, child }: ChildTarget, work: Promise<Result>): Promise<Result> {
  return onNotFound(
    work,
    `There are no '${child}' of the record '${id}' in '${objectName}': there is no such record, or nothing of it that this instance may see.`,
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
