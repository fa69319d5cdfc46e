import { createHash } from 'node:crypto';
import type { JobFilter } from '../bulk/bulk-store.ts';
import { type FileType, type Rendition, STORED_TYPES } from '../bulk/convert.ts';
import type { DownloadRequest } from '../bulk/create-job.ts';
import type { FailedRows } from '../bulk/failed-rows.ts';
import { type BulkFile, isStored } from '../bulk/file.ts';
import type { BulkJob, RowError } from '../bulk/job.ts';
import { fileNameOf, statusOf } from '../bulk/status.ts';
import { AppError, ERROR_STATUS, type ErrorCode, invalidRequest, pointer } from '../errors.ts';
import { matchesTag, readRange } from '../http/byte-ranges.ts';
import { safeFileHeaders } from '../http/file-headers.ts';
import type { StreamResponse } from '../http/response.ts';
import { listHeaders } from '../http/response.ts';
import type { Instance } from '../instances/instance.ts';
import { chooseType } from '../resources/media.ts';
import type { ApiServices } from './api-services.ts';
import { withPointers } from './body-faults.ts';
import type { Handlers, OperationRequest, OperationResult } from './operation.ts';
import { createPageTokens, PAGE_SIZE, type PageSeal } from './page-tokens.ts';
import { inHub } from './records.ts';

const TYPES: readonly FileType[] = ['text/csv', 'application/x-ndjson', 'application/json'];

export function createBulkHandlers({ bulk }: ApiServices, seal: PageSeal) {
  const jobKeyOf = ({ instance, path }: { readonly instance: Instance; readonly path: { readonly id: number } }) => ({
    accountId: instance.accountId,
    instanceId: instance.id,
    id: path.id,
  });

  async function list(owner: Pick<JobFilter, 'accountId' | 'instanceId'>, { query, url }: JobListing) {
    const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
    const tokens = createPageTokens(seal, JSON.stringify(['bulk', owner.accountId, owner.instanceId, where]));
    const { jobs, nextBeforeId } = await bulk.list(owner, { where, limit, beforeId: tokens.read(nextPage) });
    return { body: jobs.map(toRecord), headers: listHeaders(jobs.length, { url, token: tokens.write(nextBeforeId) }) };
  }

  const direct = {
    createBulkQuery: async ({ principal: { userId }, instance, body, query, headers, signal }) => {
      const asked = { query, body };
      const request = readRequest(asked, headers[CALLBACK_HEADER]);
      const job = await withPointers(pointersIn(asked), bulk.createDownload({ instance, userId, request, signal }));
      const { id, status, instanceId } = job;
      return { body: { id, status, instanceId }, headers: headersOf(instance) };
    },

    createBulkUpload: async ({ principal, instance, path, form, headers, signal }) => {
      const { fields, bytes } = form;
      const url = headers[CALLBACK_HEADER];
      const job = await bulk.createUpload({
        instance,
        userId: principal.userId,
        objectName: path.id,
        metaData: () => fields.get('metaData'),
        bytes,
        callback: url === undefined ? undefined : { url, pointer: `/headers/${CALLBACK_HEADER}` },
        signal,
      });
      const { id, status, instanceId } = job;
      return { body: { id, status, instanceId }, headers: headersOf(instance) };
    },

    listBulkJobs: async ({ instance, query, url }) => {
      const { body, headers } = await list({ accountId: instance.accountId, instanceId: instance.id }, { query, url });
      return { body, headers: { ...headersOf(instance), ...headers } };
    },

    getBulkStatus: async (request) => show(request.instance, await bulk.get(jobKeyOf(request))),

    cancelBulkJob: async (request) => show(request.instance, await bulk.cancel(jobKeyOf(request))),

    deleteBulkJob: async (request) => {
      await bulk.remove(jobKeyOf(request));
      return { body: { id: request.path.id }, headers: headersOf(request.instance) };
    },

    listBulkErrors: async (request) => {
      const { instance, accept, query, url } = request;
      const jobKey = jobKeyOf(request);
      const { where, pageSize: limit = PAGE_SIZE, nextPage } = query;
      const { direction, format, ...shown } = await bulk.get(jobKey);
      const file = direction === 'UPLOAD' ? STORED_TYPES[format] : undefined;
      const type = chooseErrorsType(accept, file);
      if (type !== JSON_TYPE) return failedRows(await bulk.openFailedRows(jobKey, where), request);
      const tokens = createPageTokens(seal, JSON.stringify(['bulk-errors', jobKey, where]));
      const { errors, nextAfterRow } = await bulk.listErrors(jobKey, { where, limit, afterRow: tokens.read(nextPage) });
      const own = direction === 'DOWNLOAD' || where === undefined ? errorOfJob(shown) : [];
      const body = [...(nextPage === undefined ? own : []), ...errors.map(toError)];
      const listed = listHeaders(body.length, { url, token: tokens.write(nextAfterRow) });
      return { body, headers: { ...headersOf(instance), ...listed, Vary: 'Accept' } };
    },

    getBulkFile: async (request) => {
      const file = await bulk.open(jobKeyOf(request), request.path.objectName);
      return respondWith(file, request);
    },
  } satisfies Partial<Handlers>;

  return {
    ...direct,
    listAccountBulkJobs: ({ principal: { accountId }, query, url }) => list({ accountId }, { query, url }),
    createHubBulkQuery: inHub(direct.createBulkQuery),
    createHubBulkUpload: inHub(direct.createBulkUpload),
    listHubBulkJobs: inHub(direct.listBulkJobs),
    getHubBulkStatus: inHub(direct.getBulkStatus),
    cancelHubBulkJob: inHub(direct.cancelBulkJob),
    deleteHubBulkJob: inHub(direct.deleteBulkJob),
    listHubBulkErrors: inHub(direct.listBulkErrors),
    getHubBulkFile: inHub(direct.getBulkFile),
  } satisfies Partial<Handlers>;
}

