/** Measures how long a key takes in the filter editor of the console, on an object of 500 fields: from the key to the next frame. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { findChromium, logInToConsole } from '../../test/support/chromium.ts';
import { type RunningService, startService, UNLIMITED } from './running-service.ts';

const FIELDS = 500;
const ROWS = 25;
const ROUNDS = 8;
/** What is typed, a key each; completion opens at most of them. */
const TEXT =
  "Field17 = 'value 3' AND Field218 LIKE 'va%' OR NOT (Field499 IS NULL AND Fild12 IN ('a', 'b')) AND Field300 != 'O''Neil'";
/** Somebody who types fast. */
const BETWEEN_KEYS_MS = 60;
const WIDE = { width: 1280, height: 900 };

const names = Array.from({ length: FIELDS - 1 }, (_, index) => `Field${index + 1}`);
const METADATA = `<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Wide" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Row"><Key><PropertyRef Name="Id"/></Key>
<Property Name="Id" Type="Edm.Int32" Nullable="false"/>${names.map((name) => `<Property Name="${name}" Type="Edm.String"/>`).join('')}
</EntityType><EntityContainer Name="Container"><EntitySet Name="Rows" EntityType="Wide.Row"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`;
const ROWS_TEXT = JSON.stringify({
  value: Array.from({ length: ROWS }, (_, id) => ({
    Id: id,
    ...Object.fromEntries(names.map((name, index) => [name, `value ${(id + index) % 9}`])),
  })),
});

/** An OData service whose one entity has many properties. */
async function startWideServer() {
  const server = createServer((request, response) => {
    const isMetadata = request.url?.includes('$metadata') === true;
    response
      .writeHead(200, { 'content-type': isMetadata ? 'application/xml' : 'application/json', 'odata-version': '4.0' })
      .end(isMetadata ? METADATA : ROWS_TEXT);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server on a port has an address, not a path.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, server };
}

async function createInstance({ baseUrl, authorization }: RunningService, url: string): Promise<number> {
  const response = await fetch(`${baseUrl}/instances`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ element: { key: 'odata' }, name: 'Wide', configuration: { 'base.url': url } }),
  });
  const answer: unknown = await response.json();
  const id = Object(answer).id;
  if (typeof id !== 'number') throw new Error(JSON.stringify(answer));
  return id;
}

async function openEditor(service: RunningService, page: Page, id: number): Promise<void> {
  await logInToConsole(page, service);
  await page.goto(`${service.origin}/console/explore/${id}/Rows`);
  await page.getByRole('cell').first().waitFor();
  await page.getByRole('textbox', { name: 'Filter' }).click();
}

/** From the event of the key to the frame after it, as the page itself sees it. */
const WATCH = `
  globalThis.latencies = [];
  addEventListener('keydown', ({ timeStamp }) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => latencies.push(performance.now() - timeStamp);
      port2.postMessage(0);
    });
  }, true);`;

async function typeRounds(page: Page): Promise<readonly number[]> {
  for (let round = 0; round < ROUNDS; round++) {
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.press('Delete');
    // The first one warms the code up.
    if (round === 1) await page.evaluate('latencies.length = 0');
    await page.keyboard.type(TEXT, { delay: BETWEEN_KEYS_MS });
  }
  return page.evaluate('latencies');
}

function printLatencies(what: string, latencies: readonly number[]): void {
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  const slow = sorted.filter((ms) => ms > 16).length;
  console.log(
    `${what}: ${sorted.length} keys, p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms; ${slow} above 16 ms`,
  );
}

async function measure(service: RunningService, url: string): Promise<void> {
  const id = await createInstance(service, url);
  const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: WIDE });
    await openEditor(service, page, id);
    await page.evaluate(WATCH);
    printLatencies(`${FIELDS} fields, key to the frame after it`, await typeRounds(page));
    // A plain text area in the same page: what the browser and the machine take by themselves.
    await page.evaluate(
      "document.body.replaceChildren(document.createElement('textarea')); document.querySelector('textarea').focus()",
    );
    printLatencies('an empty page with a text area', await typeRounds(page));
  } finally {
    await browser.close();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'causeway-bench-'));
const { url, server } = await startWideServer();
const service = await startService({
  dataDir: join(folder, 'data'),
  environment: { ...UNLIMITED, EGRESS_ALLOW: '127.0.0.1' },
});
try {
  await measure(service, url);
} finally {
  await service.stop();
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true, force: true });
}
