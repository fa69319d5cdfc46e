import { expect } from 'chai';
import type { Objects } from '#connector';
import { prepareQuery } from '../../src/where/query.ts';
import { fieldOf, getObject, type Row, type Simulated, startSimulated } from './simulated.ts';

describe('the declared filters of BambooHR', () => {
  let simulated: Simulated;
  let objects: Objects;

  before(async () => {
    simulated = await startSimulated();
    objects = await simulated.discover();
  });
  after(() => simulated.stop());

  for (const name of ['employees', 'time-off']) {
    it(`hold for ${name}: exact answers are exact, supersets lack nothing`, async () => {
      const object = getObject(objects, name);
      const everything = await simulated.listAll(object, { limit: 1000 });
      let checked = 0;
      for (const [field, spec] of Object.entries(object.fields)) {
        for (const [operator, exactness] of Object.entries(spec.filter ?? {})) {
          for (const literal of literalsFor(everything, field)) {
            const where = printPredicate(field, operator, literal);
            const { queries } = prepareQuery({ where }, object).plan;
            const found: unknown[] = [];
            for (const { native: filter } of queries) {
              const asked = filter === undefined ? {} : { filter };
              const input = { limit: 1000, fields: [fieldOf(object, 'id')], ...asked };
              found.push(...ids(await simulated.listAll(object, input)));
            }
            const meant = ids(everything.filter((row) => matches(row[field], operator, literal, spec.collation)));
            const what = `${where}: ${JSON.stringify(queries.map(({ native }) => native))}`;
            if (exactness === 'exact') expect(found, what).to.deep.equal(meant);
            else expect(found, what).to.include.members(meant);
            checked++;
          }
        }
      }
      expect(checked).to.be.above(50);
    }).timeout(60_000);
  }
});

function printPredicate(field: string, operator: string, literal: string): string {
  const text = `'${literal.replaceAll("'", "''")}'`;
  return `${field} ${operator} ${operator.endsWith('IN') ? `(${text})` : text}`;
}

/** Some values of the field, and what is like them but is not there. */
function literalsFor(rows: readonly Row[], name: string): readonly string[] {
  const there = [...new Set(rows.map((row) => row[name]).filter((value) => value != null))].map(String);
  const sample = there.filter((_, index) => index % Math.ceil(there.length / 6) === 0);
  const isText = rows.some((row) => typeof row[name] === 'string' && !/^\d{4}-\d{2}-\d{2}$/.test(String(row[name])));
  return isText ? [...sample, ...sample.map((text) => text.toUpperCase()), '', "no'body"] : sample;
}

/** What a predicate means, in SQL's way: nothing is true of null. */
function matches(value: unknown, operator: string, literal: string, collation: string | undefined): boolean {
  if (value === null || value === undefined) return false;
  const fold = (text: string) => (collation === 'ci' ? text.toLowerCase() : text);
  const [left, right] =
    typeof value === 'number' ? [value, Number(literal)] : [fold(String(value)), fold(String(literal))];
  const answers: Readonly<Record<string, boolean>> = {
    '=': left === right,
    IN: left === right,
    '!=': left !== right,
    'NOT IN': left !== right,
    '<': left < right,
    '<=': left <= right,
    '>': left > right,
    '>=': left >= right,
  };
  return answers[operator] ?? false;
}

function ids(rows: readonly Row[]): readonly unknown[] {
  return rows.map(({ id }) => id);
}
