import { expect } from 'chai';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

describeInBrowser('the OAuth proxies of the console in a browser', () => {
  const { open, service } = useBrowser();

  it('are made, changed and deleted', async () => {
    const page = await open('/console/proxies');
    await page.getByText('There are no proxies yet.').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'New proxy' }).first().click();
    await page.getByRole('textbox', { name: /^Name/ }).fill('<b>crm</b>');
    await page.getByRole('textbox', { name: 'Client key' }).fill('demo-client');
    await page.getByLabel(/^Client secret/).fill('demo-secret');
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Create the proxy' }).click();
    await page.waitForURL(/\/console\/proxies\/\d+$/);
    const { body } = await service.call('/elements/oauthProxies');
    await page.getByText(body[0].proxyUrl).waitFor();
    await page.getByRole('button', { name: 'Copy the redirect URL' }).waitFor();

    await page.getByRole('textbox', { name: /^Name/ }).fill('crm');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'crm', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Share with all accounts' }).click();
    await page.getByText('All accounts of the organization see the proxy').waitFor();
    expect((await service.call('/elements/oauthProxies')).body[0]).to.include({ name: 'crm', shared: true });
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    await page.getByText('Only the account that created the proxy sees it').waitFor();
    expect((await service.call('/elements/oauthProxies')).body[0]).to.include({ shared: false });

    await page.getByLabel('Another URL').fill('https://app.example.com/connected?x=1');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('alert').getByText('REQUEST_INVALID').waitFor();
    await page.getByLabel('Another URL').fill('https://app.example.com/connected');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Remove https://app.example.com/connected' }).click();
    await page.getByText('There are no application URLs yet.').waitFor();
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the proxy' }).click();
    await page.getByText('There are no proxies yet.').waitFor();
    expect((await service.call('/elements/oauthProxies')).body).to.deep.equal([]);
  });
});
