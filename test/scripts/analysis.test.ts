import { expect } from 'chai';
import fc from 'fast-check';
import { analyse } from '../../src/scripts/index.ts';
import { runs, seedOr } from '../../suite/effort.ts';
import { openSandbox } from './setup.ts';

const PARAMETERS = ['originalObject', 'transformedObject', 'fromVendor'];

const writesOf = (body: string) => analyse(body, PARAMETERS).writes;

describe('the analysis of a script', () => {
  for (const [body, writes] of [
    ['', []],
    ['done(transformedObject)', []],
    ['done()', []],
    ['transformedObject.a = 1', ['a']],
    ["transformedObject['a'] = 1", ['a']],
    ['transformedObject[`a`] = 1', 'anything'],
    ['transformedObject.a.b = 1', ['a.b']],
    ['transformedObject?.a.b.c.push(1)', ['a.b.c']],
    ['transformedObject.a.b = 1; transformedObject.a = 2', ['a']],
    ['transformedObject.ab = 1; transformedObject.a = 2', ['a', 'ab']],
    ['transformedObject.a += 1; transformedObject.b ??= 1; transformedObject.c **= 1', ['a', 'b', 'c']],
    ['transformedObject.a++; --transformedObject.b; delete transformedObject.c', ['a', 'b', 'c']],
    ['[transformedObject.a, ...transformedObject.b] = [1]', ['a', 'b']],
    ['({ x: transformedObject.a, y: transformedObject.b = 1, ...transformedObject.c } = {})', ['a', 'b', 'c']],
    ['for (transformedObject.a of []); for (transformedObject.b in {});', ['a', 'b']],
    ['transformedObject.list[0].name = 1', ['list']],
    ['transformedObject.list[index] = 1', ['list']],
    ["transformedObject['a.b'] = 1", 'anything'],
    ["transformedObject.a['b.c'] = 1", ['a']],
    ['(() => { transformedObject.a = 1; })()', ['a']],
    ['await 1; transformedObject.a = 1', ['a']],
    // Reading a member changes nothing.
    ["transformedObject.n = transformedObject.a + ' ' + `${transformedObject.b}`", ['n']],
    ['if (transformedObject.a && !transformedObject.b) transformedObject.c = 1', ['c']],
    ['transformedObject.n = transformedObject.a === 1 ? 2 : typeof transformedObject.b', ['n']],
    ['switch (transformedObject.a) { case transformedObject.b: transformedObject.c = 1 }', ['c']],
    ['transformedObject.n = String(transformedObject.a) + Number(transformedObject.b || 0)', ['n']],
    ['if (transformedObject && "a" in transformedObject) transformedObject.b = 1', ['b']],
    ["if (transformedObject.hasOwnProperty('a')) transformedObject.b = 1", ['b']],
    ['for (const name in transformedObject) console.log(name, transformedObject)', []],
    ['console.log(Object.keys(transformedObject), JSON.stringify(transformedObject))', []],
    ['const n = Object.keys(transformedObject).length', []],
    // A member that is kept elsewhere may be changed later.
    ['const a = transformedObject.a; a.b = 1', ['a']],
    ['originalObject.list.push(transformedObject.a)', ['a']],
    ['f({ x: transformedObject.a })', ['a']],
    ['const f = () => transformedObject.a', ['a']],
    ['(transformedObject.a || transformedObject.b).c = 1', ['a', 'b']],
    ['transformedObject.n = transformedObject.name.trim()', ['n', 'name']],
    ['transformedObject.list.forEach((x) => { x.a = 1; })', ['list']],
    // The object itself escapes.
    ['const x = transformedObject', 'anything'],
    ['transformedObject = {}', 'anything'],
    ['f(transformedObject)', 'anything'],
    ['Object.assign(transformedObject, {})', 'anything'],
    ['const x = { ...transformedObject }', 'anything'],
    ['const { a } = transformedObject', 'anything'],
    ['const x = { transformedObject }', 'anything'],
    ['return transformedObject', 'anything'],
    ['const f = () => transformedObject', 'anything'],
    ['transformedObject[name] = 1', 'anything'],
    ['delete transformedObject[name]', 'anything'],
    ['transformedObject.f()', 'anything'],
    ['transformedObject.valueOf().a = 1', 'anything'],
    ['transformedObject.toString = f', 'anything'],
    ['(transformedObject || {}).a = 1', 'anything'],
    ['JSON.stringify(transformedObject, function () { this.a = 1; })', 'anything'],
    ['console.log = f; console.log(transformedObject)', 'anything'],
    ['const String = f; String(transformedObject.a)', ['a']],
    // Something else becomes the result.
    ['done({ a: 1 })', 'anything'],
    ['done(originalObject)', 'anything'],
    ['Promise.resolve({}).then(done)', 'anything'],
    ['const finish = done', 'anything'],
    // Names and functions that hide what happens.
    ['function f(transformedObject) { transformedObject.a = 1; }', 'anything'],
    ['var transformedObject', 'anything'],
    ['try {} catch (transformedObject) {}', 'anything'],
    ['function f(done) {}', 'anything'],
    ['arguments[1].a = 1', 'anything'],
    ["eval('1')", 'anything'],
    ["new Function('1')", 'anything'],
    ['Object.prototype.a = 1', 'anything'],
    ["({})['__proto__'].a = 1", 'anything'],
    ['({}).toJSON', 'anything'],
    ['globalThis.console = 1', 'anything'],
    // Names of members and labels are no variables.
    [
      'originalObject.transformedObject.a; ({ transformedObject: 1 }); transformedObject: for (;;) break transformedObject;',
      [],
    ],
    ['class A { transformedObject() {} done() {} }', []],
  ] as const)
    it(`of ${JSON.stringify(body)}`, () => {
      expect(writesOf(body)).to.deep.equal(writes);
    });

  it('says why anything may be changed', () => {
    expect(analyse('\nf(transformedObject)', PARAMETERS)).to.deep.equal({
      writes: 'anything',
      why: 'The script uses transformedObject as a whole (line 2)',
      mayDrop: true,
    });
  });

  for (const [body, mayDrop] of [
    ['done(transformedObject)', false],
    ['done(null)', true],
    ['if (fromVendor) done({}); else done(transformedObject)', true],
    ['done()', true],
    ['f(done)', true],
  ] as const)
    it(`finds out whether ${JSON.stringify(body)} may drop a record`, () => {
      expect(analyse(body, PARAMETERS).mayDrop).to.equal(mayDrop);
    });

  for (const [what, body, message, position] of [
    ['an unfinished sum', 'a +', 'Unexpected token (line 1, column 4)', 3],
    ['an error in the second line', 'const a = 1;\n  a a', 'Unexpected token (line 2, column 5)', 17],
    ['a second function', '}); (function () {', 'A brace or a parenthesis closes the function of the script.', 0],
    ['an import', "import x from 'y'", "'import' and 'export' may only appear at the top level (line 1, column 1)", 0],
    ['a with statement', 'with (a) {}', "'with' in strict mode (line 1, column 1)", 0],
    ['a long script', ' '.repeat(65_537), 'The script has 65537 characters; the maximum is 65536.', 65_536],
  ] as const)
    it(`reports ${what}`, () => {
      const { syntaxError, writes } = analyse(body, PARAMETERS);
      expect({ syntaxError, writes }).to.deep.equal({ syntaxError: { message, position }, writes: 'anything' });
    });

  for (const body of ['('.repeat(32_000), `${'['.repeat(30_000)}${']'.repeat(30_000)}`, '!'.repeat(65_000)])
    it(`reports that ${body.slice(0, 3)}… is nested too deeply`, () => {
      expect(analyse(body, PARAMETERS).syntaxError?.message).to.match(/^The script is nested too deeply/);
    });

  it('takes a long sum', () => {
    expect(writesOf(`transformedObject.a = ${'1+'.repeat(3000)}1`)).to.deep.equal(['a']);
  });

  describe('never misses a write', () => {
    const sandbox = openSandbox();
    after(() => sandbox.close());
    const record = { a: 1, b: { c: [1, 2, { d: 3 }], e: 'x' }, list: [{ d: 1 }, { d: 2 }], name: 'n' };

    it('of random scripts', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(statements, { minLength: 1, maxLength: 6 }), async (lines) => {
          const body = `const other = { x: 1, list: [1] };\n${lines.map((line) => `try { ${line} } catch {}`).join('\n')}\ndone(transformedObject);`;
          const { writes, syntaxError } = analyse(body, PARAMETERS);
          expect(syntaxError, body).to.equal(undefined);
          if (writes === 'anything') return;
          const values = { originalObject: record, transformedObject: record, fromVendor: true };
          const result = await sandbox.one(body, { calls: [{ values }] });
          const changed = result.kind === 'done' ? changesOf(record, result.value, []) : [];
          for (const path of changed)
            expect(
              writes.some((write) => `${path}.`.startsWith(`${write}.`)),
              `${path} in ${writes}\n${body}`,
            ).to.equal(true);
        }),
        { seed: seedOr(5), numRuns: runs(3000) },
      );
    });
  });
});

