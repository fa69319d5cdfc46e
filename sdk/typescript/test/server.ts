import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answer = (response: ServerResponse, request: Received) => void;

export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
}

/** Starts a service that sends these responses one after the other, and repeats the last one. */
export async function serve(...answers: readonly Answer[]): Promise<TestServer> {
  const received: Received[] = [];
  const server = createServer((message, response) => {
    receive(message).then((request) => {
      const answer = answers[received.length] ?? answers.at(-1);
      received.push(request);
      answer?.(response, request);
    }, ignoreAbortedUpload);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${Object(server.address()).port}`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function receive(message: IncomingMessage): Promise<Received> {
  const { method = '', url = '', headers } = message;
  return { method, url, headers, body: await text(message) };
}

/** Ignores the error of a client whose time limit ends while it sends. */
function ignoreAbortedUpload(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ECONNRESET') throw error;
}

export function json(body: unknown, headers: Readonly<Record<string, string>> = {}, status = 200): Answer {
  return (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function failure(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return json({ requestId: 'the-request', code, message: `It is ${code}.` }, headers, status);
}

/** Closes the connection before the response. */
export const broken: Answer = (response) => response.destroy();

/** Sends no response. */
export const silent: Answer = () => {};
