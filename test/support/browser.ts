import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTemporaryFolder } from './database.ts';

/** A page in a real browser. */
export interface BrowserPage {
  readonly open: (url: string) => Promise<void>;
  /** The value of an expression in the page; promises are awaited. @throws what the page throws */
  readonly evaluate: (expression: string) => Promise<unknown>;
  readonly resize: (width: number, height: number) => Promise<void>;
  /** A PNG of what is seen. */
  readonly capture: () => Promise<Buffer>;
  /** What the browser refused or complained of. */
  readonly complaints: readonly string[];
  /** The addresses that were asked for. */
  readonly requests: readonly string[];
  readonly close: () => Promise<void>;
}

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--remote-debugging-port=0'],
];

/** Where Chromium is on this machine: `CHROMIUM`, or the usual place; undefined where there is none. */
export function findChromium(): string | undefined {
  return [process.env.CHROMIUM, '/usr/bin/chromium'].find((path) => path !== undefined && existsSync(path));
}

export async function openBrowser(executable: string): Promise<BrowserPage> {
  const folder = await createTemporaryFolder();
  const browser = spawn(executable, [...FLAGS, `--user-data-dir=${folder}`, 'about:blank'], { stdio: 'ignore' });
  const ended = new Promise((done) => browser.once('exit', done));
  const close = async () => {
    browser.kill();
    await ended;
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    return { ...(await connect(await findPage(folder))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address of the page's debugging protocol; the browser writes its port into its folder. */
async function findPage(folder: string): Promise<string> {
  const file = join(folder, 'DevToolsActivePort');
  while (!existsSync(file) || (await readFile(file, 'utf8')).trim() === '') await sleep(50);
  const [port] = (await readFile(file, 'utf8')).split('\n');
  const targets: Message = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  return targets.find(({ type }: Message) => type === 'page').webSocketDebuggerUrl;
}

// The messages of the debugging protocol are many; what is read of them is checked where it is used.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Message = any;

async function connect(address: string): Promise<Omit<BrowserPage, 'close'>> {
  const socket = new WebSocket(address);
  await new Promise((done, fail) => {
    socket.onopen = done;
    socket.onerror = fail;
  });
  const waiting = new Map<number, (message: Message) => void>();
  const complaints: string[] = [];
  const requests: string[] = [];
  let loaded = () => {};
  const noted: Readonly<Record<string, (params: Message) => void>> = {
    'Log.entryAdded': ({ entry }) => complaints.push(`${entry.level}: ${entry.text}`),
    'Runtime.exceptionThrown': ({ exceptionDetails }) => complaints.push(JSON.stringify(exceptionDetails)),
    'Network.requestWillBeSent': ({ request }) => requests.push(request.url),
    'Page.loadEventFired': () => loaded(),
  };
  socket.onmessage = ({ data }) => {
    const message: Message = JSON.parse(String(data));
    if (message.id === undefined) noted[message.method]?.(message.params);
    else waiting.get(message.id)?.(message);
  };
  let lastId = 0;
  const send = (method: string, params: object = {}): Promise<Message> => {
    const id = ++lastId;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done) => waiting.set(id, done));
  };
  for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(`${domain}.enable`);
  return {
    complaints,
    requests,
    open: async (url) => {
      const finished = new Promise<void>((done) => {
        loaded = done;
      });
      await send('Page.navigate', { url });
      await finished;
    },
    evaluate: async (expression) => {
      const { result } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (result.exceptionDetails !== undefined) throw new Error(result.exceptionDetails.exception?.description);
      return result.result.value;
    },
    resize: async (width, height) => {
      await send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    },
    capture: async () => Buffer.from((await send('Page.captureScreenshot')).result.data, 'base64'),
  };
}
