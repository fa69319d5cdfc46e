import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { stopServer } from '../../../suite/stop-server.ts';

async function serve(port: number, word: string): Promise<Server> {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.end(word);
  };
  const server = createServer(answer).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('a server that was stopped', () => {
  it('is asked nothing more by clients that kept a connection, when another gets its port', async () => {
    const first = await serve(0, 'first');
    const address = first.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const ask = async () => (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).text();
    for (let count = 0; count < 3; count++) expect(await ask()).to.equal('first');
    await stopServer(first);
    const second = await serve(port, 'second');
    const response = await ask().catch((error: Error) => error.message);
    await stopServer(second);
    expect(response).to.equal('second');
  });
});
