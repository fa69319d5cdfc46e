import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import { listen } from '../../../suite/listen.ts';
import { stopServer } from '../../../suite/stop-server.ts';

async function serve(wanted: number, word: string) {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.end(word);
  };
  const server = createServer(answer);
  return { server, port: await listen(server, wanted) };
}

describe('a server that was stopped', () => {
  it('is asked nothing more by clients that kept a connection, when another gets its port', async () => {
    const { server: first, port } = await serve(0, 'first');
    const ask = async () => (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: 'x' })).text();
    for (let count = 0; count < 3; count++) expect(await ask()).to.equal('first');
    await stopServer(first);
    const { server: second } = await serve(port, 'second');
    const response = await ask().catch((error: Error) => error.message);
    await stopServer(second);
    expect(response).to.equal('second');
  });
});
