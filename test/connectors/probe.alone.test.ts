import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTemporaryFolder } from '../support/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

function probe(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  return run(process.execPath, [join(ROOT, 'scripts/probe.ts'), ...args], { cwd: ROOT, env });
}

describe('the probe of a provider', function suite() {
  this.timeout(60_000);
  let folder: string;

  before(async () => {
    folder = await createTemporaryFolder();
  });
  after(() => rm(folder, { recursive: true }));

  it('measures what is declared, and keeps of what it read the names and no value', async () => {
    const { stdout } = await probe(['bamboohr', '--simulator', '--out', folder]);
    expect(stdout).to.include('| employees | hireDate | `>=` | exact | exact |');
    expect(stdout).to.include('| employees | firstName | `=` | superset | superset |');
    // The simulator ignores case: nothing that is declared exact is found to be less.
    expect(stdout).not.to.match(/\| exact \| (?:superset|wrong|refused|none)/);
    const fixture = await readFile(join(folder, 'employees.json'), 'utf8');
    expect(JSON.parse(fixture)).to.have.nested.property('[0].response.body.data[0].fields.lastName');
    expect(fixture)
      .to.match(/"Xx+"/)
      .and.not.match(/Ashley|Smith|demo-key|acme/i);
  });

  it('names the variables that it lacks', async () => {
    const failure = await probe(['bamboohr'], { PROBE_USERNAME: 'x' }).catch((error: unknown) => error);
    expect(failure)
      .to.have.property('stderr')
      .that.matches(/^Set PROBE_COMPANY_NAME\./);
    const unknown = await probe(['bambu']).catch((error: unknown) => error);
    expect(unknown)
      .to.have.property('stderr')
      .that.matches(/^There is no connector 'bambu'; there are bamboohr,/);
  });
});
