import { expect } from 'chai';
import { SYSTEM_CLOCK } from '../../src/clock.ts';
import { createOffload, type OffloadLimits } from '../../src/connector/offload/index.ts';
import { anyFailureOf } from '../support/failures.ts';

const LIMITS: OffloadLimits = {
  threads: 2,
  heapMegabytes: 32,
  timeoutMs: 60_000,
  maxResultBytes: 1000,
  maxWaiting: 100,
  maxWaitingOfOwner: 60,
  minWaiting: 20,
};

const module = new URL('./offloaded/module.ts', import.meta.url);

function create(limits: Partial<OffloadLimits> = {}) {
  const offload = createOffload(SYSTEM_CLOCK, { ...LIMITS, ...limits });
  return (text: string, owner = 1, { signal } = new AbortController()) => offload({ owner, module, text, signal });
}

const protocol = (message: string) => ({ code: 'PROVIDER_PROTOCOL', message });

describe('work over a text in a thread', () => {
  it('answers a copy of what the module returns, and its size', async () => {
    const { value, bytes } = await create()('echo 123');
    expect(value).to.deep.equal(new Map([['length', 8]]));
    expect(bytes).to.be.within(10, 30);
  });

  it('fails as the module does', async () => {
    expect(await anyFailureOf(create()('dance'))).to.have.property('message', "There is no 'dance'.");
  });

  it('that does not end is ended', async () => {
    const failure = await anyFailureOf(create({ timeoutMs: 500 })('spin'));
    expect(failure).to.include(protocol('It takes more than 0.5 s to read the description of the service.'));
  });

  it('that takes all memory is ended, and the process goes on', async () => {
    const failure = await anyFailureOf(create()('grow'));
    expect(failure).to.include(protocol('It takes more than 32 MB to read the description of the service.'));
  });

  it('that ends its thread fails', async () => {
    const failure = await anyFailureOf(create()('end'));
    expect(failure).to.have.property('message', 'The thread ended with 3 and without a result.');
  });

  it('may not make more than can be kept', async () => {
    const failure = await anyFailureOf(create()('repeat 1001'));
    expect(failure).to.include(protocol('The description of the service becomes 1006 bytes; the maximum is 1000.'));
  });

  it('ends when the caller hangs up, while it runs and while it waits', async () => {
    const offload = create();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const failures = [anyFailureOf(offload('spin', 1, running)), anyFailureOf(offload('echo', 1, waiting))];
    waiting.abort(new Error('waiting no more'));
    running.abort(new Error('running no more'));
    expect((await Promise.all(failures)).map(String)).to.deep.equal([
      'Error: running no more',
      'Error: waiting no more',
    ]);
    expect(await offload('echo')).to.have.property('value');
  });

  it('is one at a time for an owner, and leaves a thread to others', async () => {
    const offload = create();
    const hostile = new AbortController();
    const spins = ['spin', 'spin', 'spin'].map((text) => anyFailureOf(offload(text, 1, hostile)));
    expect(await offload('echo', 2)).to.have.property('value');
    expect(await offload('echo', 3)).to.have.property('value');
    hostile.abort(new Error('enough'));
    await Promise.all(spins);
  });

  it('waits for a thread, as long as not too much waits', async () => {
    const offload = create({ threads: 1 });
    const hostile = new AbortController();
    const spin = anyFailureOf(offload('spin', 1, hostile));
    const text = `echo ${'x'.repeat(45)}`;
    const waiting = [offload(text, 2), offload(text, 3)];
    const failure = await anyFailureOf(offload('echo', 4));
    expect(failure).to.include({ code: 'OVERLOADED', retryAfterSeconds: 10 });
    hostile.abort(new Error('enough'));
    await spin;
    expect(await Promise.all(waiting)).to.have.length(2);
  });

  it('waits within the share of its owner', async () => {
    const offload = create({ threads: 1 });
    const hostile = new AbortController();
    const spin = anyFailureOf(offload('spin', 1, hostile));
    const text = `echo ${'x'.repeat(40)}`;
    const waiting = offload(text, 1);
    expect(await anyFailureOf(offload(text, 1))).to.have.property('code', 'OVERLOADED');
    const others = offload(text, 2);
    hostile.abort(new Error('enough'));
    await Promise.all([spin, waiting, others]);
  });

  it('counts for something while it waits, however short it is', async () => {
    const offload = create({ threads: 1 });
    const hostile = new AbortController();
    const spin = anyFailureOf(offload('spin', 1, hostile));
    const waiting = [2, 3, 4, 5, 6].map((owner) => offload('echo', owner));
    expect(await anyFailureOf(offload('echo', 7))).to.have.property('code', 'OVERLOADED');
    hostile.abort(new Error('enough'));
    await Promise.all([spin, ...waiting]);
  });
});
