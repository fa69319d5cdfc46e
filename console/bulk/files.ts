import { ApiError, askWithHeaders } from '../api.ts';

/** A call whose response is read as `stream`. */
type FileCall = Promise<{
  readonly data?: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly error?: unknown;
  readonly response: Response;
}>;

/**
 * Reads a file to its end and lets the browser save it, under the name that the service sends.
 * @param onBytes called with the number of bytes so far
 * @throws ApiError where it is rejected or breaks off
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

/** A file without a byte comes without a body. */
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

/** RFC 6266: the name in UTF-8 where there is one, else that in ASCII. */
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
      // That of the form has a boundary, which the sender makes itself.
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
