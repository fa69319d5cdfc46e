import { expect } from 'chai';
import type { FrameLocator, Page } from 'playwright-core';
import { openPage, registerOrigins } from '../api/support/connect-page.ts';
import { ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';
import { useProduct } from './support/product.ts';

const CLIENT_SECRET = 'demo-secret';
const BAMBOOHR = { elements: ['bamboohr'], configuration: { simulator: true, 'company.name': 'acme' } };
const SALESFORCE = {
  elements: ['salesforce'],
  configuration: { simulator: true, 'oauth.api.key': 'demo-client', 'oauth.api.secret': CLIENT_SECRET },
};

describeInBrowser('the connect page on a page of a product', () => {
  const { service, newContext } = useBrowser();
  const product = useProduct(service);
  /** All that browsers were sent by the service. */
  const sent: Promise<string>[] = [];

  before(() => registerOrigins(service, [product.origin]));

  async function openProduct(options: Parameters<typeof newContext>[0] = {}): Promise<Page> {
    const context = await newContext({ others: [product.origin], ...options });
    context.on('response', (response) => {
      if (!response.url().startsWith(service.app.url)) return;
      const body = response.text().catch(() => '');
      sent.push(body.then((text) => JSON.stringify([response.url(), response.headers(), text])));
    });
    const page = await context.newPage();
    await page.goto(product.origin);
    return page;
  }

  async function begin(page: Page): Promise<FrameLocator> {
    await page.getByRole('button', { name: 'Connect your account' }).click();
    return page.frameLocator('iframe');
  }

  const outcome = (page: Page, text: string | RegExp) => page.locator('#outcome', { hasText: text }).waitFor();
  const read = async () => (await service.call(`/connect/sessions/${product.sessionId()}`)).body;

  /** Nothing of it but what is for the user. */
  async function expectNoSecrets(): Promise<void> {
    const all = (await Promise.all(sent)).join('\n');
    expect(all).to.include('BambooHR').and.to.include('Salesforce');
    const { body: instances } = await service.call('/instances');
    const tokens = instances.map(({ token }: { readonly token: string }) => token);
    expect(tokens).to.not.be.empty;
    for (const secret of [ORGANIZATION_SECRET, USER_SECRET, CLIENT_SECRET, ...tokens])
      expect(all).to.not.include(secret);
  }

  it('connects in a frame, after wrong credentials with the right ones', async () => {
    product.offer(BAMBOOHR);
    const page = await openProduct();
    const frame = await begin(page);
    const key = frame.getByLabel('API key', { exact: true });
    await key.fill('wrong-key');
    await frame.getByRole('button', { name: 'Connect', exact: true }).click();
    await frame.getByRole('alert').getByText('BambooHR rejects these credentials.').waitFor();
    await frame.getByRole('alert').getByText('Invalid API key').waitFor();
    expect((await read()).status).to.equal('open');
    await key.fill('demo-key');
    await frame.getByRole('button', { name: 'Connect', exact: true }).click();
    await outcome(page, 'Connected');
    expect(await page.locator('iframe').count()).to.equal(0);
    const { status, instanceId } = await read();
    expect(status).to.equal('completed');
    expect(await page.locator('#outcome').textContent()).to.equal(`Connected: ${instanceId}`);
    expect((await service.call('/instances')).body).to.have.length(1);
  });

  it('connects by OAuth in a window that closes itself, after a denial', async () => {
    product.offer(SALESFORCE);
    product.show("mode: 'frame', container: '#place'");
    const page = await openProduct();
    const frame = await begin(page);
    const authorize = async (choice: string) => {
      const button = frame.getByRole('button', { name: 'Continue to Salesforce' });
      const [popup] = await Promise.all([page.waitForEvent('popup'), button.click()]);
      await frame.getByRole('heading', { name: 'Continue at Salesforce' }).waitFor();
      const link = popup.getByRole('link', { name: choice });
      await Promise.all([popup.waitForEvent('close'), link.click()]);
    };
    await authorize('Deny');
    await frame.getByRole('alert').getByText('end-user denied authorization').waitFor();
    expect((await read()).status).to.equal('open');
    await authorize('Allow');
    await outcome(page, 'Connected');
    expect(await read()).to.include({ status: 'completed', elementKey: 'salesforce' });
  });

  it('connects in a window, from which it opens that of the provider', async () => {
    product.offer(SALESFORCE);
    product.show("mode: 'window'");
    const page = await openProduct();
    const [connect] = await Promise.all([page.waitForEvent('popup'), begin(page)]);
    const button = connect.getByRole('button', { name: 'Continue to Salesforce' });
    const [provider] = await Promise.all([connect.waitForEvent('popup'), button.click()]);
    await connect.getByRole('heading', { name: 'Continue at Salesforce' }).waitFor();
    expect(await violationsOf(connect)).to.deep.equal([]);
    // It asks again after an answer that did not come.
    await connect.route('**/connect/session', (route) => route.abort(), { times: 1 });
    await connect.waitForEvent('requestfailed');
    await connect.waitForResponse('**/connect/session');
    await Promise.all([connect.waitForEvent('close'), provider.getByRole('link', { name: 'Allow' }).click()]);
    await outcome(page, 'Connected');
    expect((await read()).status).to.equal('completed');
  });

  it('tells when the user gives up, or closes the window', async () => {
    product.offer(BAMBOOHR);
    product.show("mode: 'frame'");
    const page = await openProduct();
    const frame = await begin(page);
    await frame.getByRole('heading', { name: 'Connect BambooHR' }).waitFor();
    // Not of the page that was opened: nobody else says what has come of it.
    await page.evaluate("postMessage({ source: 'causeway', type: 'done', sessionId: 1, instanceId: 4711 }, '*')");
    await frame.getByRole('button', { name: 'Cancel' }).click();
    await outcome(page, 'Not connected.');
    expect((await read()).status).to.equal('failed');
    product.show("mode: 'window'");
    await page.reload();
    const [connect] = await Promise.all([page.waitForEvent('popup'), begin(page)]);
    await connect.getByRole('heading', { name: 'Connect BambooHR' }).waitFor();
    await connect.close();
    await outcome(page, 'Not connected.');
    expect((await read()).status).to.equal('open');
  });

  it('says so where the browser opens no window for the provider', async () => {
    product.offer(SALESFORCE);
    product.show("mode: 'frame'");
    const page = await openProduct();
    await page.context().addInitScript('window.open = () => null');
    await page.reload();
    const frame = await begin(page);
    await frame.getByRole('button', { name: 'Continue to Salesforce' }).click();
    await frame.getByRole('alert').getByText('Your browser did not open the window of Salesforce.').waitFor();
    await frame.getByRole('button', { name: 'Open Salesforce' }).waitFor();
    await frame.getByRole('button', { name: 'Back' }).click();
    await frame.getByRole('button', { name: 'Continue to Salesforce' }).waitFor();
  });

  describe('of an origin that is not registered', () => {
    const REFUSED = { expected: /status of 403/ };
    const register = 'PUT /organizations/me/connect-origins';

    before(() => registerOrigins(service, ['https://app.example.com']));
    after(() => registerOrigins(service, [product.origin]));

    it('says so at once in a frame, to the user, to the page and to the server, and stays until it is closed', async () => {
      product.offer(BAMBOOHR);
      product.show("mode: 'frame'");
      const page = await openProduct(REFUSED);
      const frame = await begin(page);
      await outcome(page, `unregistered: The page's origin is ${product.origin}`);
      await frame.getByRole('heading', { name: 'You cannot connect an account here yet' }).waitFor();
      const makers = frame.getByRole('region', { name: 'For the developers of the page' });
      expect(await makers.textContent())
        .to.include(product.origin)
        .and.to.include(register);
      const { problem, status } = await read();
      expect(status).to.equal('open');
      expect(problem).to.include({ code: 'ORIGIN_NOT_REGISTERED', origin: product.origin });
      expect(problem.message).to.include(product.origin).and.to.include(register);
      expect(await frame.locator('body').innerHTML()).to.not.include('BambooHR');
      await frame.getByRole('button', { name: 'Close' }).click();
      await page.locator('iframe').waitFor({ state: 'detached' });
    });

    it('says so in a window, which the user closes', async () => {
      product.offer(BAMBOOHR);
      product.show("mode: 'window'");
      const page = await openProduct(REFUSED);
      const [connect] = await Promise.all([page.waitForEvent('popup'), begin(page)]);
      await outcome(page, `unregistered: The page's origin is ${product.origin}`);
      await connect.getByText(`The page's origin is ${product.origin}`).waitFor();
      expect(await violationsOf(connect)).to.deep.equal([]);
      await Promise.all([connect.waitForEvent('close'), connect.getByRole('button', { name: 'Close' }).click()]);
      expect((await read()).problem.origin).to.equal(product.origin);
    });

    it('says so in a frame that the product made without the script, whose browser names the origin', async () => {
      const client = await openPage(service, BAMBOOHR);
      const page = await openProduct(REFUSED);
      await page.evaluate(`document.body.append(document.createElement('iframe'))`);
      await page.evaluate(`document.querySelector('iframe').src = '${client.session.url}'`);
      await page.frameLocator('iframe').getByText(`The page's origin is ${product.origin}`).waitFor();
      expect((await client.read()).problem.origin).to.equal(product.origin);
    });

    it('connects there once it is registered, and the session has no problem any more', async () => {
      await registerOrigins(service, [product.origin]);
      expect(await read()).to.not.have.property('problem');
      product.offer(BAMBOOHR);
      product.show("mode: 'frame'");
      const frame = await begin(await openProduct());
      await frame.getByRole('heading', { name: 'Connect BambooHR' }).waitFor();
    });

    it('says so where the page of the product is registered, and stands in a frame of one that is not', async () => {
      await registerOrigins(service, [product.origin]);
      const outer = product.origin.replace('localhost', '127.0.0.1');
      product.offer(BAMBOOHR);
      product.show("mode: 'frame'");
      const page = await openProduct({ ...REFUSED, others: [product.origin, outer] });
      await page.goto(outer);
      await page.evaluate(`document.body.append(document.createElement('iframe'))`);
      await page.evaluate(`document.querySelector('iframe').src = '${product.origin}'`);
      const inner = page.frameLocator('iframe');
      await inner.getByRole('button', { name: 'Connect your account' }).click();
      await inner.frameLocator('iframe').getByText(`The page's origin is ${outer}`).waitFor();
      await inner.locator('#outcome', { hasText: 'unregistered' }).waitFor();
    });
  });

  it('says at once, in a frame and in a window, that there is no such session any more', async () => {
    product.offer(BAMBOOHR);
    for (const mode of ['frame', 'window']) {
      product.show(`mode: '${mode}'`);
      const page = await openProduct({ expected: /status of 404/ });
      await page.route('**/connect-session', async (route) => {
        const response = await route.fetch();
        const { url } = await response.json();
        await route.fulfill({ response, json: { url: `${url.slice(0, -3)}xxx` } });
      });
      await begin(page);
      await outcome(page, 'ended: It may be old or incomplete.');
      expect(await page.locator('iframe').count()).to.equal(0);
    }
  });

  it('sends browsers no secret of the organization, and no token', expectNoSecrets);

  it('is opened by a script of at most 3 kB, of which there is always the newest', async () => {
    const response = await fetch(`${service.app.url}/connect.js`);
    expect((await response.arrayBuffer()).byteLength).to.be.below(3 * 1024);
    expect(Object.fromEntries(response.headers)).to.include({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
    });
  });
});
