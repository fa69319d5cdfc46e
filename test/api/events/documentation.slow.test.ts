import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { useApp } from '../../support/app.ts';
import { codeBlocks } from '../../support/code-blocks.ts';
import { until } from '../../support/until.ts';
import { createSource, findSubscription, QUICK, sendEvent, waitForDeliveries } from './receiving.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const TEXT = readFileSync(join(ROOT, 'docs/how-to/receive-events.md'), 'utf8');

describe('docs/how-to/receive-events.md', () => {
  const service = useApp({}, { engineOptions: QUICK });
  let receiver: ChildProcess | undefined;

  afterEach(() => receiver?.kill());

  /** Runs the receiver of the document; resolves when it listens. */
  async function startReceiver(port: number, secret: string): Promise<{ readonly output: () => string }> {
    const code = codeBlocks(TEXT).find(({ language }) => language === 'js')?.code ?? '';
    let output = '';
    receiver = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: ROOT,
      env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    receiver.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    await until(() =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST' }).then(
        () => true,
        () => false,
      ),
    );
    return { output: () => output };
  }

  it('has a receiver that takes our events, and nothing that is not signed', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/events`;
    const { id } = await createSource(service, url);
    const { secret } = await findSubscription(service, url);
    const { output } = await startReceiver(port, secret);
    const eventId = await sendEvent(service, id);
    const [delivery] = await waitForDeliveries(service, `event.id = '${eventId}' AND status = 'delivered'`, 1);
    expect(delivery).to.include({ attempts: 1 });
    await until(async () => output() !== '');
    expect(output()).to.equal(`${eventId} test.created\n`);
    const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': 'x' } });
    expect(forged.status).to.equal(401);
  });
});

/** Free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
