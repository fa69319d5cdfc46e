import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const CHAOS = resolve(import.meta.dirname, '../../scripts/chaos/events.ts');

describe('the delivery of events', () => {
  it('loses nothing acknowledged when senders are killed and PostgreSQL crashes', async function chaos() {
    this.timeout(120_000);
    const { stdout } = await run(process.execPath, [CHAOS, '--quick', '--only', 'crashes']).catch(
      ({ stdout, stderr }) => {
        throw new Error(`A promise was broken:\n${stdout}\n${stderr}`);
      },
    );
    expect(stdout).to.include('0 lost').and.include('0 left');
  });
});
