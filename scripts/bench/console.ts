/**
 * Measures what people wait for in the console: its first load in a browser that knows nothing of it, and the way from a start with an empty
 * folder to the first connected account (on a simulator). Needs Chromium.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { findChromium, logInToConsole } from '../../test/support/chromium.ts';
import { type RunningService, startService, UNLIMITED } from './running-service.ts';

const ROUNDS = 10;
const WIDE = { width: 1280, height: 900 };

interface Load {
  /** On the wire, with headers. */
  readonly bytes: number;
  readonly requests: number;
  /** Until something can be done on the page. */
  readonly ms: number;
}

/** @param ready what can be used then */
async function measureLoad(page: Page, url: string, ready: (page: Page) => Locator): Promise<Load> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  let requests = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  session.on('Network.requestWillBeSent', ({ request }) => {
    if (!request.url.startsWith('data:')) requests++;
  });
  const begun = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await ready(page).click({ trial: true });
  const ms = performance.now() - begun;
  await page.waitForLoadState('networkidle');
  await session.detach();
  return { bytes, requests, ms };
}

/** Whoever is not logged in, and whoever is, with an empty cache each time. */
async function measureLoads(browser: Browser, service: RunningService): Promise<void> {
  const loads: Record<'log-in' | 'instances', Load[]> = { 'log-in': [], instances: [] };
  const url = `${service.origin}/console/instances`;
  for (let round = 0; round < ROUNDS; round++) {
    const context = await browser.newContext({ viewport: WIDE });
    const page = await context.newPage();
    loads['log-in'].push(await measureLoad(page, url, (at) => at.getByRole('button', { name: 'Log in', exact: true })));
    await logInToConsole(page, service);
    const cdp = await context.newCDPSession(page);
    await cdp.send('Network.clearBrowserCache');
    loads.instances.push(await measureLoad(page, url, (at) => at.getByRole('link', { name: 'Connect an account' })));
    await context.close();
  }
  for (const [name, each] of Object.entries(loads)) {
    const times = each.map(({ ms }) => ms).toSorted((one, other) => one - other);
    const [first] = each;
    const median = times[Math.floor(times.length / 2)] ?? 0;
    console.log(
      `${name}: ${first?.requests} requests, ${first?.bytes} bytes on the wire; can be used after ${median.toFixed(0)} ms (median of ${ROUNDS}), ${times.at(-1)?.toFixed(0)} ms at most`,
    );
  }
}

/** As a newcomer does it. */
async function connectFirst(browser: Browser, { origin }: RunningService, credentialsFile: string): Promise<number> {
  const context = await browser.newContext({ viewport: WIDE });
  const page = await context.newPage();
  let clicks = 0;
  const click = async (locator: Locator) => {
    await locator.click();
    clicks++;
  };
  await page.goto(`${origin}/console`);
  await click(page.getByRole('button', { name: 'Log in with your secrets' }));
  // Choosing a file counts as two: the button, and the file.
  await page.locator('input[type=file]').setInputFiles(credentialsFile);
  clicks += 2;
  await click(page.getByRole('link', { name: 'Connect an account' }));
  await click(page.getByRole('link', { name: /BambooHR/ }));
  await click(page.getByRole('checkbox', { name: /Use the simulator/ }));
  await click(page.getByRole('button', { name: 'Connect', exact: true }));
  await page.waitForURL(/\/console\/instances\/\d+/);
  await page.getByText('valid', { exact: true }).first().waitFor();
  await context.close();
  return clicks;
}

const folder = await mkdtemp(join(tmpdir(), 'causeway-console-'));
const begun = performance.now();
const dataDir = join(folder, 'data');
const service = await startService({ dataDir, environment: UNLIMITED });
const startedMs = performance.now() - begun;
const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
try {
  const from = performance.now();
  const clicks = await connectFirst(browser, service, join(dataDir, 'credentials.json'));
  const connectedMs = performance.now() - from;
  console.log(
    `first account: 1 command after npm ci, ready after ${(startedMs / 1000).toFixed(1)} s; then ${clicks} clicks, ${(connectedMs / 1000).toFixed(1)} s by a machine`,
  );
  await measureLoads(browser, service);
} finally {
  await browser.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
