import type { Clock } from '../clock.ts';
import type { ObjectSpec } from '../connector/index.ts';
import { isStorable, UNSTORABLE } from '../db/storable.ts';
import { assertCallable } from '../egress/callback-url.ts';
import type { Egress } from '../egress/index.ts';
import { AppError, cutText, type ErrorDetail, invalidRequest, pointer, unknownName } from '../errors.ts';
import type { Instance } from '../instances/instance.ts';
import { isJsonObject, parseJson } from '../numbers/exact-json.ts';
import type { Resources } from '../resources/index.ts';
import { refuseOperation } from '../resources/objects.ts';
import type { BulkStore, NewJob, StoredJob } from './bulk-store.ts';
import { packChunks } from './chunks.ts';
import { type Callback, MOST_OPEN_JOBS, tooMany } from './create-job.ts';
import { readHeader } from './input-file.ts';
import type { BulkFormat, BulkUpload, UploadAction } from './job.ts';
import { idFieldOf } from './write-rows.ts';

/** An upload whose file is being received. */
export interface BulkUploadRequest {
  readonly instance: Instance;
  /** Id of the user for whom the job acts. */
  readonly userId: number;
  readonly objectName: string;
  /** Returns the part `metaData`; undefined until it has arrived, because it can follow the file. */
  readonly metaData: () => string | undefined;
  /**
   * Bytes of the file, which can be read once.
   * @throws AppError when the rest of the form is invalid
   */
  readonly bytes: AsyncIterable<Buffer>;
  /** Callback from the request's header. */
  readonly callback?: Callback | undefined;
  readonly signal: AbortSignal;
}

interface ReceivePorts {
  readonly store: Pick<BulkStore, 'nextJobId' | 'addInput' | 'dropFiles' | 'countOpen' | 'transaction'>;
  readonly resources: Pick<Resources, 'getObject'>;
  readonly egress: Pick<Egress, 'check'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number;
}

/** Maximum bytes of a file that are collected before they are stored. */
const PART_BYTES = 1024 * 1024;
/** The header of CSV is in them. */
const HEAD_BYTES = 256 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Receives the file of an upload part by part. In one transaction with the last part, it passes the job to `begin`. If the upload breaks
 * off, nothing stays.
 * @throws AppError REQUEST_INVALID, NOT_FOUND, OPERATION_UNSUPPORTED, PAYLOAD_TOO_LARGE, RATE_LIMITED
 */
export async function receiveUpload<Result>(
  ports: ReceivePorts,
  request: BulkUploadRequest,
  begin: (via: Parameters<BulkStore['insert']>[0], job: NewJob) => Promise<Result>,
): Promise<Result> {
  const { store, resources, clock, maxBytes } = ports;
  const { instance, userId, objectName, signal } = request;
  const { accountId, id: instanceId } = instance;
  const object = await resources.getObject({ instance, objectName, signal });
  if ((await store.countOpen(accountId)) >= MOST_OPEN_JOBS) throw tooMany();
  const early = await readPlan(ports, { request, object });
  const stored: StoredJob = { accountId, id: await store.nextJobId(), createdAt: new Date(clock.now()) };
  const file = createInput(maxBytes);
  try {
    for await (const piece of request.bytes) {
      file.add(piece);
      if (!file.isFull()) continue;
      for (const chunk of await file.take()) await store.addInput(stored, chunk);
    }
    file.end();
    const plan = early ?? (await readPlan(ports, { request, object }));
    if (plan === undefined) throw formInvalid('metaData', 'is missing: it says what to do with the rows');
    const upload = await readUpload(file.head(), plan, { object, byteCount: file.byteCount() });
    const last = await file.take();
    return await store.transaction(async (via) => {
      for (const chunk of last) await store.addInput(stored, chunk, via);
      return begin(via, {
        ...stored,
        instanceId,
        userId,
        direction: 'UPLOAD',
        objectName,
        upload,
        format: plan.format,
        callbackUrl: plan.callbackUrl,
      });
    });
  } catch (error) {
    await store.dropFiles(stored);
    throw error;
  }
}

