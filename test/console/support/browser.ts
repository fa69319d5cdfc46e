import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { ORGANIZATION_SECRET, type TestApp, USER_SECRET, useApp } from '../../support/app.ts';
import { findChromium } from '../../support/browser.ts';

/** Evaluated, not added as a script: the policy of the pages has none but their own. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { width: 1280, height: 900 };

/** Where Chromium is not, nothing of this runs, and the reporter says so. */
export const describeInBrowser = findChromium() === undefined ? describe.skip : describe;

export interface ContextOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Other hosts that its pages may ask. */
  readonly others?: readonly string[];
  /** A complaint that is to come. */
  readonly expected?: RegExp;
}

/** A service with the simulators, and a browser. */
export interface InBrowser {
  readonly service: TestApp;
  /** A context in which nobody is logged in, closed after the suite. */
  readonly newContext: (options?: ContextOptions) => Promise<BrowserContext>;
  /** Opens a path of the console in a page of a user who is logged in by the first secrets: one page for the whole suite. */
  readonly open: (path: string) => Promise<Page>;
}

/** For a suite of `describeInBrowser`; after it nothing may have been complained of. */
export function useBrowser(...given: Parameters<typeof useApp>): InBrowser {
  const [environment = {}, overrides] = given;
  const service = useApp(
    typeof environment === 'function' ? environment : { SIMULATORS_PORT: '0', ...environment },
    overrides,
  );
  const complaints: string[] = [];
  let browser: Browser | undefined;
  let page: Page | undefined;

  before(async function launch() {
    this.timeout(60_000);
    browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
  });

  after(async () => {
    await browser?.close();
    browser = undefined;
    page = undefined;
    expect(complaints).to.deep.equal([]);
  });

  const newContext: InBrowser['newContext'] = async ({ others = [], expected, ...options } = {}) => {
    if (browser === undefined) throw new Error('The browser of this suite has not started yet.');
    const context = await browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
    const known = [service.app.url, service.app.simulatorsUrl ?? '', ...others].filter((each) => each !== '');
    context.on('page', (each) => watch(each, { known, expected, complaints }));
    return context;
  };

  return {
    service,
    newContext,
    open: async (path) => {
      if (page === undefined) {
        const context = await newContext();
        page = await context.newPage();
        await logIn(page, service.app.url);
      }
      await page.goto(service.app.url + path);
      return page;
    },
  };
}

/** Logs in by the first secrets. */
export async function logIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/console`);
  await page.getByRole('button', { name: 'Log in with your secrets' }).click();
  await page.getByLabel('User secret').fill(USER_SECRET);
  await page.getByLabel('Organization secret').fill(ORGANIZATION_SECRET);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor();
}

/** What axe-core finds wrong with the page as it is now. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the script of axe-core puts itself there
    const { violations } = await (globalThis as any).axe.run();
    return violations.flatMap(({ id, nodes }: { id: string; nodes: readonly { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    );
  });
}

interface Watched {
  /** The beginnings of what its pages may ask. */
  readonly known: readonly string[];
  readonly expected: RegExp | undefined;
  readonly complaints: string[];
}

/** What browsers say that a page did wrong, and requests to other hosts. A refusal of the API is none: pages show it. */
function watch(page: Page, { known, expected, complaints }: Watched): void {
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal && expected?.test(message.text()) !== true)
      complaints.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (![...known, 'data:', 'blob:', 'about:'].some((each) => url.startsWith(each))) complaints.push(`asked ${url}`);
  });
}
