import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import express from 'express';
import { sendJson } from '../../src/http/response.ts';
import { stopServer } from '../../suite/stop-server.ts';

describe('a large answer', () => {
  const ROWS = 3000;
  const TEXT = 'x'.repeat(20_000);
  let printed: number;
  let isClosed: boolean;
  let url: string;
  let stop: () => Promise<unknown>;

  /** Counts the rows that were printed. */
  const row = () => ({
    text: TEXT,
    counted: {
      toJSON: () => ++printed,
    },
  });

  beforeEach(async () => {
    printed = 0;
    isClosed = false;
    const app = express();
    app.response.json = sendJson;
    app.get('/', (_request, response) => {
      response.once('close', () => {
        isClosed = true;
      });
      response.json(Array.from({ length: ROWS }, row));
    });
    app.get('/small', (_request, response) => response.json([{ id: 1 }]));
    const listener = app.listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    stop = () => stopServer(listener);
  });
  afterEach(() => stop());

  it('arrives whole', async () => {
    const rows: unknown = await (await fetch(url)).json();
    expect(rows).to.have.length(ROWS);
    expect(printed).to.equal(ROWS);
  });

  it('tells its length when it is small', async () => {
    const response = await fetch(`${url}/small`);
    expect(response.headers.get('content-length')).to.equal('10');
    expect(await response.text()).to.equal('[{"id":1}]');
  });

  it('is printed no faster than it is read, and no further when the caller hangs up', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('readable', resolve));
    let before = -1;
    while (printed > before) {
      before = printed;
      await sleep(50);
    }
    expect(printed).to.be.below(ROWS);
    socket.destroy();
    while (!isClosed) await sleep(5);
    await sleep(20);
    expect(printed).to.equal(before);
  });
});