/** The bytes of a file on their way into the database. */
function createInput(maxBytes: number) {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let parts: Buffer[] = [];
  let size = 0;
  let byteCount = 0;
  let headParts: Buffer[] = [];
  let headSize = 0;

  function check(piece?: Buffer): void {
    try {
      decoder.decode(piece, { stream: piece !== undefined });
    } catch (cause) {
      throw formInvalid('file', 'is not well-formed UTF-8', cause);
    }
  }

  return {
    add: (piece: Buffer) => {
      size += piece.length;
      if (byteCount + size > maxBytes)
        throw new AppError('PAYLOAD_TOO_LARGE', `The file is larger than ${maxBytes} bytes (BULK_UPLOAD_MAX_BYTES).`);
      check(piece);
      parts.push(piece);
      if (headSize < HEAD_BYTES) headParts.push(piece);
      headSize += piece.length;
    },
    end: () => check(),
    isFull: () => size >= PART_BYTES,
    take: () => {
      const [taken, startByte] = [parts, byteCount];
      byteCount += size;
      [parts, size] = [[], 0];
      return packChunks(Buffer.concat(taken), startByte);
    },
    /** Returns the first bytes. It can be called once. */
    head: () => {
      const head = Buffer.concat(headParts);
      headParts = [];
      return head;
    },
    byteCount: () => byteCount + size,
  };
}

interface UploadPlan {
  readonly action: UploadAction;
  readonly identifier: string;
  readonly format: BulkFormat;
  readonly callbackUrl: string | null;
}

interface PlanInput {
  readonly request: BulkUploadRequest;
  readonly object: ObjectSpec;
}

const NEEDED = {
  create: ['create'],
  update: ['update'],
  upsert: ['update', 'create'],
  delete: ['remove'],
} as const satisfies Record<UploadAction, readonly (keyof ObjectSpec)[]>;

const ACTIONS = Object.keys(NEEDED) as readonly UploadAction[];
/** The formats by the names that requests may use. */
const FORMATS: Readonly<Record<string, BulkFormat>> = { csv: 'csv', jsonl: 'jsonl', ndjson: 'jsonl' };
const MEMBERS = ['format', 'identifierFieldName', 'action', 'callbackUrl'];

/**
 * Reads the plan from the metadata. Undefined where there are none.
 * @throws AppError
 */
async function readPlan({ egress }: ReceivePorts, { request, object }: PlanInput): Promise<UploadPlan | undefined> {
  const text = request.metaData();
  if (text === undefined) return undefined;
  const { format, action, identifierFieldName, callbackUrl } = readMetaData(text);
  const { instance, objectName, callback } = request;
  const missing = NEEDED[action].find((operation) => object[operation] === undefined);
  if (missing !== undefined) refuseOperation({ instance, objectName }, object, missing);
  const identifier = identifierFieldName ?? idFieldOf(object);
  if (action !== 'create') assertFindable({ objectName, object, identifier });
  const called = callbackUrl === undefined ? callback : { url: callbackUrl, pointer: '/body/metaData/callbackUrl' };
  if (called !== undefined) await assertCallable(egress, called.url, called.pointer);
  return { action, identifier, format, callbackUrl: called?.url ?? null };
}

interface MetaData {
  readonly format: BulkFormat;
  readonly action: UploadAction;
  readonly identifierFieldName?: string;
  readonly callbackUrl?: string;
}

function readMetaData(text: string): MetaData {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw formInvalid('metaData', 'is not JSON', cause);
  }
  if (!isJsonObject(value)) throw formInvalid('metaData', 'is not a JSON object');
  const { format, action, identifierFieldName, callbackUrl } = value;
  const faults: ErrorDetail[] = Object.keys(value)
    .filter((name) => !MEMBERS.includes(name))
    .map((name) => ({
      path: pointer('body', 'metaData', name),
      expected: MEMBERS,
      ...unknownName('member of metaData', name, MEMBERS),
    }));
  const read = FORMATS[String(format).toLowerCase()];
  const found = ACTIONS.find((one) => one === action);
  if (read === undefined) faults.push(memberFault('format', "must be 'csv' or 'jsonl'."));
  if (found === undefined) faults.push(memberFault('action', `must be one of: ${ACTIONS.join(', ')}.`));
  for (const [name, given] of Object.entries({ identifierFieldName, callbackUrl }))
    if (given !== undefined && (typeof given !== 'string' || given === '' || given.length > MOST_CHARACTERS))
      faults.push(memberFault(name, 'must be a text.'));
    else if (given !== undefined && !isStorable(given)) faults.push(memberFault(name, UNSTORABLE));
  if (read === undefined || found === undefined || faults.length > 0) throw invalidRequest(faults);
  return {
    format: read,
    action: found,
    ...(typeof identifierFieldName === 'string' && { identifierFieldName }),
    ...(typeof callbackUrl === 'string' && { callbackUrl }),
  };
}

