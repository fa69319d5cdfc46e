import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

describeInBrowser('a login at a provider in a window of the console', () => {
  const { open, service } = useBrowser();

  const logIn = (page: Page) => page.getByRole('button', { name: 'Log in at Salesforce' });

  async function openForm(): Promise<Page> {
    const page = await open('/console/instances/new/salesforce');
    await page.getByLabel('Use the simulator').check();
    return page;
  }

  /** The window of the provider, on its page. */
  async function openWindow(page: Page, click: () => Promise<void>): Promise<Page> {
    const [popup] = await Promise.all([page.waitForEvent('popup'), click()]);
    await popup.getByRole('link', { name: 'Allow' }).waitFor();
    return popup;
  }

  it('connects an account, and closes the window', async () => {
    const page = await openForm();
    const popup = await openWindow(page, () => logIn(page).click());
    await page.getByText('This page then continues.').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await Promise.all([popup.waitForEvent('close'), popup.getByRole('link', { name: 'Allow' }).click()]);
    await page.waitForURL(/\/console\/instances\/\d+$/);
    await page.getByRole('heading', { name: 'Salesforce' }).getByText('valid').waitFor();
    const { body } = await service.call('/instances');
    expect(body[0].configuration).to.include({
      'oauth.callback.url': `${service.app.url}/oauth/callback`,
      simulator: true,
    });
  });

  it('is done again for an instance that is there', async () => {
    const { body } = await service.call('/instances');
    const page = await open(`/console/instances/${body[0].id}/settings`);
    const popup = await openWindow(page, () =>
      page.getByRole('button', { name: 'Log in at Salesforce again' }).click(),
    );
    await popup.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(new RegExp(`/console/instances/${body[0].id}$`));
    expect((await service.call('/instances')).body).to.have.length(1);
  });

  it('says when access was denied, and tries again', async () => {
    const page = await openForm();
    const popup = await openWindow(page, () => logIn(page).click());
    await popup.getByRole('link', { name: 'Deny' }).click();
    const note = page.getByRole('alert').filter({ hasText: 'Salesforce did not grant access' });
    await note.getByText('end-user denied authorization (access_denied)').waitFor();
    const again = await openWindow(page, () => note.getByRole('button', { name: 'Try again' }).click());
    await again.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(/\/console\/instances\/\d+$/);
  });

  it('says when the window was closed, shows it again, and gives up when told', async () => {
    const page = await openForm();
    const popup = await openWindow(page, () => logIn(page).click());
    await popup.close();
    const note = page.getByRole('status');
    await note.getByText('The window of Salesforce was closed').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await openWindow(page, () => note.getByRole('button', { name: 'Try again' }).click());
    await note.getByText('This page then continues.').waitFor();
    await note.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Nobody logged in at Salesforce. Nothing was connected.').waitFor();
  });

  it('says when the browser blocked the window, and opens it by a click of its own', async () => {
    const page = await openForm();
    await page.evaluate('globalThis.realOpen = window.open; window.open = () => null');
    await logIn(page).click();
    const note = page.getByRole('status');
    await note.getByText('The browser blocked the window of Salesforce.').waitFor();
    await page.evaluate('window.open = globalThis.realOpen');
    const popup = await openWindow(page, () => note.getByRole('button', { name: 'Open the window' }).click());
    await popup.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(/\/console\/instances\/\d+$/);
  });

  it('takes no code that comes with a state of somebody else', async () => {
    const page = await openForm();
    const popup = await openWindow(page, () => logIn(page).click());
    const foreign = await page.context().newPage();
    await foreign.goto(`${service.app.url}/oauth/callback?code=foreign&state=foreign`);
    await foreign.getByRole('heading', { name: 'Authorized' }).waitFor();
    await popup.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(/\/console\/instances\/\d+$/);
    expect(foreign.isClosed()).to.equal(false);
    await foreign.close();
  });

  it('goes by the application of an OAuth proxy', async () => {
    const body = { name: 'crm-client', apiKey: 'demo-client', apiSecret: 'demo-secret' };
    await service.call('/elements/oauthProxies', { method: 'POST', body });
    const page = await openForm();
    await page.getByLabel('Application').selectOption('Proxy crm-client');
    const popup = await openWindow(page, () => logIn(page).click());
    await Promise.all([popup.waitForEvent('close'), popup.getByRole('link', { name: 'Allow' }).click()]);
    await page.waitForURL(/\/console\/instances\/\d+$/);
    const { body: instances } = await service.call('/instances');
    expect(instances.at(-1).configuration['oauth.callback.url']).to.include('/oauth/proxy/');
  });
});
