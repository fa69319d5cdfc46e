import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { onAbort, untilAborted } from '../src/clock.ts';

describe('what waits for an abort', () => {
  it('shares one listener of the signal, and leaves none behind', () => {
    const { signal } = new AbortController();
    const ignores = [() => {}, () => {}].map((callback) => onAbort(signal, callback));
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    for (const ignore of ignores) ignore();
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('is called once, unless it was ignored before', () => {
    const controller = new AbortController();
    const called: string[] = [];
    onAbort(controller.signal, () => called.push('kept'));
    onAbort(controller.signal, () => called.push('ignored'))();
    controller.abort();
    expect(called).to.deep.equal(['kept']);
  });
});

describe('work until an abort', () => {
  const reason = new Error('no longer wanted');

  it('has the outcome of the work, and then no listener', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve('done'), signal)).to.equal('done');
    await turn();
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('fails with the reason of the signal, aborted before or meanwhile, however the work ends', async () => {
    const controller = new AbortController();
    const work = Promise.withResolvers<never>();
    const meanwhile = untilAborted(work.promise, controller.signal).catch((error: unknown) => error);
    controller.abort(reason);
    const before = untilAborted(work.promise, controller.signal).catch((error: unknown) => error);
    expect(await Promise.all([meanwhile, before])).to.deep.equal([reason, reason]);
    // Nobody waits for it any more: it must not end the process as a rejection that nobody handles.
    work.reject(new Error('too late'));
    await turn();
  });
});
