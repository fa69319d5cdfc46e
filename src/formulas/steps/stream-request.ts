import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { isJsonObject } from '../../numbers/exact-json.ts';
import type { StepValue } from '../executions/model.ts';
import type { CallApi } from '../ports.ts';
import { toText } from '../references.ts';
import {
  type ApiRequest,
  type ApiRequestPorts,
  headersOf,
  readApiRequest,
  readBytes,
  showRequest,
  showResponse,
} from './api-requests.ts';
import { errorValue, fail, type PerformStep, StepFault, type StepInput, succeed } from './outcome.ts';
import { type Properties, readJson, readProperties } from './properties.ts';

const DOWNLOAD = {
  method: 'downloadMethod',
  api: 'downloadApi',
  query: 'downloadQuery',
  headers: 'downloadHeaders',
} as const;
const UPLOAD = { method: 'uploadMethod', api: 'uploadApi', query: 'uploadQuery', headers: 'uploadHeaders' } as const;
/** Maximum time of both requests together, in milliseconds. */
const STREAM_MS = 3_600_000;
/** The name of the part with the file, where the step names none. */
const FILE_PART = 'file';

/** Sends the file of one element instance to another one, without keeping it: the steps `elementRequestStream`. */
export function createStreamRequest({ callApi }: ApiRequestPorts): PerformStep {
  return async (input) => {
    const properties = readProperties(input.step.properties, input.context);
    const download = readApiRequest(properties, properties.instanceId('downloadElementInstanceId'), DOWNLOAD);
    const upload = readApiRequest(properties, properties.instanceId('uploadElementInstanceId'), UPLOAD);
    const signal = AbortSignal.any([input.signal, AbortSignal.timeout(STREAM_MS)]);
    const fields = readFields(properties);
    const part = toText(properties.value('uploadFormDataName')) || FILE_PART;
    const shown = showRequest(download, 0, ['download']);
    const source = await send(callApi, input, download, signal);
    if (!isOk(source.status)) {
      const bytes = await readBytes(source.body);
      const response = showResponse({ ...source, bytes: bytes ?? Buffer.alloc(0) }, ['download']);
      return fail([...shown, ...response, errorValue(`The download has the status ${source.status}.`)]);
    }
    const received: readonly StepValue[] = showResponse({ ...source, bytes: Buffer.alloc(0) }, ['download']);
    const sent = showRequest(upload, 0, ['upload']);
    const { body, contentType } = toForm(source, { fields, part });
    try {
      const response = await send(callApi, input, upload, signal, { body, contentType });
      const bytes = (await readBytes(response.body)) ?? Buffer.alloc(0);
      const values = [...shown, ...received, ...sent, ...showResponse({ ...response, bytes }, ['upload'])];
      return isOk(response.status)
        ? succeed(values)
        : fail([...values, errorValue(`The upload has the status ${response.status}.`)]);
    } catch (error) {
      input.signal.throwIfAborted();
      const reason = signal.aborted
        ? `The file was not sent within ${STREAM_MS / 1000} seconds.`
        : 'The file broke off before its end.';
      if (!signal.aborted && !(error instanceof Error && 'code' in error)) throw error;
      return fail([...shown, ...received, ...sent, errorValue(reason)]);
    } finally {
      source.body.destroy();
    }
  };
}

type Received = Awaited<ReturnType<CallApi>>;

function send(
  callApi: CallApi,
  { caller, origin }: StepInput,
  request: ApiRequest,
  signal: AbortSignal,
  form?: { readonly body: Readable; readonly contentType: string },
): Promise<Received> {
  const { instanceId, method, path, query } = request;
  const headers = headersOf({ ...request, body: undefined, origin, idempotencyKey: undefined });
  return callApi({
    caller: { ...caller, instanceId },
    method,
    path: query.text === '' ? path : `${path}?${query.text}`,
    // A download may be of any type, unless the step says which.
    headers: {
      ...(form === undefined && { accept: '*/*' }),
      ...without(headers, form === undefined && request.headers.accept === undefined),
      ...(form && { 'content-type': form.contentType }),
    },
    body: form?.body,
    signal,
  });
}

function without(headers: Readonly<Record<string, string>>, isAnyType: boolean): Record<string, string> {
  const { accept, ...others } = headers;
  return isAnyType || accept === undefined ? others : { ...others, accept };
}

function isOk(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** The other parts of the form. @throws StepFault */
function readFields(properties: Properties): Readonly<Record<string, unknown>> {
  const value = readJson(properties.value('uploadFormData'));
  if (value === undefined || value === null || value === '') return {};
  if (isJsonObject(value)) return value;
  throw new StepFault("The property 'uploadFormData' must be an object.");
}

/** A form (RFC 7578) whose last part is the file, which is read as it is sent. */
function toForm(
  { headers, body }: Received,
  { fields, part }: { readonly fields: Readonly<Record<string, unknown>>; readonly part: string },
) {
  const boundary = `causeway-${randomUUID()}`;
  const quote = (text: string) => text.replace(/["\r\n]/g, encodeURIComponent);
  const [, quoted, plain] = /filename="([^"]*)"|filename=([^;]*)/i.exec(toText(headers['content-disposition'])) ?? [];
  const filename = quoted ?? plain?.trim() ?? part;
  const type = toText(headers['content-type'] ?? 'application/octet-stream').replace(/[\r\n]/g, ' ');
  const texts = Object.entries(fields).map(([name, value]) => {
    const contentType = typeof value === 'string' ? '' : '\r\nContent-Type: application/json';
    return `--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"${contentType}\r\n\r\n${toText(value)}\r\n`;
  });
  const head = `${texts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="${quote(part)}"; filename="${quote(filename)}"\r\nContent-Type: ${type}\r\n\r\n`;
  async function* pieces(): AsyncGenerator<Buffer> {
    yield Buffer.from(head);
    for await (const piece of body) yield piece;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return {
    body: Readable.from(pieces(), { objectMode: false }),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
