import type { BrowserContext, Locator, Page, Request } from 'playwright-core';
import { until } from '../../support/until.ts';

/** A crawl that finds more links than this walks in circles. */
export const MOST_LINKS = 600;
/** What pages of the console say where there is nothing to show, or nothing connected. */
const NOTHING_THERE = /there is no such|not found|has no such part|connect the first one/i;
/** Buttons that only open a dialog. */
const OPENER = /…$|^Send a test event$/;
const ANCHORS = 'a[href]';

interface Link {
  /** The page that has the link. */
  readonly from: string;
  /** The button of the dialog that has it. */
  readonly opener: number | undefined;
  readonly href: string;
}

/**
 * Clicks, in a page of its own, every link of the pages, of their dialogs and of whatever the links lead to, once each.
 * @returns how many links were followed, and what was wrong, with the page and the link
 */
export async function followLinks(context: BrowserContext, origin: string, paths: readonly string[]) {
  const page = await context.newPage();
  const faults: string[] = [];
  const seen = new Set(paths.map(shapeOf));
  const waiting = [...paths];
  let followed = 0;
  let at = '';
  /** The page that was loaded last, and its URL, which differs if the page leads on. */
  let shown: { readonly path: string; readonly url: string } | undefined;
  const complain = (what: string) => faults.push(`${at}: ${what}`);
  const settle = watch(page, complain);

  const dialogs = page.locator('dialog[open]');

  /** Of the page, or of the drawer that stands above it. */
  async function findOpeners(): Promise<Locator> {
    const ground = (await dialogs.count()) > 0 ? dialogs.last() : page.locator('main');
    return ground.locator('button:enabled').filter({ hasText: OPENER });
  }

  async function openDialog(opener: number): Promise<Locator> {
    const above = await dialogs.count();
    await (await findOpeners()).nth(opener).click();
    await dialogs.nth(above).waitFor();
    await settle();
    return dialogs.nth(above);
  }

  async function visit(path: string): Promise<void> {
    at = path;
    await page.goto(origin + path);
    await settle();
    shown = { path, url: page.url() };
  }

  async function findLinks(from: string): Promise<Link[]> {
    const links = await linksIn(page.locator('body'));
    const found: Link[] = links.map((href) => ({ from, opener: undefined, href }));
    for (let opener = 0, { length } = await (await findOpeners()).all(); opener < length; opener += 1) {
      const dialog = await openDialog(opener);
      for (const href of await linksIn(dialog)) found.push({ from, opener, href });
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    return found.filter(({ href }) => {
      const isNew = href.startsWith(origin) && !seen.has(shapeOf(href.slice(origin.length)));
      if (isNew) seen.add(shapeOf(href.slice(origin.length)));
      return isNew;
    });
  }

  /** Shows the page of a link as it was loaded, or as the browser shows it after a step back, which costs a third. */
  async function showPageOf({ from, opener, href }: Link): Promise<number> {
    const anchors = page.locator(ANCHORS);
    const find = async () => {
      if (opener !== undefined) await openDialog(opener);
      return anchors.evaluateAll((all, wanted) => all.findIndex((a) => Object(a).href === wanted), href);
    };
    const isThere = shown?.path === from && (page.url() === shown.url || (await goBackTo(shown.url)));
    const place = isThere && (await dialogs.count()) === 0 ? await find() : -1;
    if (place >= 0) return place;
    await visit(from);
    return find();
  }

  async function goBackTo(url: string): Promise<boolean> {
    await page.goBack();
    await settle();
    return page.url() === url;
  }

  async function follow(link: Link): Promise<void> {
    const target = link.href.slice(origin.length);
    const way = `${link.from} → ${target}`;
    at = way;
    const place = await showPageOf(link);
    at = way;
    // A list that was renewed has it no more.
    if (place < 0) return void (await visit(target));
    await page
      .locator(ANCHORS)
      .nth(place)
      .evaluate((anchor) => {
        Object(anchor).removeAttribute('target');
        Object(anchor).click();
      });
    await page.waitForURL((url) => url.href !== origin + link.from);
    await settle();
  }

  for (let path = waiting.shift(); path !== undefined && followed < MOST_LINKS; path = waiting.shift()) {
    await visit(path);
    for (const link of await findLinks(path)) {
      await follow(link);
      followed += 1;
      if (!link.href.startsWith(`${origin}/console`)) continue;
      const nothing = (await page.locator('body').innerText()).match(NOTHING_THERE);
      if (nothing !== null) complain(`says "${nothing[0]}"`);
      const isChooser = await page
        .getByRole('region', { name: 'Instances' })
        .and(page.locator(':has(.tiles)'))
        .isVisible();
      if (isChooser && link.href !== `${origin}/console/explore`) complain('asks for the instance again');
      for (const alert of await page.getByRole('alert').allInnerTexts()) complain(`says "${alert}"`);
      waiting.push(link.href.slice(origin.length));
    }
  }
  await page.close();
  return { followed, faults };
}

/** One link of many that differ in the id of a request only. */
function shapeOf(path: string): string {
  return path.replace(/#.*$/, '').replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, ':id');
}

function linksIn(ground: Locator): Promise<string[]> {
  return ground.locator(ANCHORS).evaluateAll((all) => all.map((anchor) => String(Object(anchor).href)));
}

/**
 * Hears what the browser writes into its console, which a refused request is too, and which requests are under way.
 * @returns waits until the page asks for nothing and has drawn what came
 */
function watch(page: Page, complain: (what: string) => void): () => Promise<void> {
  const underWay = new Set<Request>();
  page.on('request', (request) => underWay.add(request));
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  page.on('pageerror', ({ message }) => complain(`throws "${message}"`));
  page.on('console', (message) => {
    if (message.type() === 'error') complain(`logs "${message.text()}"`);
  });
  return async () => {
    await page.locator('h1, .empty').first().waitFor();
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    await until(async () => underWay.size === 0);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  };
}