const MOST_CHARACTERS = 2048;

function memberFault(name: string, what: string): ErrorDetail {
  return { path: pointer('body', 'metaData', name), message: `metaData: '${cutText(name)}' ${what}` };
}

interface Findable {
  readonly objectName: string;
  readonly object: ObjectSpec;
  readonly identifier: string;
}

/** @throws AppError REQUEST_INVALID for a field that there is not, or that the provider cannot be searched by */
function assertFindable({ objectName, object, identifier }: Findable): void {
  if (identifier === idFieldOf(object)) return;
  const path = pointer('body', 'metaData', 'identifierFieldName');
  const names = Object.keys(object.fields);
  if (!names.includes(identifier)) {
    throw invalidRequest([{ path, ...unknownName('field', identifier, names) }]);
  }
  if (object.list !== undefined && object.fields[identifier]?.filter?.['='] !== undefined) return;
  throw invalidRequest([
    {
      path,
      message: `The provider cannot find records of '${objectName}' by '${identifier}'. Choose another identifier.`,
    },
  ]);
}

/** @throws AppError REQUEST_INVALID */
async function readUpload(
  head: Buffer,
  { action, identifier, format }: UploadPlan,
  { object, byteCount }: { readonly object: ObjectSpec; readonly byteCount: number },
): Promise<BulkUpload> {
  const beginByte = head.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0;
  if (byteCount === beginByte) throw formInvalid('file', 'is empty');
  if (format === 'jsonl') return { action, identifier, beginByte, byteCount };
  const header = await findHeader(head, beginByte);
  const columns = header.names.map((name) => name ?? '');
  assertColumns(columns, { object, action, identifier });
  return { action, identifier, columns, beginByte: header.endByte, byteCount };
}

async function findHeader(head: Buffer, beginByte: number) {
  const header = await readHeader(head, beginByte).catch((cause: unknown) => {
    throw formInvalid('file', 'has a header that is not valid CSV', cause);
  });
  if (header !== undefined && (header.endByte < head.length || head.length < HEAD_BYTES)) return header;
  throw formInvalid('file', 'has no header within its first 256 kB');
}

interface ColumnsInput {
  readonly object: ObjectSpec;
  readonly action: UploadAction;
  readonly identifier: string;
}

function assertColumns(columns: readonly string[], { object, action, identifier }: ColumnsInput): void {
  const names = Object.keys(object.fields);
  const seen = new Set<string>();
  const faults: ErrorDetail[] = [];
  const path = '/body/file';
  for (const [index, name] of columns.entries()) {
    if (name === '') faults.push({ path, message: `Column ${index + 1} of the header of 'file' has no name.` });
    else if (seen.has(name))
      faults.push({ path, message: `The header of 'file' has the column '${cutText(name)}' twice.` });
    else if (action !== 'delete' && !names.includes(name)) faults.push({ path, ...unknownName('column', name, names) });
    seen.add(name);
  }
  if (action !== 'create' && !seen.has(identifier)) {
    const message = `The header of 'file' lacks the column '${identifier}', which identifies the record of a row.`;
    faults.push({ path, message });
  }
  if (faults.length > 0) throw invalidRequest(faults);
}

function formInvalid(part: string, what: string, cause?: unknown): AppError {
  const message = `'${part}' ${what}.`;
  return new AppError('REQUEST_INVALID', message, { details: [{ path: pointer('body', part), message }], cause });
}
