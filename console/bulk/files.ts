import { ApiError, askWithHeaders } from '../api.ts';

/** A call that returns its response body as a stream. */
type FileCall = Promise<{
  readonly data?: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly error?: unknown;
  readonly response: Response;
}>;

/**
 * Reads a file to its end and lets the browser save it under the name that the service sends.
 * @param onBytes called with the number of bytes read so far
 * @throws ApiError if the service rejects the request or the download breaks off
 */
export async function saveFile(call: FileCall, usualName: string, onBytes: (count: number) => void): Promise<void> {
  const { data, headers } = await askWithHeaders(call.then(withEmptyFile));
  const file = new Blob(await readAll(data, onBytes), { type: headers.get('Content-Type') ?? '' });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = nameOf(headers.get('Content-Disposition') ?? '') ?? usualName;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Returns the response with an empty body if it has none, as for a file without bytes. */
function withEmptyFile(response: Awaited<FileCall>): Awaited<FileCall> {
  if (!response.response.ok || response.data) return response;
  return { ...response, data: new Blob([]).stream() };
}

async function readAll(stream: NonNullable<Awaited<FileCall>['data']>, onBytes: (count: number) => void) {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  let count = 0;
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      if (value === undefined) continue;
      pieces.push(value);
      count += value.length;
      onBytes(count);
    }
    return pieces;
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError(0, {
      code: 'NETWORK',
      message: 'The download ended before the end of the file. The file may have been deleted.',
    });
  }
}

/** Returns the file name in a `Content-Disposition` header (RFC 6266): the one in UTF-8 if there is one, otherwise the one in ASCII. */
function nameOf(disposition: string): string | undefined {
  const exact = /filename\*=UTF-8''([^;]+)/i.exec(disposition)?.[1];
  return exact === undefined ? /filename="([^"]+)"/i.exec(disposition)?.[1] : decodeURIComponent(exact);
}

/** Sends a form as the body of a request and reports the progress, which `fetch` does not. */
export function sendingForm(form: FormData, onPart: (part: number) => void) {
  return (request: Request): Promise<Response> =>
    new Promise((resolve, reject) => {
      const sender = new XMLHttpRequest();
      sender.open(request.method, request.url);
      // The content type of a form has a boundary, which XMLHttpRequest creates itself.
      for (const [name, value] of request.headers) if (name !== 'content-type') sender.setRequestHeader(name, value);
      sender.upload.addEventListener('progress', ({ loaded, total }) => onPart(total === 0 ? 0 : loaded / total));
      sender.addEventListener('load', () => resolve(responseOf(sender)));
      sender.addEventListener('error', () => reject(new TypeError('The connection was interrupted. Try again.')));
      sender.addEventListener('abort', () => reject(new DOMException('The upload was cancelled.', 'AbortError')));
      request.signal.addEventListener('abort', () => sender.abort());
      sender.send(form);
    });
}

function responseOf(sender: XMLHttpRequest): Response {
  const lines = sender.getAllResponseHeaders().trim().split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(': ');
    return [name, value.join(': ')];
  });
  return new Response(sender.responseText, { status: sender.status, headers });
}
