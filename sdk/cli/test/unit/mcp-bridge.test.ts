import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { forwardMessages } from '../../src/mcp-bridge.js';

interface Received {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

describe('causeway mcp', () => {
  const received: Received[] = [];
  let respond: (response: ServerResponse, body: string) => void;
  let url: URL;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ headers: request.headers, body });
    respond(response, body);
  });

  beforeEach(async () => {
    received.length = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const bridge = () => {
    const input = new PassThrough();
    const written: string[] = [];
    const { signal } = new AbortController();
    const ended = forwardMessages({ input, write: (line) => written.push(line), url, key: 'ck_test', signal });
    return { input, written, ended };
  };
  const json = (response: ServerResponse, value: unknown, status = 200) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value));
  };

  it('sends the key and the version of the protocol, and returns each response as a line', async () => {
    respond = (response, body) => {
      const { id, method } = JSON.parse(body);
      if (id === undefined) response.writeHead(202).end();
      else
        json(response, {
          jsonrpc: '2.0',
          id,
          result: method === 'initialize' ? { protocolVersion: '2025-11-25' } : {},
        });
    };
    const { input, written, ended } = bridge();
    input.write('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n');
    input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n');
    input.end('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n');
    await ended;
    assert.deepEqual(
      written.map((line) => JSON.parse(line).id),
      [0, 1],
    );
    assert.deepEqual(
      received.map(({ headers }) => headers['mcp-protocol-version']),
      [undefined, '2025-11-25', '2025-11-25'],
    );
    assert.ok(received.every(({ headers }) => headers.authorization === 'Bearer ck_test'));
  });

  it('passes on the messages of a stream', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': keepalive\n\nevent: message\ndata: {"jsonrpc":"2.0","method":"notifications/prog');
      response.end('ress"}\n\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n');
    };
    const { input, written, ended } = bridge();
    input.end('{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n');
    await ended;
    assert.deepEqual(
      written.map((line) => JSON.parse(line).method ?? 'result'),
      ['notifications/progress', 'result'],
    );
  });

  it('answers with an error what the service refuses, or cannot be read', async () => {
    respond = (response) =>
      json(response, { requestId: 'x', code: 'UNAUTHENTICATED', message: 'The key is not valid.' }, 401);
    const { input, written, ended } = bridge();
    input.write('nonsense\n');
    input.end('{"jsonrpc":"2.0","id":"a","method":"tools/list"}\n');
    await ended;
    assert.deepEqual(
      written.map((line) => JSON.parse(line)).map(({ id, error }) => [id, error.message]),
      [
        [null, 'This is not JSON.'],
        ['a', 'The key is not valid.'],
      ],
    );
  });

  it('closes the connection of a call that is cancelled, and answers nothing', async () => {
    const { input, written, ended } = bridge();
    const closed = new Promise<void>((resolve) => {
      respond = (response) => {
        response.on('close', resolve);
        input.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}\n');
      };
    });
    input.write('{"jsonrpc":"2.0","id":7,"method":"tools/call"}\n');
    await closed;
    input.end();
    await ended;
    assert.deepEqual(written, []);
  });
});
