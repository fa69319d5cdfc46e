import { expect } from 'chai';
import { done, failed, openSandbox } from './setup.ts';

const NOTHING = done([]);

/** What a script could leave for the next call, and how that call would find it. */
const LEFTOVERS = {
  'a global variable': ['globalThis.left = 1;', 'typeof left'],
  'a changed built-in object': ["JSON.parse = () => 'left';", "JSON.parse('1') === 'left' ? 'left' : 'undefined'"],
  'a polluted prototype': ['Object.prototype.left = 1; ({}).__proto__.left = 1;', 'typeof ({}).left'],
  'a toJSON of all objects': ['Object.prototype.toJSON = () => 1;', 'typeof ({}).toJSON'],
  'a setter of all objects': [
    "Object.defineProperty(Object.prototype, 'left', { set() {}, get: () => 1 });",
    'typeof ({}).left',
  ],
  'the locale of moment': [
    "require('moment').locale('left', { months: ['x'] });",
    "require('moment').locale() === 'left' ? 1 : 'undefined'",
  ],
  'a mixin of lodash': ["require('lodash').mixin({ left: () => 1 });", "typeof require('lodash').left"],
  'a replaced function of the host': [
    "CE.md5 = () => 'left'; console.log = undefined;",
    "CE.md5('a') === 'left' ? 1 : typeof console.log === 'function' ? 'undefined' : 1",
  ],
  'a promise': ['Promise.resolve().then(() => { globalThis.left = 1; }); new Promise(() => {});', 'typeof left'],
} as const;

describe('a script', () => {
  const sandbox = openSandbox();
  after(() => sandbox.close());

  for (const [what, [leave, look]] of Object.entries(LEFTOVERS)) {
    it(`cannot leave ${what} for the next record`, async () => {
      const body = `const found = ${look}; ${leave} done(found + originalObject.id);`;
      const results = await sandbox.many(body, [1, 2]);
      expect(results).to.deep.equal([done('undefined1'), done('undefined2')]);
    });

    it(`cannot leave ${what} for a later run of the same script, whoever runs it`, async () => {
      // From the second run on, the script is not compiled again.
      const body = `const found = ${look}; ${leave} done(found + originalObject.id);`;
      for (const owner of [1, 1, 1, 2, 1]) expect(await sandbox.one(body, { owner })).to.deep.equal(done('undefined1'));
    });

    it(`cannot leave ${what} for another account`, async () => {
      await sandbox.one(`${leave} done();`, { owner: 1 });
      expect(await sandbox.one(`done(${look});`, { owner: 2 })).to.deep.equal(done('undefined'));
    });
  }

  it('finds what it is given, also when other scripts of the account ran in between', async () => {
    const bodies = [1, 2, 3].map(
      (n) => `const twice = originalObject.id * ${n}; done({ n: ${n}, twice, tags: originalObject.tags });`,
    );
    for (const id of [1, 2, 3, 4]) {
      for (const [at, body] of bodies.entries()) {
        const [result] = await sandbox.many(body, [id]);
        expect(result).to.deep.equal(done({ n: at + 1, twice: id * (at + 1), tags: ['a', 'b'] }));
      }
    }
  });

  it('finds no memory of the record before', async () => {
    const body = `
      const bytes = new Uint8Array(4e6);
      const dirty = bytes[0] !== 0 || bytes[123] !== 0 || bytes.lastIndexOf(170) !== -1;
      bytes.fill(170);
      done(dirty);`;
    expect(await sandbox.many(body, [1, 2, 3])).to.deep.equal([done(false), done(false), done(false)]);
  });

  for (const [what, body] of Object.entries({
    'process by the constructor of functions': "done(constructor.constructor('return typeof process')());",
    'require of Node by its name': 'done(typeof process + typeof module + typeof exports + typeof __dirname);',
    'the host by the stack of an error':
      'try { null.x; } catch (e) { done(typeof e.constructor.constructor("return process")); }',
    'the host by prepareStackTrace':
      "Error.prepareStackTrace = (_, frames) => frames; const { stack } = new Error(); done(typeof stack === 'string' ? 'undefined' : 'host');",
    'the host by a proxy of an argument':
      "const p = new Proxy(transformedObject, { get: () => 'undefined' }); done(p.x);",
    'callers by arguments.callee': "try { done(typeof arguments.callee); } catch { done('undefined'); }",
    'callers by Function.caller':
      "function f() { return f.caller; } try { done(typeof f()); } catch { done('undefined'); }",
    timers: 'done(typeof setTimeout + typeof setInterval + typeof setImmediate);',
    'the network': 'done(typeof fetch + typeof WebSocket + typeof XMLHttpRequest);',
    'files of QuickJS': 'done(typeof std + typeof os + typeof scriptArgs);',
    threads: 'done(typeof Worker + typeof Atomics + typeof postMessage);',
    WebAssembly: 'done(typeof WebAssembly);',
    'the global object of Node': 'done(typeof global + typeof Buffer);',
  }))
    it(`cannot reach ${what}`, async () => {
      const result = await sandbox.one(body);
      const text = result.kind === 'done' ? String(result.value) : '';
      expect(text, JSON.stringify(result)).to.match(/^(?:undefined|function)+$/);
      if (what !== 'the host by the stack of an error') expect(text).to.not.include('function');
    });

  it('cannot import modules', async () => {
    const result = await sandbox.one("import('node:fs').then(() => done('loaded'), (error) => done(error.name));");
    expect(result).to.have.property('value').that.does.not.equal('loaded');
  });

  it('cannot do more than name a function that the host does not have', async () => {
    // The request of CE.md5 as a script that changed JSON.stringify would form it.
    const result = await sandbox.one(
      "CE.md5({ toString: () => '\"]' }); JSON.stringify = () => '[\"random\"]'; done(CE.md5('a'));",
    );
    expect(result).to.deep.equal(done('0cc175b9c0f1b6a831c399e269772661'));
  });

  for (const [what, body, result] of [
    ['__proto__', 'done(JSON.parse(\'{"__proto__":{"polluted":1}}\'));', '{"__proto__":{"polluted":1}}'],
    ['a getter', 'done({ get a() { return 1; } });', '{"a":1}'],
    [
      'a proxy',
      "done(new Proxy({}, { ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }), get: () => 5 }));",
      '{"a":5}',
    ],
    ['toJSON', 'done({ toJSON: () => ({ then: 1 }) });', '{"then":1}'],
    ['Symbol.toPrimitive', 'done({ a: { [Symbol.toPrimitive]: () => 1, b: 2 } });', '{"a":{"b":2}}'],
    ['lone surrogates', "done('\\ud800');", '"\\ud800"'],
  ] as const)
    it(`returns plain JSON for a result with ${what}`, async () => {
      const ended = await sandbox.one(body);
      expect(ended).to.have.property('kind', 'done');
      expect(JSON.stringify('value' in ended ? ended.value : undefined)).to.equal(result);
      expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
    });

  it('that throws in a getter of its result fails', async () => {
    expect(await sandbox.one("done({ get a() { throw 'no'; } });")).to.deep.equal(failed('no'));
  });

  it('that is called for no record leaves none', async () => {
    expect(await sandbox.one('done([].concat());')).to.deep.equal(NOTHING);
  });
});
