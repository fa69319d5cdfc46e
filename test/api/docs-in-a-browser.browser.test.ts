import { expect } from 'chai';
import type { Page } from 'playwright-core';
import document from '../../generated/openapi.json' with { type: 'json' };
import { useApp } from '../support/app.ts';
import { describeInBrowser, useChromium } from '../support/browser.ts';
import { documentedCalls } from './support/documented-calls.ts';

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
    for (const { id, method, url, body } of sent.map(Object)) {
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
  });

  it('finds operations, schemas and headings of guides by their words', async () => {
    const find = (words: string) =>
      page.evaluate(`(() => {
        const search = document.querySelector('#docs-search');
        search.value = ${JSON.stringify(words)};
        search.dispatchEvent(new Event('input'));
        return [...document.querySelectorAll('nav a')].filter((link) => link.checkVisibility()).map((link) => link.getAttribute('href'));
      })()`);
    expect(await find('release queued')).to.deep.equal(['/docs/reference/api-notifications#releaseDeliveries']);
    expect(await find('PATCH /instances/{id}'))
      .to.include('/docs/reference/api-instances#updateInstance')
      .and.not.include('/docs/reference/api-instances#getInstance');
    expect(await find('verify signature')).to.deep.equal(['/docs/reference/events#verify-the-signature']);
    expect(await find('no such thing at all')).to.deep.equal([]);
    expect(await find('')).to.include('/docs/reference/api-records');
  });

  it('fits a phone, where the navigation is behind a button', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const path of [
      '/docs',
      '/docs/reference/api-records',
      '/docs/reference/errors',
      '/docs/reference/where',
      '/docs/how-to/deployment',
      '/docs/elements/bamboohr',
    ]) {
      await page.goto(service.app.url + path);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(390);
    }
    const isSeen = `document.querySelector('#docs-search').checkVisibility()`;
    expect(await page.evaluate(isSeen)).to.equal(false);
    await page.evaluate(`document.querySelector('#docs-menu').click()`);
    expect(await page.evaluate(isSeen)).to.equal(true);
  });

  it('asks nobody else for anything, and breaks no rule of its policy', () => {
    expect(
      browser.requests.filter((url) => !url.startsWith(`${service.app.url}/`) && !url.startsWith('data:')),
    ).to.deep.equal([]);
    expect(browser.complaints).to.deep.equal([]);
  });
});
