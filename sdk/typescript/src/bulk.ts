import { BulkApi, type CreateBulkUploadRequest } from '../apis/index.js';
import type { BulkError, BulkJob, BulkQuery, BulkUploadMetaData } from '../models/index.js';
import type { Configuration, RequestOpts } from '../runtime.js';
import { CausewayError, NetworkError, TimeoutError } from './errors.js';
import type { ObjectRecord } from './object-record.js';
import { allOf } from './pages.js';
import type { CallOptions } from './records.js';
import type { Transport } from './transport.js';
import type { Where } from './where.js';

/** The rows to download. */
export interface BulkRequest extends Omit<BulkQuery, 'where' | 'fields' | 'objectName'> {
  readonly objectName: string;
  readonly where?: Where | string;
  readonly fields?: readonly string[];
}

export interface WaitOptions extends CallOptions {
  /** Receives the job after each status request. */
  readonly onProgress?: (job: BulkJob) => void;
}

export interface FileOptions extends CallOptions {
  /** Number of bytes that you already have. The file of a completed job never changes. */
  readonly fromByte?: number;
}

interface FileRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Position in the bytes of a file at which its rest begins. */
interface FilePosition {
  readonly byte: number;
  readonly tag: string | undefined;
}

/** A bulk job failed or was cancelled. */
export class BulkJobError extends CausewayError {
  override name = 'BulkJobError';
  readonly job: BulkJob;

  constructor(job: BulkJob, reason: string) {
    super(`The bulk job ${job.id} is ${job.status}: ${reason}`);
    this.job = job;
  }
}

/** The operations on bulk jobs, with downloads that wait for their job and resume after a broken connection, and uploads. */
export class BulkDownloads extends BulkApi {
  readonly #transport: Transport;

  constructor(configuration: Configuration, transport: Transport) {
    super(configuration);
    this.#transport = transport;
  }

  /** Starts a download. Its rows are available when its job has completed. */
  async start({ where, fields, ...rest }: BulkRequest, options: CallOptions = {}): Promise<BulkDownload> {
    const bulkQuery: BulkQuery = {
      format: 'jsonl',
      ...rest,
      ...(where !== undefined && { where: where.toString() }),
      ...(fields !== undefined && { fields: fields.join(',') }),
    };
    const { id } = await this.createBulkQuery({ bulkQuery }, options);
    return this.download(id, rest.objectName);
  }

