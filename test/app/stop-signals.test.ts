import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import { listenForStop } from '../../src/app/stop-signals.ts';
import { createVirtualClock } from '../support/virtual-clock.ts';

describe('listenForStop', () => {
  function listen() {
    const exits: unknown[] = [];
    const signals = new EventEmitter();
    const clock = createVirtualClock();
    const fake = Object.assign(signals, { exit: (code: unknown) => void exits.push(code) });
    // Only what is looked at is there.
    const stop = listenForStop({ process: fake as unknown as NodeJS.Process, clock });
    return { stop, signals, clock, exits };
  }

  it('stops at the first signal, and takes its echo for the same', async () => {
    const { stop, signals, clock, exits } = listen();
    expect(stop.aborted).to.equal(false);
    signals.emit('SIGINT');
    await clock.advance(900);
    for (const name of ['SIGINT', 'SIGTERM']) signals.emit(name);
    expect(stop.reason).to.equal('SIGINT');
    expect(exits).to.deep.equal([]);
  });

  it('ends the process at once when a signal comes again after a while', async () => {
    const { signals, clock, exits } = listen();
    signals.emit('SIGINT');
    await clock.advance(1_500);
    signals.emit('SIGINT');
    expect(exits).to.deep.equal([1]);
  });
});
