import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium } from './chromium.ts';

/** `describe`, but skipped where there is no Chromium, which the reporter shows. */
export const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

const WIDE = { width: 1280, height: 900 };

/** A browser for the suite of `describeInBrowser` that calls this. */
export function useChromium() {
  /** Errors of pages in the words of the browser. An error response of the service is none, because pages show it. */
  const complaints: string[] = [];
  /** The URLs that pages have requested. */
  const requests: string[] = [];
  let browser: Browser | undefined;

  before(async function launch() {
    this.timeout(60_000);
    browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
  });
  after(async () => {
    await browser?.close();
    browser = undefined;
  });

  /** Opens a context in which nobody is logged in. */
  const newContext = async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
    if (browser === undefined) throw new Error('The browser of this suite has not started yet.');
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
    context.on('page', (page) => {
      page.on('pageerror', (error) => complaints.push(String(error)));
      page.on('console', (message) => {
        const isRefusal = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !isRefusal) complaints.push(message.text());
      });
      page.on('request', (request) => requests.push(request.url()));
    });
    return context;
  };
  return { newContext, newPage: async (): Promise<Page> => (await newContext()).newPage(), complaints, requests };
}