  /** Returns a download that was started before. */
  download(id: number, objectName: string): BulkDownload {
    return new BulkDownload(this, this.#transport, id, objectName);
  }

  /**
   * Sends a file of rows to write. They are written when the job has completed. In Node.js `openAsBlob` of `node:fs` creates a `Blob` of a
   * file without reading it. An attempt has the time-out once per megabyte.
   */
  async upload(
    objectName: string,
    file: Blob,
    metaData: BulkUploadMetaData,
    options: CallOptions = {},
  ): Promise<BulkUpload> {
    const { id } = await this.createBulkUpload({ id: objectName, file, metaData }, options);
    return this.uploaded(id, objectName);
  }

  /** Returns an upload that was started before. */
  uploaded(id: number, objectName: string): BulkUpload {
    return new BulkUpload(this, this.#transport, id, objectName);
  }

  /** Sends the settings of the job as text, because the service would read a `Blob` in the form as another file. */
  override async createBulkUploadRequestOpts(request: CreateBulkUploadRequest): Promise<RequestOpts> {
    const body = new FormData();
    body.append('metaData', JSON.stringify(request.metaData));
    body.append('file', request.file);
    return { ...(await super.createBulkUploadRequestOpts(request)), body };
  }

  /**
   * Iterates over all rows of a query: starts the job, waits for it, and reads its file.
   * @throws BulkJobError
   */
  async *rows<Row extends object = ObjectRecord>(
    request: BulkRequest,
    options: WaitOptions = {},
  ): AsyncGenerator<Row, void> {
    const download = await this.start({ ...request, format: 'jsonl' }, options);
    await download.wait(options);
    yield* download.rows<Row>(options);
  }

  /** Returns the request for a file or, with a position, for its rest. */
  async fileRequest(id: number, objectName: string, accept: string, from?: FilePosition): Promise<FileRequest> {
    const part = from && { range: `bytes=${from.byte}-`, ...(from.tag !== undefined && { ifRange: from.tag }) };
    return this.#bytesOf(await this.getBulkFileRequestOpts({ id, objectName, ...part }), accept);
  }

  /** Returns the request for the failed rows of an upload, unchanged. */
  async failedRowsRequest(id: number, accept: string): Promise<FileRequest> {
    return this.#bytesOf(await this.listBulkErrorsRequestOpts({ id }), accept);
  }

  #bytesOf({ path, headers }: RequestOpts, accept: string): FileRequest {
    // Without compression, because positions count the stored bytes.
    const all = { ...this.configuration.headers, ...headers, Accept: accept, 'Accept-Encoding': 'identity' };
    return { url: this.configuration.basePath + path, headers: all };
  }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = { csv: 'text/csv', jsonl: 'application/x-ndjson' };

/** A bulk download. */
export class BulkDownload {
  readonly #api: BulkDownloads;
  readonly #transport: Transport;
  readonly id: number;
  readonly objectName: string;

  constructor(api: BulkDownloads, transport: Transport, id: number, objectName: string) {
    this.#api = api;
    this.#transport = transport;
    this.id = id;
    this.objectName = objectName;
  }

  status(options: CallOptions = {}): Promise<BulkJob> {
    return this.#api.getBulkStatus({ id: this.id }, options);
  }

  /**
   * Waits until the job has ended, with status requests at growing intervals.
   * @throws BulkJobError
   */
  async wait({ onProgress, signal }: WaitOptions = {}): Promise<BulkJob> {
    for (let attempt = 1; ; attempt++) {
      const job = await this.status({ signal });
      onProgress?.(job);
      if (job.status === 'COMPLETED') return job;
      if (job.status === 'FAILED' || job.status === 'CANCELLED')
        throw new BulkJobError(job, await this.#reason(signal));
      await this.#transport.pause(attempt, signal);
    }
  }

  /** Iterates over the rows of the file as they arrive. */
  async *rows<Row extends object = ObjectRecord>(options: CallOptions = {}): AsyncGenerator<Row, void> {
    for await (const line of linesOf(this.#file('application/x-ndjson', options))) yield JSON.parse(line);
  }

  /** Iterates over the bytes of the file, in the format of the job. */
  async *chunks(options: FileOptions = {}): AsyncGenerator<Uint8Array, void> {
    const { fileFormat } = await this.status(options);
    yield* this.#file(MEDIA_TYPES[fileFormat] ?? '*/*', options);
  }

  /**
   * Writes the file to a path, in the format of the job; with `fromByte`, its rest after the existing bytes. It does not work in browsers.
   */
  toFile(path: string, options: FileOptions = {}): Promise<void> {
    return writeChunks(path, options.fromByte ? 'a' : 'w', this.chunks(options));
  }

  cancel(options: CallOptions = {}): Promise<BulkJob> {
    return this.#api.cancelBulkJob({ id: this.id }, options);
  }

  /** Deletes the job with its file. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.#api.deleteBulkJob({ id: this.id }, options);
  }

  #file(accept: string, options: FileOptions): AsyncGenerator<Uint8Array, void> {
    const requestFor = (from?: FilePosition) => this.#api.fileRequest(this.id, this.objectName, accept, from);
    return chunksOf(this.#transport, requestFor, options);
  }

  async #reason(signal?: AbortSignal): Promise<string> {
    const [error] = await this.#api.listBulkErrors({ id: this.id }, { signal });
    return error?.message ?? 'the service gives no reason.';
  }
}

/** A bulk upload. The file of its job has the outcome of each row. Failed rows do not fail the job. */
export class BulkUpload extends BulkDownload {
  readonly #api: BulkDownloads;
  readonly #transport: Transport;

  constructor(api: BulkDownloads, transport: Transport, id: number, objectName: string) {
    super(api, transport, id, objectName);
    this.#api = api;
    this.#transport = transport;
  }

  /** Lists the failed and the doubtful rows, with the reasons. */
  errors(options: CallOptions = {}): AsyncGenerator<BulkError, void> {
    return allOf((page) => this.#api.listBulkErrorsRaw({ id: this.id, ...page }, options));
  }

  /** Iterates over the bytes of the failed rows, unchanged: a file that can be corrected and sent again. */
  async *failedRows(options: CallOptions = {}): AsyncGenerator<Uint8Array, void> {
    const { fileFormat } = await this.status(options);
    const requestFor = () => this.#api.failedRowsRequest(this.id, MEDIA_TYPES[fileFormat] ?? '*/*');
    yield* chunksOf(this.#transport, requestFor, options);
  }

  /** Writes the failed rows, unchanged, to a path. It does not work in browsers. */
  failedRowsToFile(path: string, options: CallOptions = {}): Promise<void> {
    return writeChunks(path, 'w', this.failedRows(options));
  }
}

/**
 * Reads a file. After a broken connection it requests the rest, as long as each new connection makes progress and the file has an entity
 * tag.
 */
async function* chunksOf(
  transport: Transport,
  requestFor: (from?: FilePosition) => Promise<FileRequest>,
  { signal, fromByte = 0 }: FileOptions,
): AsyncGenerator<Uint8Array, void> {
  let byte = fromByte;
  let tag: string | undefined;
  for (let failures = 0; ; ) {
    const from = byte === 0 ? undefined : { byte, tag };
    const { url, headers } = await requestFor(from);
    const { response, chunks, close } = await transport.open(url, { headers, signal });
    if (from !== undefined && response.status !== 206) {
      close();
      throw new CausewayError('The file changed while it was read.');
    }
    tag = response.headers.get('ETag') ?? undefined;
    const end = byte + Number(response.headers.get('Content-Length') ?? Number.NaN);
    try {
      for await (const chunk of chunks()) {
        byte += chunk.length;
        failures = 0;
        yield chunk;
      }
      return;
    } catch (error) {
      if (byte === end) return;
      const isBroken = error instanceof NetworkError || error instanceof TimeoutError;
      if (!isBroken || tag === undefined || ++failures > transport.retries) throw error;
      await transport.pause(failures, signal);
    }
  }
}

async function writeChunks(path: string, flags: 'a' | 'w', chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const { open } = await import('node:fs/promises');
  const file = await open(path, flags);
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
  } finally {
    await file.close();
  }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
