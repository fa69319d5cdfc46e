import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { escapeLike, type Where, where } from '../../src/index.js';
import { hostileTexts, randomFrom, textsIn } from '../literals.js';

describe('where', () => {
  it('quotes each value as the language of filters does', () => {
    const name = "O'Neil";
    const cases: readonly (readonly [Where, string])[] = [
      [where`name = ${name}`, "name = 'O''Neil'"],
      [where`name = ${''}`, "name = ''"],
      [where`name = ${"' OR ''='"}`, "name = ''' OR ''''='''"],
      [where`salary > ${52000.5}`, 'salary > 52000.5'],
      [where`size < ${1e21}`, 'size < 1e+21'],
      [where`id = ${9007199254740993n}`, 'id = 9007199254740993'],
      [where`active = ${true}`, 'active = TRUE'],
      [where`hireDate >= ${new Date(Date.UTC(2024, 0, 1))}`, 'hireDate >= 2024-01-01T00:00:00.000Z'],
      [where`city IN ${['a', "b'"]}`, "city IN ('a', 'b''')"],
      [where`city IN (${['a', 'b']})`, "city IN ('a', 'b')"],
      [where`${where`a = ${1} OR b = ${2}`} AND c = ${3}`, '(a = 1 OR b = 2) AND c = 3'],
      [where`NOT (${where`a = ${1}`})`, 'NOT (a = 1)'],
      [
        where`\`Cost centre\` = ${12} AND note = 'it''s' AND x = ${1}`,
        "`Cost centre` = 12 AND note = 'it''s' AND x = 1",
      ],
      [where`name LIKE ${`%${escapeLike('100%_\\')}%`}`, "name LIKE '%100\\%\\_\\\\%'"],
    ];
    for (const [made, text] of cases) assert.equal(String(made), text);
  });

  it('keeps 10,000 random texts what they are', () => {
    for (const text of hostileTexts(10_000, randomFrom(1))) {
      assert.deepEqual(textsIn(where`name = ${text} AND other = ${'x'}`.text), [text, 'x']);
    }
  });

  it('refuses what no literal stands for, and says what to do', () => {
    const values: Record<string, unknown> = { nothing: null, missing: undefined, object: {}, lists: [[1]] };
    const build = (value: unknown) => () =>
      Reflect.apply(where, undefined, [Object.assign(['a = ', ''], { raw: [] }), value]);
    assert.throws(build(values.nothing), /IS NULL/);
    assert.throws(build(values.missing), /IS NULL/);
    assert.throws(build(values.object), TypeError);
    assert.throws(build(values.lists), TypeError);
    assert.throws(() => where`a = ${Number.NaN}`, TypeError);
    assert.throws(() => where`a = ${Number.POSITIVE_INFINITY}`, TypeError);
    assert.throws(() => where`a = ${new Date('never')}`, TypeError);
    assert.throws(() => where`a IN ${[]}`, /at least one value/);
    assert.throws(() => where`a = ${'\ud800'}`, /surrogate/);
  });

  it('refuses a place inside quotes', () => {
    assert.throws(() => where`name = '${'x'}'`, /inside quotes/);
    assert.throws(() => where`name = ${'x'} AND name LIKE '%${'y'}'`, /value 2/);
    assert.throws(() => where`\`${'field'}\` = 1`, /inside quotes/);
  });
});
