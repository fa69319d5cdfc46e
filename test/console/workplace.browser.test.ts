import { expect } from 'chai';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

const SHOP = { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true };

describeInBrowser('the account, the theme and the keys of the console in a browser', () => {
  const { service, open } = useBrowser();
  let acme = 0;

  before(async () => {
    await service.createInstance('odata', SHOP, { name: 'Own shop' });
    acme = (await service.call('/accounts', { method: 'POST', body: { externalId: 'acme', name: 'Acme' } })).body.id;
    const body = { element: { key: 'odata' }, name: 'Shop of Acme', configuration: SHOP };
    const headers = { 'elements-account-id': 'acme' };
    const { status } = await service.call('/instances', { method: 'POST', body, headers });
    expect(status).to.equal(200);
  });

  it('shows what belongs to another account, says which it is, and keeps it over a reload', async () => {
    const page = await open('/console/instances');
    await page.getByRole('link', { name: 'Own shop' }).waitFor();
    await page.getByRole('button', { name: 'Switch account' }).click();
    await page.getByRole('dialog').getByRole('searchbox').fill('ACM');
    await page.getByRole('dialog').getByRole('button', { name: /^Acme/ }).click();
    await page.getByRole('link', { name: 'Shop of Acme' }).waitFor();
    expect(await page.getByRole('link', { name: 'Own shop' }).count()).to.equal(0);
    const mark = page.getByRole('complementary', { name: 'Account' });
    expect(await mark.textContent()).to.contain('You work in the account Acme.');
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.reload();
    await page.getByRole('link', { name: 'Shop of Acme' }).waitFor();
    await mark.getByRole('button', { name: 'Back to First account' }).click();
    await page.getByRole('link', { name: 'Own shop' }).waitFor();
    expect(await page.getByRole('link', { name: 'Shop of Acme' }).count()).to.equal(0);
    expect(await mark.count()).to.equal(0);
  });

  it('goes back to the own account when the other one is gone', async () => {
    const page = await open(`/console/organization/accounts/${acme}`);
    await page.getByRole('button', { name: 'Work in this account' }).click();
    await page.getByText('You work in the account Acme.').waitFor();
    await service.call(`/accounts/${acme}`, { method: 'DELETE' });
    await page.goto(`${service.app.url}/console/instances`);
    await page.getByRole('link', { name: 'Own shop' }).waitFor();
    expect(await page.getByText('You work in the account').count()).to.equal(0);
  });

  it('keeps the theme, which is there before the page is painted', async () => {
    const page = await open('/console/instances');
    const theme = () => page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
    expect(await theme()).to.equal('light dark');
    await page.getByLabel('Theme').selectOption('dark');
    expect(await theme()).to.equal('dark');
    // Nothing but the scripts that stand in the page itself.
    await page.route('**/console-*.js', (route) => route.abort());
    await page.reload({ waitUntil: 'domcontentloaded' });
    expect(await theme()).to.equal('dark');
    await page.unroute('**/console-*.js');
    await page.reload();
    expect(await page.getByLabel('Theme').inputValue()).to.equal('dark');
    await page.getByLabel('Theme').selectOption('as the system');
    await page.reload();
    await page.getByLabel('Theme').waitFor();
    expect(await theme()).to.equal('light dark');
  });

  it('says what the keyboard does', async () => {
    const page = await open('/console/organization');
    await page.getByRole('heading', { name: 'First organization' }).waitFor();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard' });
    await help.getByText('Go to Instances').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
  });
});
