import { expect } from 'chai';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

describeInBrowser('connect sessions in a browser', () => {
  const { service, newContext, open } = useBrowser();

  before(() =>
    service.call('/organizations/me/connect-origins', {
      method: 'PUT',
      body: { origins: ['https://app.example.com'] },
    }),
  );

  it('are made with what is fixed, show their link once, and are seen to be completed', async () => {
    const page = await open('/console/connect');
    await page.getByRole('link', { name: 'New session' }).click();
    await page.getByRole('searchbox').fill('odata');
    await page.getByRole('checkbox', { name: /^OData/ }).check();
    await page.getByLabel('Name').fill('Shop of Ada');
    await page.getByLabel('Tags').fill('user-7, eu');
    await page.getByLabel('Key 1').fill('simulator');
    await page.getByLabel('Value 1').fill('true');
    await page.getByLabel('Returns to').fill('https://elsewhere.example.com/');
    await page.getByRole('button', { name: 'Create the link' }).click();
    await page.getByRole('alert').getByText('REQUEST_INVALID').waitFor();
    await page.getByLabel('Returns to').fill('');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const url = (await page.getByRole('region', { name: 'Link' }).locator('code').textContent()) ?? '';
    expect(await page.locator('pre').textContent()).to.contain(url);
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Show the session' }).click();
    await page.getByText('open', { exact: true }).waitFor();
    expect(await page.content()).to.not.contain(url);
    const theirs = await (await newContext()).newPage();
    await theirs.goto(url);
    await theirs.getByLabel(/Service root|URL/).fill('https://demo.example.com/odata/v4/shop');
    await theirs.getByRole('button', { name: /^Connect/ }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    const [{ id }] = (await service.call('/instances')).body;
    await page.getByRole('link', { name: String(id), exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('button', { name: 'Reveal the token of the instance' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('say which page could not show theirs, and where its origin is registered', async () => {
    const body = { elements: ['odata'], name: 'Not shown' };
    const { url, id } = (await service.call('/connect/sessions', { method: 'POST', body })).body;
    expect((await fetch(`${url}?from=https://shop.example.com`)).status).to.equal(403);
    const page = await open('/console/connect');
    await page.getByText('not shown', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Not shown' }).click();
    await page.getByText('A page of https://shop.example.com tried to show the page of this session').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Connect origins' }).click();
    await page.getByLabel('Origins, one per line').waitFor();
    await service.call(`/connect/sessions/${id}`, { method: 'DELETE' });
  });

  it('are found by their state, and ended before their time', async () => {
    const body = { elements: ['odata'], name: 'Left alone' };
    await service.call('/connect/sessions', { method: 'POST', body });
    const page = await open('/console/connect');
    await page.getByRole('link', { name: 'Shop of Ada' }).waitFor();
    await page.getByLabel('State').selectOption('open');
    await page.getByRole('link', { name: 'Shop of Ada' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Left alone' }).click();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByRole('button', { name: 'End the session' }).click();
    await page.getByText('failed', { exact: true }).waitFor();
    await page.getByText('CANCELLED').waitFor();
    expect(await page.getByRole('button', { name: 'End', exact: true }).count()).to.equal(0);
  });
});
