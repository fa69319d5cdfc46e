import { createServer, request } from 'node:http';
import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { startSimulators } from '../../src/connector/simulators/index.ts';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';

const CONNECTORS = resolve(import.meta.dirname, '../../connectors');

/** Changes the JSON of a response. */
type Change = (body: unknown) => unknown;

export type ChangingSimulators = Awaited<ReturnType<typeof startChangingSimulators>>;

/** Starts the simulators behind a front that can change what they respond. */
export async function startChangingSimulators() {
  let rules: readonly { readonly path: RegExp; readonly change?: Change; readonly status?: number }[] = [];
  const target = `http://127.0.0.1:${await findFreePort()}`;
  const front = createServer((incoming, outgoing) => {
    const url = incoming.url ?? '/';
    const rule = rules.find(({ path }) => path.test(decodeURIComponent(url)));
    if (rule?.status !== undefined) return void outgoing.writeHead(rule.status).end();
    // The body is read as JSON, so it must come as it is.
    const headers = { ...incoming.headers, 'accept-encoding': 'identity' };
    const sent = request(new URL(url, target), { method: incoming.method, headers, setHost: false });
    sent.on('response', async (response) => {
      const { change } = rule ?? {};
      if (change === undefined) {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
        return;
      }
      const { 'content-length': _, 'transfer-encoding': __, ...kept } = response.headers;
      const text = JSON.stringify(change(await json(response)));
      outgoing.writeHead(response.statusCode ?? 502, kept).end(text);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  const url = `http://127.0.0.1:${await listen(front)}`;
  // They have the address of the front in their links.
  const simulators = await startSimulators({
    port: Number(new URL(target).port),
    url,
    sources: { folders: [CONNECTORS] },
  });
  return {
    url,
    /** Changes the responses to requests whose path and query match, until the next call of it. */
    change: (path: RegExp, change: Change) => {
      rules = [{ path, change }];
    },
    /** Responds with this status instead, to requests that match. */
    failWith: (path: RegExp, status: number) => {
      rules = [{ path, status }];
    },
    restore: () => {
      rules = [];
    },
    stop: async () => {
      await stopServer(front);
      await simulators.stop();
    },
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await stopServer(server);
  return port;
}
