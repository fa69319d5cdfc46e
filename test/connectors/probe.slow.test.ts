import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fortnox from '../../connectors/fortnox/index.ts';
import { DEMO_CONFIGURATION } from '../../connectors/fortnox/simulator.ts';
import type { Connector, Objects } from '../../src/connector/index.ts';
import { readRecorded } from '../../suite/recorded.ts';
import { objectOf } from '../../suite/testing.ts';
import { useTemporaryFolder } from '../support/database.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);

function probe(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  return run(process.execPath, [join(ROOT, 'scripts/probe.ts'), ...args], { cwd: ROOT, env });
}

function objectsOf({ objects }: Connector): Objects {
  if (typeof objects === 'function') throw new Error('The connector discovers its objects.');
  return objects;
}

describe('the probe of a provider', function suite() {
  this.timeout(60_000);
  const folder = useTemporaryFolder('suite');

  it('measures what is declared, and keeps of what it read the names and no value', async () => {
    const { stdout } = await probe(['bamboohr', '--simulator', '--out', folder.path]);
    expect(stdout).to.include('| employees | hireDate | `>=` | exact | exact |');
    expect(stdout).to.include('| employees | firstName | `=` | superset | superset |');
    // The simulator ignores case: nothing that is declared exact is found to be less.
    expect(stdout).not.to.match(/\| exact \| (?:superset|wrong|refused|none)/);
    const fixture = await readFile(join(folder.path, 'employees.json'), 'utf8');
    expect(JSON.parse(fixture)).to.have.nested.property('[0].response.body.data[0].fields.lastName');
    expect(fixture)
      .to.match(/"Xx+"/)
      .and.not.match(/Ashley|Smith|demo-key|acme/i);
  });

  it('records answers on which a connector is tested without a simulator', async () => {
    await probe(['fortnox', '--simulator', '--out', folder.path]);
    const objects = objectsOf(fortnox);
    const read = (name: string, object = objectOf(objects, name)) =>
      readRecorded({ connector: fortnox, configuration: DEMO_CONFIGURATION, name, object, folder: folder.path });
    for (const name of Object.keys(objects)) expect(await read(name), name).to.deep.equal({ faults: [], unseen: [] });

    const customers = objectOf(objects, 'customers');
    const field = { type: 'string', native: 'Colour' } as const;
    const more = (nullable: boolean) => ({
      ...customers,
      fields: { ...customers.fields, colour: { ...field, nullable } },
    });
    expect(await read('customers', more(true))).to.deep.equal({ faults: [], unseen: ['colour'] });
    const { faults } = await read('customers', more(false));
    expect(faults).to.deep.equal(['customers.colour: no recorded row has the member Colour.']);
    const other = await read('orders', customers);
    expect(other.faults[0]).to.match(
      /^orders: The connector sends GET \/customers\?.* The recording has responses to GET \/orders\?/,
    );
  });

  it('names the variables that it lacks', async () => {
    const failure = await probe(['bamboohr'], { PROBE_USERNAME: 'x' }).catch((error: unknown) => error);
    expect(failure)
      .to.have.property('stderr')
      .that.matches(/^Set PROBE_COMPANY_NAME\./);
    const unknown = await probe(['bambu']).catch((error: unknown) => error);
    expect(unknown)
      .to.have.property('stderr')
      .that.matches(/^There is no connector 'bambu'\. Use one of bamboohr,/);
  });
});
