import { expect } from 'chai';
import { SYSTEM_CLOCK, sleep } from '../../src/clock.ts';
import { FORMULA_LIMITS, TRANSFORMATION_LIMITS } from '../../src/scripts/index.ts';
import { anyFailureOf } from '../support/failures.ts';
import { until } from '../support/until.ts';
import { done, failed, openSandbox, type TestSandbox } from './setup.ts';

const TIMED_OUT = failed('Script execution timed out after 50 ms');
/** QuickJS cannot interrupt this loop in itself. */
const HANG = '[].indexOf.call({ length: 2 ** 53 - 1 }, 1);';
/** Endless for a test, unless it is ended. */
const LONG = { limits: { ...FORMULA_LIMITS, recordMs: 60_000, batchMs: 60_000 } };

describe('the threads of scripts', () => {
  let sandbox: TestSandbox;
  afterEach(() => sandbox.close());

  it('end where the engine hangs, and the other records run', async () => {
    sandbox = openSandbox({ threads: 1 });
    const body = `if (originalObject.id === 2) ${HANG} done(originalObject.id);`;
    expect(await sandbox.many(body, [1, 2, 3])).to.deep.equal([done(1), TIMED_OUT, done(3)]);
    expect(await sandbox.one('done(4);', { owner: 2 })).to.deep.equal(done(4));
  });

  it('end where every record hangs, after the time of all records', async () => {
    sandbox = openSandbox({ threads: 1 });
    const job = { limits: { ...TRANSFORMATION_LIMITS, batchMs: 100 } };
    const results = await sandbox.many(HANG, [1, 2, 3], job);
    const last = failed('Script execution timed out after 100 ms for all records together');
    expect(results).to.deep.equal([TIMED_OUT, TIMED_OUT, last]);
  });

  for (const [what, hang] of Object.entries({
    'a join of a long list': "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '');",
    'a fill': 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 0);',
    'a search in a proxy':
      'Array.prototype.includes.call(new Proxy({}, { get: (_, n) => (n === "length" ? 2 ** 53 - 1 : 0) }), 1);',
    'a reverse': 'Array.prototype.reverse.call({ length: 2 ** 53 - 2 });',
    'a copy of a long list': 'Array.from({ length: 2 ** 32 - 1 });',
    'a large power': 'let n = 3n; while (true) n *= n;',
    'a search for a long text': "const a = 'a'.repeat(3e6); while (true) a.lastIndexOf('b'.repeat(1e6) + a);",
    'a sort with a comparison that lies':
      'const a = Array.from({ length: 3e5 }, () => 1); while (true) a.sort(() => 1);',
    'a long split': "while (true) 'ab'.repeat(4e5).split('');",
    'a replace that grows': "let s = 'a'; while (true) s = s.replace(/a/g, 'aaaa').slice(0, 3e6);",
    'a number with many digits': "while (true) BigInt('9'.repeat(2e5)).toString();",
  }))
    it(`survive ${what}`, async () => {
      sandbox = openSandbox();
      const result = await sandbox.one(`${hang} done('survived');`);
      expect(result).to.have.property('kind', 'failed');
      expect(await sandbox.one('done(1);')).to.deep.equal(done(1));
    });

  it('let other accounts run beside one that hangs', async () => {
    sandbox = openSandbox();
    const hostile = new AbortController();
    const hung = anyFailureOf(sandbox.many(HANG, [1, 2, 3, 4], { owner: 1, signal: hostile.signal, ...LONG }));
    const others = await Promise.all([2, 3, 4].map((owner) => sandbox.one('done(1);', { owner })));
    expect(others).to.deep.equal([done(1), done(1), done(1)]);
    hostile.abort(new Error('enough'));
    expect(await hung).to.have.property('message', 'enough');
  });

  it('take turns between accounts, however long the work of one is', async () => {
    sandbox = openSandbox({ threads: 1 });
    const order: string[] = [];
    const body = 'const end = Date.now() + 45; while (Date.now() < end); done(1);';
    const ids = Array.from({ length: 20 }, (_, index) => index);
    const long = sandbox.many(body, ids, { owner: 1 }).then(() => order.push('long'));
    const own = sandbox.one('done(1);', { owner: 1 }).then(() => order.push('own'));
    const other = sandbox.one('done(1);', { owner: 2 }).then(() => order.push('other'));
    await Promise.all([long, own, other]);
    expect(order).to.deep.equal(['other', 'long', 'own']);
  });

  it('give an account one thread at a time', async () => {
    sandbox = openSandbox({ threads: 2 });
    const hostile = new AbortController();
    const job = { owner: 1, signal: hostile.signal, ...LONG };
    const spins = [1, 2, 3].map(() => anyFailureOf(sandbox.one('while (true);', job)));
    expect(await sandbox.one('done(1);', { owner: 2 })).to.deep.equal(done(1));
    hostile.abort(new Error('enough'));
    await Promise.all(spins);
  });

  it('refuse work of an account beyond its share, and take that of others', async () => {
    sandbox = openSandbox({ threads: 1, minWaiting: 10, maxWaitingOfOwner: 1000, maxWaiting: 2000 });
    const hostile = new AbortController();
    const text = `done(1); //${'x'.repeat(800)}`;
    const first = anyFailureOf(sandbox.one(text, { owner: 1, signal: hostile.signal }));
    const failure = await anyFailureOf(sandbox.one(text, { owner: 1 }));
    expect(failure).to.include({
      code: 'OVERLOADED',
      retryAfterSeconds: 5,
      message: 'Too many records are waiting for scripts. Try again in 5 s.',
    });
    const second = sandbox.one(text, { owner: 2 });
    expect(await anyFailureOf(sandbox.one(text, { owner: 3 }))).to.have.property('code', 'OVERLOADED');
    hostile.abort(new Error('enough'));
    expect(await first).to.have.property('message', 'enough');
    expect(await second).to.deep.equal(done(1));
    // What is over counts no longer.
    expect(await sandbox.one(text, { owner: 1 })).to.deep.equal(done(1));
  });

  it('stop waiting when the caller hangs up, before and after the start', async () => {
    sandbox = openSandbox();
    expect(await anyFailureOf(sandbox.one('1', { signal: AbortSignal.abort(new Error('before')) }))).to.have.property(
      'message',
      'before',
    );
    const running = new AbortController();
    const failure = anyFailureOf(sandbox.one('while (true);', { signal: running.signal }));
    running.abort(new Error('while it ran'));
    expect(await failure).to.have.property('message', 'while it ran');
  });

  it('end with long work for which nobody waits', async () => {
    sandbox = openSandbox({ threads: 1 });
    const running = new AbortController();
    const failure = anyFailureOf(sandbox.one('while (true);', { signal: running.signal, ...LONG }));
    running.abort(new Error('enough'));
    expect(await failure).to.have.property('message', 'enough');
    expect(await sandbox.one('done(1);')).to.deep.equal(done(1));
  });

  it('take no more work when they are ended while their result arrives', async () => {
    sandbox = openSandbox({ threads: 1 });
    // From now on the thread begins at once.
    expect(await sandbox.one('done(1);')).to.deep.equal(done(1));
    const running = new AbortController();
    const failure = anyFailureOf(sandbox.one('done(2);', { signal: running.signal, ...LONG }));
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    // The result arrives while this thread of the process is busy.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    running.abort(new Error('enough'));
    expect(await failure).to.have.property('message', 'enough');
    await sleep(SYSTEM_CLOCK, 100);
    expect(await sandbox.one('done(3);')).to.deep.equal(done(3));
  });

  it('end with the sandbox, which then takes no more work', async () => {
    sandbox = openSandbox({ threads: 1 });
    const failures = [1, 2].map((owner) => anyFailureOf(sandbox.one(HANG, { owner, ...LONG })));
    await sandbox.close();
    for (const failure of await Promise.all(failures)) expect(failure).to.have.property('code', 'OVERLOADED');
    expect(await anyFailureOf(sandbox.one('done(1);'))).to.include({
      code: 'OVERLOADED',
      message: 'The service is stopping and runs no more scripts. Try again in a moment.',
    });
  });

  it('end when they have no work, and start again', async () => {
    sandbox = openSandbox({ idleMs: 10 });
    const countThreads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = countThreads();
    expect(await sandbox.one('done(1);')).to.deep.equal(done(1));
    await until(() => countThreads() <= before);
    expect(await sandbox.one('done(2);')).to.deep.equal(done(2));
  });

  it('run a batch in several slices', async () => {
    sandbox = openSandbox();
    const ids = Array.from({ length: 600 }, (_, index) => index);
    const results = await sandbox.many('done(originalObject.id);', ids);
    expect(results).to.deep.equal(ids.map((id) => done(id)));
  });

  it('handle large records of several accounts', async () => {
    sandbox = openSandbox({ threads: 2 });
    const record = { text: 'x'.repeat(4e6) };
    const calls = [{ values: { originalObject: record, transformedObject: record, fromVendor: true } }];
    const running = new AbortController();
    const aborted = anyFailureOf(sandbox.one('done(1);', { owner: 9, calls, signal: running.signal }));
    const results = Promise.all(
      [1, 2, 3, 4].map((owner) => sandbox.one('done(transformedObject.text.length);', { owner, calls })),
    );
    running.abort(new Error('enough'));
    const small = await sandbox.one('done(1);', { owner: 5 });
    expect(await aborted).to.have.property('message', 'enough');
    expect(await results).to.deep.equal([1, 2, 3, 4].map(() => done(4e6)));
    expect(small).to.deep.equal(done(1));
  });

  it('run a batch whose results are large', async () => {
    sandbox = openSandbox();
    const results = await sandbox.many("done('x'.repeat(900000) + originalObject.id);", [1, 2, 3, 4, 5, 6]);
    expect(results.map((result) => ('value' in result ? String(result.value).slice(-1) : '?'))).to.deep.equal([
      ...'123456',
    ]);
  });
});
