import { createServer, type Server } from 'node:net';
import { expect } from 'chai';
import { assertPortsFree, describeListenError } from '../../src/app/free-ports.ts';
import { StartError } from '../../src/errors.ts';
import { listen } from '../../suite/listen.ts';

describe('ports that a start wants', () => {
  const host = '127.0.0.1';
  let busy: Server;
  let port: number;
  before(async () => {
    busy = createServer();
    port = await listen(busy);
  });
  after(() => busy.close());

  it('are free again after the look', async () => {
    await assertPortsFree([{ variable: 'PORT', host, port: 0 }]);
    const error = await assertPortsFree([
      { variable: 'PORT', host, port: 0 },
      { variable: 'METRICS_PORT', host, port },
    ]).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(StartError)
      .with.property('message')
      .that.match(/^METRICS_PORT \d+ is in use on 127/);
  });

  it('are told of in the same words when they are taken after the look', () => {
    const taken = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
    expect(describeListenError(taken, { variable: 'PORT', host, port }))
      .to.be.instanceOf(StartError)
      .with.property('message')
      .that.match(/^PORT \d+ is in use on 127/);
    const other = new Error('something else');
    expect(describeListenError(other, { variable: 'PORT', host, port })).to.equal(other);
  });
});
