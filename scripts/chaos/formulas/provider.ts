import { createServer, type Server, type ServerResponse } from 'node:http';

/** Number of calls of which one fails. */
const FAILS_EACH = 33;
const HANGS_EACH = 50;
const HANG_MS = 3_000;

export interface Provider {
  readonly url: string;
  /** Number of times that each call was done, by its number. */
  readonly done: ReadonlyMap<number, number>;
  readonly refused: () => number;
  readonly stop: () => Promise<void>;
}

/** A provider that counts its calls. Some of them fail and some hang. */
export async function startProvider(): Promise<Provider> {
  const done = new Map<number, number>();
  let calls = 0;
  let refused = 0;

  function respond(response: ServerResponse, number: number): void {
    calls += 1;
    if (calls % HANGS_EACH === 0) {
      refused += 1;
      setTimeout(() => response.destroy(), HANG_MS).unref();
    } else if (calls % FAILS_EACH === 0) {
      refused += 1;
      response.writeHead(503).end();
    } else {
      done.set(number, (done.get(number) ?? 0) + 1);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ number }));
    }
  }

  const server: Server = createServer((request, response) => {
    request.resume().once('end', () => respond(response, Number(request.url?.split('/').at(-1))));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    done,
    refused: () => refused,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
