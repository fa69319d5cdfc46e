import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const PASSWORD = 'quiet harbour seventeen';

describeInBrowser('the log-in in a browser', () => {
  const { service, newContext } = useBrowser();
  let context: BrowserContext;
  let page: Page;
  let errors: string[];

  beforeEach(async () => {
    context = await newContext();
    page = await context.newPage();
    errors = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(`${service.app.url}/console`);
    await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
  });
  afterEach(() => context.close());

  it('leads with the file of secrets while nobody has a password, and says where it is', async () => {
    await page.getByText('It prints the path when it starts').waitFor();
    await expectAccessible(page);
    const secrets = { userSecret: USER_SECRET, organizationSecret: ORGANIZATION_SECRET };
    await page.getByLabel('The file credentials.json').setInputFiles({
      name: 'credentials.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify(secrets)),
    });
    await page.waitForURL('**/console/instances');
    await page.reload();
    await page.getByRole('heading', { name: 'Instances' }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('logs no error when it is first loaded, with and without the cookie of an ended session', async () => {
    expect(errors).to.deep.equal([]);
    await context.addCookies([{ name: 'causeway-session', value: 'x'.repeat(43), url: service.app.url }]);
    await page.reload();
    await page.getByRole('heading', { name: 'Log in to Causeway' }).waitFor();
    expect(errors).to.deep.equal([]);
  });

  it('leads with name and password when somebody has one', async () => {
    await service.call('/users/me/password', { method: 'PUT', body: { password: PASSWORD } });
    await page.reload();
    await page.getByLabel('E-mail address').fill('admin@localhost');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    await page.waitForURL('**/console/instances');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('E-mail address').waitFor();
    await page.getByRole('button', { name: 'Log in with your secrets' }).click();
    await page.getByLabel('User secret').waitFor();
  });
});
