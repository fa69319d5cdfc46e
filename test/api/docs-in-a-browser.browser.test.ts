import { expect } from 'chai';
import type { Page } from 'playwright-core';
import document from '../../generated/openapi.json' with { type: 'json' };
import { expectAccessible } from '../console/support/themes.ts';
import { useApp } from '../support/app.ts';
import { describeInBrowser, useChromium } from '../support/browser.ts';
import { documentedCalls } from './support/documented-calls.ts';

const UPLOADS: ReadonlySet<string> = new Set(['createBulkUpload', 'createHubBulkUpload']);

interface Tried {
  readonly status: string;
  readonly answer: string;
}

describeInBrowser('the reference in a browser', () => {
  const service = useApp({ SIMULATORS_PORT: '0' });
  const browser = useChromium();
  let page: Page;

  before(async function start() {
    this.timeout(60_000);
    page = await browser.newPage();
  });

  /** Opens the page of a tag, and enters the secrets. */
  const open = async (tag: string, token = '') => {
    await page.goto(`${service.app.url}/docs/reference/api-${tag}`);
    await page.evaluate(`
      document.querySelector('#secret-element').value = ${JSON.stringify(token)};
      document.querySelector('#secret-user').value = ${JSON.stringify(service.userSecret)};
      document.querySelector('#secret-organization').value = ${JSON.stringify(service.organizationSecret)};
    `);
  };

  /** Sends a form as it is filled, and waits for what it shows. */
  const tryOut = async (id: string): Promise<Tried> =>
    Object(
      await page.evaluate(`(async () => {
        const form = document.querySelector('#try-${id}');
        form.requestSubmit();
        const found = () => form.querySelector('.good, .bad');
        while (found() === null) await new Promise((done) => setTimeout(done, 20));
        return { status: found().textContent, answer: form.querySelector('pre:last-child').textContent };
      })()`),
    );

  it('sends what is prefilled, which are the examples of the document', async () => {
    const sent: unknown[] = [];
    for (const { name } of document.tags) {
      await open(name);
      const forms = await page.evaluate(`[...document.querySelectorAll('form[data-path]')].map((form) => {
      const { url, options } = requestOf(form);
      return { id: form.getAttribute('id').replace('try-', ''), method: options.method, url, body: options.body };
    })`);
      sent.push(...(Array.isArray(forms) ? forms : []));
    }
    const first = new Map(
      documentedCalls()
        .toReversed()
        .map((call) => [call.operationId, call]),
    );
    const basePath = new URL(service.app.baseUrl).pathname;
    // Uploads are forms of files, which have no example of a request.
    const documented = sent.map(Object).filter(({ id }) => !UPLOADS.has(id));
    expect(sent.length - documented.length).to.equal(UPLOADS.size);
    for (const { id, method, url, body } of documented) {
      const call = first.get(id);
      const address = (each: string) => new URL(each, service.app.url);
      const expected = address(`${call?.belowBase ? basePath : ''}${call?.url}`);
      expect(method, id).to.equal(call?.method);
      expect(decodeURIComponent(address(url).pathname), id).to.equal(decodeURIComponent(expected.pathname));
      expect([...address(url).searchParams], id).to.deep.equal([...expected.searchParams]);
      if (body !== undefined) expect(JSON.parse(body), id).to.deep.equal(JSON.parse(call?.body ?? ''));
      first.delete(id);
    }
    expect([...first.keys()]).to.deep.equal([]);
  });

  it('makes an instance and queries it, with the token of the first answer', async () => {
    await open('instances');
    const created = await tryOut('createInstance');
    expect(created.status).to.equal('200 OK');
    const { token } = JSON.parse(created.answer);
    await open('records', token);
    const listed = await tryOut('listRecords');
    expect(listed.status).to.equal('200 OK');
    expect(JSON.parse(listed.answer)[0]).to.have.all.keys('Code', 'PlacedAt', 'Paid');
    await open('passthrough', token);
    expect((await tryOut('passGet')).status).to.equal('200 OK');
    await open('elements', token);
    expect((await tryOut('getElement')).status).to.equal('200 OK');
    await open('bulk', token);
    const upload = await tryOut('createBulkUpload');
    expect(upload.status).to.equal('200 OK');
    expect(JSON.parse(upload.answer)).to.include({ status: 'CREATED' });
  });

  it('keeps the secrets for the session of the tab, until they are forgotten', async () => {
    const tab = await browser.newPage();
    const fields = () => tab.evaluate(`[...document.querySelectorAll('.secrets input')].map((field) => field.value)`);
    await tab.goto(`${service.app.url}/docs/reference/api-instances`);
    await tab.locator('#secrets > summary').click();
    await tab.locator('#secret-user').fill('user secret');
    await tab.locator('#secret-organization').fill('organization secret');
    await tab.goto(`${service.app.url}/docs/reference/api-records`);
    expect(await fields()).to.deep.equal(['user secret', 'organization secret', '']);
    expect(await tab.locator('#secrets > summary').textContent()).to.include('2 of 3 entered');
    expect(await tab.evaluate('localStorage.length')).to.equal(0);
    await tab.locator('#secrets > summary').click();
    await tab.getByRole('button', { name: 'Forget the secrets' }).click();
    expect(await tab.evaluate('sessionStorage.length')).to.equal(0);
    await tab.reload();
    expect(await fields()).to.deep.equal(['', '', '']);
  });

  it('finds text of every kind of page, with an excerpt, and opens it by the keyboard', async () => {
    await page.goto(`${service.app.url}/docs`);
    /** The addresses of the results. */
    const find = async (words: string) => {
      await page.locator('#docs-search').fill(words);
      await page.locator('#docs-results .status').filter({ visible: true }).waitFor();
      await page.waitForFunction(
        `search.value === ${JSON.stringify(words)} && document.querySelector('#docs-results ol')`,
      );
      const hrefs = await page.evaluate(`(async () => {
        await showResults(search.value);
        return [...results.querySelectorAll('a')].map((link) => link.getAttribute('href'));
      })()`);
      return Array.isArray(hrefs) ? hrefs : [];
    };
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).to.equal('docs-search');
    for (const [words, first] of [
      ['release queued', '/docs/reference/api-notifications#releaseDeliveries'],
      ['updateInstance', '/docs/reference/api-instances#updateInstance'],
      ['RATE_LIMITED', '/docs/reference/errors#RATE_LIMITED'],
      ['poll.failing', '/docs/reference/event-types#poll.failing'],
      ['PUBLIC_URL', '/docs/reference/configuration'],
      ['nextLink', '/docs/reference/kit-connector#nextLink'],
      ['verify signature', '/docs/how-to/receive-events#verify-the-signature'],
    ] as const)
      expect((await find(words))[0], words).to.equal(first);
    expect(await find('no such thing at all')).to.deep.equal([]);
    // A word that is misspelt.
    expect(await find('idempotancy')).not.to.deep.equal([]);
    await find('signature');
    expect(await page.locator('#docs-results .excerpt mark').count()).to.be.greaterThan(5);
    await find('verify signature');
    await page.locator('#docs-search').press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.app.url}/docs/how-to/receive-events#verify-the-signature`);
    await page.keyboard.press('/');
    await page.keyboard.type('queue');
    await page.locator('#docs-results a').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('#docs-results').isVisible()).to.equal(false);
  });

  it('fits a phone, where the navigation is behind a button', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [
      '/docs',
      '/docs/reference/api-records',
      '/docs/reference/errors',
      '/docs/reference/event-types',
      '/docs/reference/kit',
      '/docs/reference/kit-contract',
      '/docs/reference/where',
      '/docs/how-to/deployment',
      '/docs/elements/bamboohr',
    ]) {
      await page.goto(service.app.url + path);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(390);
    }
    expect(await page.locator('#docs-search').isVisible()).to.equal(true);
    const isSeen = `document.querySelector('#docs-navigation').checkVisibility()`;
    expect(await page.evaluate(isSeen)).to.equal(false);
    await page.evaluate(`document.querySelector('#docs-menu').click()`);
    expect(await page.evaluate(isSeen)).to.equal(true);
  });

  it('has nothing that axe-core finds wrong, in light and dark', async function check() {
    this.timeout(240_000);
    for (const [width, path] of [
      [1280, '/docs/reference/event-types'],
      [390, '/docs/reference/kit-connector'],
      [1280, '/docs/reference/api-bulk'],
      [390, '/docs/reference/errors'],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(service.app.url + path);
      await expectAccessible(page);
    }
    await page.locator('#docs-search').fill('webhook');
    await page.locator('#docs-results a').first().waitFor();
    await expectAccessible(page);
  });

  it('asks nobody else for anything, and breaks no rule of its policy', () => {
    expect(
      browser.requests.filter((url) => !url.startsWith(`${service.app.url}/`) && !url.startsWith('data:')),
    ).to.deep.equal([]);
    expect(browser.complaints).to.deep.equal([]);
  });
});
