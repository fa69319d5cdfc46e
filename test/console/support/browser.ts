import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { ORGANIZATION_SECRET, USER_SECRET, useApp } from '../../support/app.ts';
import { describeInBrowser, useChromium } from '../../support/browser.ts';
import { logInToConsole } from '../../support/chromium.ts';

export { describeInBrowser };

/** Evaluated, not added as a script: the policy of the pages has none but their own. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface ContextOptions {
  readonly colorScheme?: 'light' | 'dark';
  /** The language that its pages ask for. */
  readonly locale?: string;
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Other hosts that its pages may ask. */
  readonly others?: readonly string[];
  /** A complaint that is to come. */
  readonly expected?: RegExp;
}

/** A service with the simulators, and a browser, for a suite of `describeInBrowser`; after it nothing may have been complained of. */
export function useBrowser(...given: Parameters<typeof useApp>) {
  const [environment = {}, overrides] = given;
  const service = useApp(
    typeof environment === 'function' ? environment : { SIMULATORS_PORT: '0', ...environment },
    overrides,
  );
  const browser = useChromium();
  let page: Page | undefined;

  const known = ['data:', 'blob:', 'about:'];
  const expectations: RegExp[] = [];

  before(() => {
    const { url, simulatorsUrl = url } = service.app;
    known.push(url, simulatorsUrl);
  });
  after(() => {
    page = undefined;
    const foreign = browser.requests.filter((asked) => !known.some((each) => asked.startsWith(each)));
    const complaints = browser.complaints.filter((text) => !expectations.some((expected) => expected.test(text)));
    expect([...complaints, ...foreign]).to.deep.equal([]);
  });

  /** A context in which nobody is logged in. */
  const newContext = ({ others = [], expected, ...options }: ContextOptions = {}): Promise<BrowserContext> => {
    known.push(...others);
    if (expected !== undefined) expectations.push(expected);
    return browser.newContext(options);
  };

  return {
    service,
    newContext,
    /** Opens a path of the console in a page of a user who is logged in by the first secrets: one page for the whole suite. */
    open: async (path: string): Promise<Page> => {
      if (page === undefined) {
        page = await browser.newPage();
        await logIn(page, service.app.url);
      }
      await page.goto(service.app.url + path);
      return page;
    },
  };
}

/** Logs in by the first secrets. */
export function logIn(page: Page, url: string): Promise<void> {
  const secrets = { userSecret: USER_SECRET, organizationSecret: ORGANIZATION_SECRET };
  return logInToConsole(page, { origin: url, secrets });
}

/** Rules of axe-core that read colors. What the others read is the same in light and dark. */
export const RULES_OF_COLORS = ['color-contrast', 'link-in-text-block'];

/** What axe-core finds wrong with the page as it is now, by all its rules or by some of them. */
export async function violationsOf(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(AXE);
  return page.evaluate(async (only) => {
    // biome-ignore lint/suspicious/noExplicitAny: the script of axe-core puts itself there
    const { violations } = await (globalThis as any).axe.run({
      // The checks of the others are run all the same, but need not be described.
      resultTypes: ['violations'],
      ...(only !== undefined && { runOnly: { type: 'rule', values: only } }),
    });
    return violations.flatMap(({ id, nodes }: { id: string; nodes: readonly { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    );
  }, rules);
}