type JobListing = Pick<OperationRequest<'listAccountBulkJobs'>, 'query' | 'url'>;

const JSON_TYPE = 'application/json';

/** A list, or a file in the form that the rows came in. @throws AppError NOT_ACCEPTABLE */
function chooseErrorsType(accept: string | undefined, file: FileType | undefined): FileType {
  const types: readonly FileType[] = [JSON_TYPE, ...(file === undefined ? [] : [file])];
  const type = chooseType(accept, types);
  if (type !== undefined) return type;
  const message = `The errors of this job are available as ${types.join(' or ')}. The Accept header requests '${accept}'.`;
  throw new AppError('NOT_ACCEPTABLE', message, { details: [{ path: '/headers/accept', message, expected: types }] });
}

function failedRows(
  { job, pieces }: FailedRows,
  { instance, accept }: Pick<FileQuery, 'instance' | 'accept'>,
): StreamResponse {
  const type = STORED_TYPES[job.format];
  const name = `${job.objectName.replaceAll('/', '-')}-${job.id}-failed.${ENDINGS[type]}`;
  const contentType = contentTypeOf({ type, isDefused: false }, accept);
  return {
    status: 200,
    headers: { ...headersOf(instance), ...safeFileHeaders({ contentType, name }), Vary: 'Accept' },
    pieces,
  };
}

function errorOfJob({ code, message }: Pick<BulkJob, 'code' | 'message'>): OperationResult<'listBulkErrors'> {
  return code === null || message === null ? [] : [{ code: readCode(code), message }];
}

function toError({
  rowNumber,
  outcome,
  isDoubtful,
  code,
  message,
}: RowError): OperationResult<'listBulkErrors'>[number] {
  return { row: rowNumber, outcome, doubtful: isDoubtful, ...(code !== null && { code: readCode(code) }), message };
}

const CALLBACK_HEADER = 'elements-async-callback-url';

type AskedDownload = Pick<OperationRequest<'createBulkQuery'>, 'query' | 'body'>;

/** @throws AppError REQUEST_INVALID for what is in the query and in the body */
function readRequest({ query, body }: AskedDownload, callbackUrl: string | undefined): DownloadRequest {
  const { q: statement, ...parts } = query;
  assertGivenOnce(parts, body ?? {});
  const { from, to, format = 'csv', callbackUrl: own, ...rest } = { ...(body ?? {}), ...parts };
  const url = own ?? callbackUrl;
  const pointer = own === undefined ? `/headers/${CALLBACK_HEADER}` : '/body/callbackUrl';
  return {
    ...rest,
    statement,
    format,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    callback: url === undefined ? undefined : { url, pointer },
  };
}

function assertGivenOnce(query: object, body: object): void {
  const twice = Object.keys(query).filter((name) => Object.hasOwn(body, name));
  if (twice.length === 0) return;
  throw invalidRequest(
    twice.map((name) => ({
      path: pointer('query', name),
      message: `'${name}' is in the query string and in the body. Send it once.`,
    })),
  );
}

/** The members that a statement sets. */
const IN_STATEMENT: ReadonlySet<string> = new Set(['objectName', 'where', 'fields', 'orderBy', 'limit']);

