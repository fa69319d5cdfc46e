import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { keepRunning, type OwnedServer } from '../../embedded/keep-running.ts';
import { silentLog } from '../support/database.ts';

/** A server that can only die. */
function fakeServer() {
  const child = Object.assign(new EventEmitter(), { exitCode: null as number | null, signalCode: null });
  const owner = new EventEmitter();
  // Only what is looked at is there.
  const owned = { server: { pid: 0, port: 1, process: child }, owner } as unknown as OwnedServer;
  return {
    owned,
    die: () => {
      child.exitCode = 1;
      child.emit('exit');
      owner.emit('end');
    },
  };
}

function setUp(start: () => Promise<OwnedServer>, signal = new AbortController().signal) {
  const first = fakeServer();
  const lost = Promise.withResolvers<unknown>();
  const { release } = keepRunning(first.owned, {
    start,
    own: start,
    isFinal: (error) => error instanceof RangeError,
    onLost: lost.resolve,
    signal,
    log: silentLog,
  });
  return { first, lost: lost.promise, release };
}

describe('keepRunning', () => {
  it('tells of a server that nothing can bring back', async () => {
    const { first, lost, release } = setUp(() => Promise.reject(new RangeError('another process has it')));
    first.die();
    expect(await lost).to.have.property('message', 'another process has it');
    await release();
  });

  it('tries again while it fails for a reason that passes', async () => {
    const back = fakeServer();
    const revived = Promise.withResolvers<void>();
    let tries = 0;
    const { first, release } = setUp(async () => {
      tries++;
      if (tries < 3) throw new Error('the shared memory is still in use');
      revived.resolve();
      return back.owned;
    });
    first.die();
    await revived.promise;
    expect(await release()).to.equal(back.owned.server);
    expect(tries).to.equal(3);
  });

  it('gives up on a server that dies whenever it runs', async () => {
    let starts = 0;
    const { first, lost, release } = setUp(async () => {
      starts++;
      const next = fakeServer();
      setImmediate(next.die);
      return next.owned;
    });
    first.die();
    expect(await lost).to.have.property('message', 'The embedded PostgreSQL keeps ending');
    expect(starts).to.equal(5);
    await release();
  });

  it('leaves a server dead that ends when the stop has begun', async () => {
    const stop = new AbortController();
    let starts = 0;
    const start = async () => {
      starts++;
      return fakeServer().owned;
    };
    const { first, release } = setUp(start, stop.signal);
    stop.abort();
    first.die();
    expect(await release()).to.equal(first.owned.server);
    expect(starts).to.equal(0);
  });

  it('leaves a server dead that was released', async () => {
    const { first, release } = setUp(() => Promise.reject(new Error('must not be asked for')));
    await release();
    first.die();
  });
});
