import { expect } from 'chai';
import { ExactNumber } from '../../src/numbers/exact-json.ts';
import { FORMULA_LIMITS, type ScriptResult, TRANSFORMATION_LIMITS } from '../../src/scripts/index.ts';
import { anyFailureOf } from '../support/failures.ts';
import { done, failed, openSandbox } from './setup.ts';

const TIMED_OUT = failed('Script execution timed out after 50 ms');
const OUT_OF_MEMORY = failed('Script execution exceeded 16 MB of memory');
const TOO_DEEP = failed('Script execution exceeded the maximum depth of calls or of nested values');

describe('the sandbox of scripts', () => {
  const sandbox = openSandbox();
  after(() => sandbox.close());

  describe('runs a script', () => {
    it('once for each call, in order', async () => {
      const body = 'transformedObject.id = originalObject.id * 2; done(transformedObject);';
      const results = await sandbox.many(body, [1, 2, 3]);
      expect(results).to.deep.equal([
        done({ name: 'n1', id: 2 }),
        done({ name: 'n2', id: 4 }),
        done({ name: 'n3', id: 6 }),
      ]);
    });

    it('for no call', async () => {
      expect(await sandbox.many('done(1)', [])).to.deep.equal([]);
    });

    for (const [what, body, result] of [
      ['keeps the first call of done', 'done(1); done(2);', done(1)],
      ['copies the result when done is called', 'const a = { b: 1 }; done(a); a.b = 2;', done({ b: 1 })],
      ['returns no value for done()', 'done();', { kind: 'done', console: [] }],
      ['returns no value for a function', 'done(() => 1);', { kind: 'done', console: [] }],
      ['tells null from no value', 'done(null);', done(null)],
      ['says when done is not called', 'originalObject.id + 1;', { kind: 'silent', console: [] }],
      ['waits for a promise', 'Promise.resolve({ a: 1 }).then(done);', done({ a: 1 })],
      ['accepts await', 'const a = await Promise.resolve(5); done(a);', done(5)],
      ['accepts await as a name where there is no await', 'done(((a) => a)(1)) // await', done(1)],
      ['does not wait for ever', 'new Promise(() => {}).then(done);', { kind: 'silent', console: [] }],
      ['reports what is thrown as a text', "throw 'why';", failed('why')],
      ['reports what is thrown as an object', 'throw { code: 5 };', failed('{"code":5}')],
      [
        'reports the line of an error',
        '\n\nnothing.here();',
        failed("ReferenceError: 'nothing' is not defined (line 3)"),
      ],
      ['reports a rejected async script', "await 1; throw new Error('no');", failed('Error: no (line 1)')],
      ['reports a failure after done', "done(1); throw 'late';", failed('late')],
      ['is strict', 'undeclared = 1; done(1);', failed("ReferenceError: 'undeclared' is not defined (line 1)")],
      ['protects the original object', 'originalObject.id = 5;', failed("TypeError: 'id' is read-only (line 1)")],
      ['protects all of it', "originalObject.tags.push('c');", failed('TypeError: object is not extensible (line 1)')],
    ] as const)
      it(what, async () => {
        expect(await sandbox.one(body)).to.deep.equal(result);
      });

    it('and reports a syntax error for every call', async () => {
      const [first, second] = await sandbox.many('done(;', [1, 2]);
      expect(first).to.include({ kind: 'failed' }).and.to.deep.equal(second);
      expect(first)
        .to.have.property('reason')
        .that.matches(/^SyntaxError: .* \(line 1\)$/);
    });

    it('and keeps its console', async () => {
      const body = "console.log('a', 1, { b: [2] }, undefined, null); console.error(new Error('x')); throw 'why';";
      expect(await sandbox.one(body)).to.deep.equal(failed('why', ['a 1 {"b":[2]} undefined null', 'Error: x']));
    });

    it('and bounds its console by lines and by characters', async () => {
      const lines = await sandbox.one('for (let i = 0; i < 1000; i++) console.log(i); done(1);');
      expect(lines.console).to.have.length(100);
      const characters = await sandbox.one("for (let i = 0; i < 5; i++) console.log('x'.repeat(10000)); done(1);");
      expect(characters.console.map(({ length }) => length)).to.deep.equal([10_000]);
      const long = await sandbox.one("console.log('x'.repeat(20000)); console.log('y'); done(1);");
      expect(long.console.map(({ length }) => length)).to.deep.equal([16_384]);
    });

    it('and keeps what it wrote before it was stopped', async () => {
      const result = await sandbox.one("console.log('begin'); while (true);");
      expect(result).to.deep.equal({ ...TIMED_OUT, console: ['begin'] });
    });
  });

  describe('provides', () => {
    for (const [what, body, value] of [
      ['lodash', "const _ = require('lodash'); done(_.sortBy([3, 1, 2]));", [1, 2, 3]],
      ['lodash/fp', "done(require('lodash/fp').flow((a) => a + 1, String)(1));", '2'],
      [
        'moment',
        "done(require('moment')('2024-02-03T04:05:06Z').utc().add(1, 'day').format('YYYY-MM-DD'));",
        '2024-02-04',
      ],
      ['util', "done(require('util').format('%s is %d: %j', 'a', 1, { b: 2 }));", 'a is 1: {"b":2}'],
      [
        'util.inspect',
        "done(require('util').inspect({ a: [1, 'b'], c: { d: { e: { f: 1 } } } }));",
        "{ a: [ 1, 'b' ], c: { d: { e: [Object] } } }",
      ],
      ['a library by a computed name', "const r = require; done(typeof r('mom' + 'ent'));", 'function'],
      ['CE.md5', "done(CE.md5('a'));", '0cc175b9c0f1b6a831c399e269772661'],
      ['CE.b64 and CE.decode64', "done([CE.b64('ä\\u0000'), CE.decode64('w6QA')]);", ['w6QA', 'ä\0']],
      ['CE.hmac', "done(CE.hmac('sha1')('hex')('k', 'v'));", '94fc6a2f7e89b8196cf74e1079a8c11eb679a552'],
      ['CE.hmacSha256Base64', "done(CE.hmacSha256Base64('k', 'v'));", 'xdS+GZLVDTtB+aISkvxnoooUhvxkoFF9N/mvhH4HMt4='],
      [
        'countries',
        "done([CE.currencyCode('Germany'), CE.currencySymbol('eur'), CE.iso2CountryCode(' france'), CE.iso3CountryCode('US')]);",
        ['EUR', '€', 'FR', 'USA'],
      ],
      [
        'nothing for unknown countries',
        "done([CE.currencyCode('Nowhere') === undefined, CE.currencySymbol('') === undefined]);",
        [true, true],
      ],
    ] as const)
      it(what, async () => {
        expect(await sandbox.one(body)).to.deep.equal(done(value));
      });

    it('random values that differ between calls', async () => {
      const results = await sandbox.many(
        'done([CE.randomString(), CE.randomEmail(), Math.random()].join());',
        [1, 2, 3],
      );
      expect(new Set(results.map((result) => JSON.stringify(result)))).to.have.property('size', 3);
    });

    it('no other module, and says which ones there are', async () => {
      expect(await sandbox.one("require('fs');")).to.deep.equal(
        failed(
          "Error: Cannot load 'fs'. Scripts can load 'lodash', 'lodash/fp', 'moment' and 'util', by a name that is written out: require('lodash') (line 1)",
        ),
      );
    });

    it('no algorithm that it does not know', async () => {
      expect(await sandbox.one("CE.hmac('none')('hex')('a', 'b');"))
        .to.have.property('reason')
        .that.includes('it knows md5, sha1');
    });
  });

  describe('stops a script that', () => {
    for (const [what, body, result] of [
      ['loops', 'while (true);', TIMED_OUT],
      ['catches everything', 'while (true) try { while (true); } catch {} finally { while (true); }', TIMED_OUT],
      ['loops in its text', '}); while (true); (function () {', TIMED_OUT],
      ['never ends its promises', '(function again() { Promise.resolve().then(again); })();', TIMED_OUT],
      [
        'never ends its generator',
        'const g = (function* () { while (true) yield 1; })(); for (const x of g);',
        TIMED_OUT,
      ],
      ['backtracks in a regular expression', "/(a+)+$/.test('a'.repeat(50) + 'b');", TIMED_OUT],
      ['loops after done', 'done(1); while (true);', TIMED_OUT],
      ['makes a long text', "'x'.repeat(1e9);", OUT_OF_MEMORY],
      ['makes a large array buffer', 'new Uint8Array(1e9);', OUT_OF_MEMORY],
      ['recurses', '(function f() { f(); })();', TOO_DEEP],
      [
        'throws what cannot be shown',
        'throw { toString() { throw 1; }, toJSON() { throw 2; } };',
        failed('The script threw a value that has no text'),
      ],
      [
        'returns a result that is too long',
        "done('x'.repeat(9e6));",
        failed('The result has 9000002 bytes of JSON; the maximum is 8388608'),
      ],
      [
        'returns a result that is too long in UTF-8',
        "done('ü'.repeat(5e6));",
        failed('The result has 10000002 bytes of JSON; the maximum is 8388608'),
      ],
      ['returns too many values', 'done(new Array(120000).fill(1));', failed('The result has more than 100000 values')],
      [
        'returns a nested result',
        'let a = 1; for (let i = 0; i < 600; i++) a = [a]; done(a);',
        failed('The result is nested deeper than 200 levels'),
      ],
      ['loops in a value that prints itself', 'done({ toJSON() { while (true); } });', TIMED_OUT],
      ['loops after a large result', "done('x'.repeat(1e6)); while (true);", TIMED_OUT],
      ['returns a circle', 'const a = {}; a.a = a; done(a);', failed('TypeError: circular reference (line 1)')],
      ['returns a BigInt', 'done(1n);', failed('TypeError: Do not know how to serialize a BigInt (line 1)')],
    ] as const)
      it(what, async () => {
        expect(await sandbox.one(body)).to.deep.equal(result);
      });

    it('takes memory in small pieces', async () => {
      const job = { limits: { ...TRANSFORMATION_LIMITS, recordMs: 5000, memoryBytes: 2 ** 20 } };
      const result = await sandbox.one("const all = []; while (true) all.push({ a: 'b' + all.length });", job);
      expect(result).to.deep.equal(failed('Script execution exceeded 1 MB of memory'));
    });

    it('fails for one record, and runs it for the others', async () => {
      const body = `
        if (originalObject.id === 2) while (true);
        if (originalObject.id === 3) 'x'.repeat(1e9);
        if (originalObject.id === 4) (function f() { f(); })();
        done(originalObject.id);`;
      expect(await sandbox.many(body, [1, 2, 3, 4, 5])).to.deep.equal([
        done(1),
        TIMED_OUT,
        OUT_OF_MEMORY,
        TOO_DEEP,
        done(5),
      ]);
    });

    it('takes too long for all records together', async () => {
      const job = { limits: { ...TRANSFORMATION_LIMITS, batchMs: 80 } };
      const results = await sandbox.many('while (true);', [1, 2, 3, 4], job);
      const timedOut = failed('Script execution timed out after 80 ms for all records together');
      expect(results).to.deep.equal([TIMED_OUT, timedOut, timedOut, timedOut]);
    });
  });

  it('lets formulas have results of more values', async () => {
    const result = await sandbox.one('done(new Array(150000).fill(1));', { limits: FORMULA_LIMITS });
    expect(result).to.have.property('value').that.has.length(150_000);
  });

  describe('with several jobs for one page', () => {
    it('ends with fewer results when there are enough characters', async () => {
      const body = "done('x'.repeat(900000) + originalObject.id);";
      const first = await sandbox.many(body, [1, 2, 3, 4, 5, 6], { enoughCharacters: 1_500_000 });
      const lastOf = (result: ScriptResult) => ('value' in result ? String(result.value).slice(-1) : '?');
      expect(first.map(lastOf).join('')).to.be.oneOf(['12', '123']);
      const single = await sandbox.many(body, [1, 2], { enoughCharacters: 1 });
      expect(single.length).to.be.oneOf([1, 2]);
    });

    it('lets them share the time', async () => {
      const time = { leftMs: 80 };
      const timedOut = failed('Script execution timed out after 5000 ms for all records together');
      expect(await sandbox.one('while (true);', { time })).to.deep.equal(TIMED_OUT);
      expect(await sandbox.many('while (true);', [1, 2], { time })).to.deep.equal([timedOut, timedOut]);
      expect(time.leftMs).to.be.at.most(0);
    });
  });

  it('keeps the digits of numbers that a script does not change', async () => {
    const id = new ExactNumber('9007199254740993');
    const values = { originalObject: { id }, transformedObject: { id, n: 5 }, fromVendor: true };
    const body =
      'transformedObject.copy = originalObject.id; transformedObject.next = originalObject.id + 2; done(transformedObject);';
    const result = await sandbox.one(body, { calls: [{ values }] });
    expect(result).to.deep.equal(done({ id, n: 5, copy: id, next: 9007199254740994 }));
  });

  it('passes missing arguments as null', async () => {
    expect(await sandbox.one('done([originalObject, fromVendor]);', { calls: [{ values: {} }] })).to.deep.equal(
      done([null, null]),
    );
  });

  it('refuses names of parameters that are no names', async () => {
    expect(await anyFailureOf(sandbox.one('1', { parameters: ['a){'] }))).to.have.property(
      'message',
      "'a){' cannot be the name of a parameter of a script.",
    );
  });
});