/** Returns where a member of a download is in its request: in the query, the body or the statement. */
function pointersIn({ query, body }: AskedDownload): (name: string) => string {
  return (bodyPointer) => {
    const name = /^\/(?:path|query|body)\/(\w+)$/.exec(bodyPointer)?.[1];
    if (name === undefined) return bodyPointer;
    if (Object.hasOwn(query, name)) return pointer('query', name);
    const isInStatement = query.q !== undefined && IN_STATEMENT.has(name) && !Object.hasOwn(body ?? {}, name);
    return isInStatement ? '/query/q' : pointer('body', name);
  };
}

function headersOf(instance: Instance) {
  return { 'Elements-Element-Instance-Id': instance.id };
}

function show(instance: Instance, job: BulkJob) {
  return { body: toRecord(job), headers: headersOf(instance) };
}

function toRecord(job: BulkJob): OperationResult<'getBulkStatus'> {
  const { code, ...status } = statusOf(job);
  return { ...status, ...(code !== undefined && { code: readCode(code) }) };
}

/** Returns the code of a failed job. A code from a newer release may be unknown here. */
function readCode(code: string): ErrorCode {
  return Object.hasOwn(ERROR_STATUS, code) ? (code as ErrorCode) : 'INTERNAL';
}

type FileQuery = Pick<OperationRequest<'getBulkFile'>, 'accept' | 'query' | 'headers' | 'instance'>;

/** @throws AppError NOT_ACCEPTABLE, RANGE_NOT_SATISFIABLE */
function respondWith(file: BulkFile, { accept, query, headers, instance }: FileQuery): StreamResponse {
  const rendition = chooseRendition(file.job, accept, query.spreadsheet === true);
  const isWhole = isStored(file.job, rendition);
  const tag = tagOf(file.job, rendition);
  const { byteCount } = file;
  const shared = {
    ...headersOf(instance),
    ...safeFileHeaders({ contentType: contentTypeOf(rendition, accept), name: nameOf(file.job, rendition) }),
    ETag: tag,
    Vary: 'Accept',
    'Accept-Ranges': isWhole ? 'bytes' : 'none',
  };
  const whole = () => (isWhole ? file.bytes(0, byteCount) : file.convert(rendition));
  if (matchesTag(headers['if-none-match'], tag)) return { status: 304, headers: shared, pieces: whole };
  const isCurrent = headers['if-range'] === undefined || headers['if-range'] === tag;
  const range = isWhole && isCurrent ? readRange(headers.range, byteCount) : undefined;
  if (range === null)
    throw new AppError('RANGE_NOT_SATISFIABLE', `The file has ${byteCount} bytes; the range begins after its end.`, {
      byteCount,
    });
  if (range === undefined)
    return { status: 200, headers: { ...shared, ...(isWhole && { 'Content-Length': byteCount }) }, pieces: whole };
  const { begin, end } = range;
  const partial = { 'Content-Range': `bytes ${begin}-${end - 1}/${byteCount}`, 'Content-Length': end - begin };
  return { status: 206, headers: { ...shared, ...partial }, pieces: () => file.bytes(begin, end) };
}

/**
 * Returns the stored form of a file, unless the caller prefers another one.
 * @throws AppError NOT_ACCEPTABLE
 */
function chooseRendition({ format }: BulkJob, accept: string | undefined, isDefused: boolean): Rendition {
  const stored = STORED_TYPES[format];
  const type = chooseType(accept, [stored, ...TYPES.filter((one) => one !== stored)]);
  if (type !== undefined) return { type, isDefused: isDefused && type === 'text/csv' };
  const message = `A bulk file is available as ${TYPES.join(' or ')}. The Accept header requests '${accept}'.`;
  const details = [{ path: '/headers/accept', message, expected: TYPES }];
  throw new AppError('NOT_ACCEPTABLE', message, { details });
}

/** Neither the rows nor their form change after the end of the job. */
function tagOf({ accountId, id, finishedAt }: BulkJob, { type, isDefused }: Rendition): string {
  const named = JSON.stringify([accountId, id, finishedAt, type, isDefused]);
  return `"${createHash('sha256').update(named).digest('hex').slice(0, 24)}"`;
}

const ENDINGS: Readonly<Record<FileType, string>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'jsonl',
  'application/json': 'json',
};

/** Clients of the original API compare it with the type that they requested. */
function contentTypeOf({ type }: Rendition, accept: string | undefined): string {
  if (type === 'text/csv' && accept?.trim().toLowerCase() === type) return type;
  return type === 'text/csv' ? `${type}; charset=utf-8; header=present` : `${type}; charset=utf-8`;
}

/** Returns the name of the file. If it is converted, the extension changes. */
function nameOf(job: BulkJob, { type }: Rendition): string {
  const name = fileNameOf(job);
  if (STORED_TYPES[job.format] === type) return name;
  return `${name.replace(/\.(?:csv|jsonl|ndjson|json)$/i, '')}.${ENDINGS[type]}`;
}
