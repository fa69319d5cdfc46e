import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '..');

function readSettings(file: string): { readonly spec: readonly string[]; readonly ignore?: readonly string[] } {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}

/** Quick in the first, and with everything in the rest: `CONFORMANCE`. */
const IN_BOTH = ['connectors/*/suite.test.ts', 'test/api/access-matrix.test.ts', 'test/api/rights-model.test.ts'];

describe('the two sets of tests', () => {
  const first = readSettings('.mocharc.json');
  const rest = readSettings('.mocharc.rest.json');

  it('have no file between them', () => {
    expect(rest.spec).to.include.members(IN_BOTH);
    expect(first.ignore).to.deep.equal(rest.spec.filter((pattern) => !IN_BOTH.includes(pattern)));
  });

  it('name nothing that is not there', () => {
    const empty = rest.spec.filter((pattern) => globSync(pattern, { cwd: ROOT }).length === 0);
    expect(empty).to.deep.equal([]);
  });
});
