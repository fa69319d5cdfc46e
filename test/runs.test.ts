import { globSync, readFileSync } from 'node:fs';
import { join, matchesGlob, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '..');

const FILES = globSync('{test,connectors}/**/*.test.ts', { cwd: ROOT }).sort();

interface Run {
  readonly spec: readonly string[];
  readonly ignore?: readonly string[];
}

function filesOf(patterns: readonly string[]): readonly string[] {
  return FILES.filter((file) => patterns.some((pattern) => matchesGlob(file, pattern)));
}

describe('the runs of the tests', () => {
  const settings = globSync('.mocharc*.json', { cwd: ROOT });
  const runs: readonly Run[] = settings.map((file) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')));

  it('are together every test file, each once, and the suites of some connectors twice', () => {
    const run = runs.flatMap(({ spec, ignore = [] }) => {
      const ignored = new Set(filesOf(ignore));
      return filesOf(spec).filter((file) => !ignored.has(file));
    });
    // `npm test` tries the suites of these, which have each kind of log-in, uploads, discovery, feeds and an order of their own: the others
    // take longer than each commit has time.
    const inBoth = 'connectors/{hubspot,keap,odata,redmine,salesforce}/suite.test.ts';
    const withBothEfforts = filesOf([inBoth]);
    expect(withBothEfforts).to.have.length(5);
    expect(run.sort()).to.deep.equal([...FILES, ...withBothEfforts].sort());
  });

  it('have no pattern that finds nothing', () => {
    const patterns = runs.flatMap(({ spec, ignore = [] }) => [...spec, ...ignore]);
    expect(patterns.filter((pattern) => filesOf([pattern]).length === 0)).to.deep.equal([]);
  });

  it('have no other suffix than those of the runs', () => {
    const known = /^[^.]+(\.(slow|browser|program|alone|live))?\.test\.ts$/;
    expect(FILES.filter((file) => !known.test(file.slice(file.lastIndexOf('/') + 1)))).to.deep.equal([]);
  });

  /** Mocha begins without the tests that a suite declares after it has waited, and says nothing. */
  it('have no suite that waits before it declares its tests', () => {
    const waits = /\bdescribe(?:\.\w+)?\([^\n]*\basync\b/;
    const sources = globSync('{test,connectors,suite}/**/*.ts', { cwd: ROOT });
    expect(sources.filter((file) => waits.test(readFileSync(join(ROOT, file), 'utf8')))).to.deep.equal([]);
  });

  /** Mocha only warns of a pattern without a file, and the run goes green. */
  it('are each begun by a script of package.json or of CI', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const commands = [...Object.values<string>(scripts), readFileSync(join(ROOT, '.ci', 'run'), 'utf8')].join('\n');
    const begun = settings.filter((file) => file === '.mocharc.json' || commands.includes(file));
    expect(begun).to.deep.equal(settings);
  });

  it('name files in the scripts of package.json that are there', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = Object.values<string>(scripts).flatMap(
      (script) => script.match(/(?:test|connectors)\/[^\s']+\.test\.ts/g) ?? [],
    );
    expect(named).to.not.deep.equal([]);
    expect(named.filter((pattern) => filesOf([pattern]).length === 0)).to.deep.equal([]);
  });
});