/** Returns the paths at which two values differ. */
function changesOf(one: unknown, other: unknown, path: readonly string[]): readonly string[] {
  if (isMembers(one) && isMembers(other) && Array.isArray(one) === Array.isArray(other))
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
      changesOf(one[name], other[name], [...path, name]),
    );
  return Object.is(one, other) ? [] : [path.join('.')];
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const members = fc.constantFrom(
  ...[
    '.a',
    '.b',
    '.b.c',
    '.b.c[2]',
    '.b.e',
    '.list',
    '.list[0]',
    '.list[1].d',
    '.name',
    '.fresh',
    "['b']['e']",
    '?.b?.c',
    '.b[fromVendor ? "e" : "c"]',
  ],
);
const mentions = members.map((path) => `transformedObject${path}`);
const targets = mentions.map((mention) => mention.replaceAll('?.', '.'));
const values = fc.oneof(
  fc.constantFrom('1', "'s'", '{ z: 1 }', '[1, 2]', 'other', 'other.list', 'originalObject.b', 'null'),
  mentions,
  mentions.map((mention) => `(${mention} || other)`),
  mentions.map((mention) => `${mention} + 1`),
  mentions.map((mention) => `JSON.stringify(${mention})`),
  mentions.map((mention) => `[${mention}]`),
);
const functions = fc.constantFrom(
  '(x) => { x.d = 9; }',
  '(x) => { x.length = 0; }',
  '(x, y) => { y.hidden = 1; }',
  'String',
);
const statements: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(targets, fc.constantFrom('=', '+=', '??=', '||='), values).map((parts) => `${parts.join(' ')};`),
  targets.map((target) => `${target}++;`),
  targets.map((target) => `delete ${target};`),
  fc.tuple(targets, targets).map(([one, two]) => `[${one}, ...${two}] = [7, 8, 9];`),
  fc.tuple(targets, targets).map(([one, two]) => `({ x: ${one}, y: ${two} = 4 } = other);`),
  fc.tuple(targets, values).map(([target, value]) => `for (${target} of [${value}]) ;`),
  fc.tuple(mentions, values).map(([mention, value]) => `${mention}.push(${value});`),
  mentions.map((mention) => `${mention}.pop();`),
  mentions.map((mention) => `${mention}.reverse().sort();`),
  fc.tuple(mentions, functions).map(([mention, call]) => `${mention}.forEach(${call});`),
  fc.tuple(functions, values, values).map(([call, one, two]) => `(${call})(${one}, ${two});`),
  fc.tuple(values, values).map(([one, two]) => `const v = ${one}; v.q = ${two}; if (v.push) v.push(3);`),
  fc.tuple(mentions, values).map(([mention, value]) => `const { d, length, ...rest } = ${mention}; rest.w = ${value};`),
  fc
    .tuple(mentions, values)
    .map(([mention, value]) => `if (${mention} === ${value} || !${mention}) other.x = ${mention}; other.x.k = 5;`),
  values.map((value) => `const make = () => ${value}; make().made = 1;`),
  fc.tuple(mentions, values).map(([mention, value]) => `Object.assign(${mention}, ${value});`),
  fc.tuple(mentions, values).map(([mention, value]) => `(${mention} || other).m = ${value};`),
  fc.tuple(mentions, values).map(([mention, value]) => `(fromVendor ? ${mention} : other).m = ${value};`),
  values.map((value) => `for (const item of ${value}) item.seen = 1;`),
  fc.constantFrom(
    'const keys = Object.keys(transformedObject); other.x = keys;',
    'for (const key in transformedObject) other[key] = 1;',
    'other.x = transformedObject;',
    'transformedObject[other.x] = 1;',
  ),
);
