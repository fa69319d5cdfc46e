import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openPage, type PageClient, registerOrigins } from '../api/support/connect-page.ts';
import { withDatabase } from '../api/support/tenants.ts';
import { type ContextOptions, describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';
import { useProduct } from './support/product.ts';
import { expectAccessible } from './support/themes.ts';

const BAMBOOHR = { elements: ['bamboohr'], configuration: { simulator: true, 'company.name': 'acme' } };
const CLIENT = { simulator: true, 'oauth.api.key': 'demo-client', 'oauth.api.secret': 'demo-secret' };
/** 9 by 9. */
const LOGO = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>').toString('base64')}`;
const LONG = 'unbroken'.repeat(40);
const NARROW = { width: 360, height: 740 };

describeInBrowser('the connect page', () => {
  const { service, newContext } = useBrowser();
  const product = useProduct(service);

  before(() => registerOrigins(service, [product.origin]));

  async function open({ session }: PageClient, options: ContextOptions = {}): Promise<Page> {
    const page = await (await newContext({ others: [product.origin], ...options })).newPage();
    await page.goto(session.url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  const heading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();

  it('lets the user choose, by the keyboard alone, and says while he types what does not fit', async () => {
    const client = await openPage(service, { configuration: { simulator: true } });
    const page = await open(client);
    await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like that');
    await page.getByText('No provider matches “nothing like that”.').waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('employees time');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await heading(page, 'Connect BambooHR');
    expect(await page.evaluate('document.activeElement.tagName')).to.equal('H1');
    const company = page.getByLabel('Company name');
    await company.fill('ac me');
    await page.getByText('This does not look right yet. For example: acme').waitFor();
    await company.fill(' acme ');
    await page.getByText('For example: acme', { exact: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Fill in this field.').waitFor();
    expect(await page.evaluate('document.activeElement.id')).to.equal('field-username');
    await page.keyboard.type('demo-key');
    expect(await page.getByLabel('API key', { exact: true }).getAttribute('type')).to.equal('password');
    await page.getByRole('button', { name: 'Show API key' }).click();
    expect(await page.getByLabel('API key', { exact: true }).getAttribute('type')).to.equal('text');
    // The browser's way back leads to the choice.
    await page.goBack();
    await heading(page, 'Connect an account');
    await page.goForward();
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await company.fill('acme');
    await page.keyboard.press('Enter');
    await heading(page, 'Connected');
    expect((await client.read()).elementKey).to.equal('bamboohr');
  });

  it('goes to the provider and comes back in its own window, and in the end to the product', async () => {
    const client = await openPage(service, {
      elements: ['salesforce', 'box'],
      configuration: CLIENT,
      redirectUrl: `${product.origin}/connected?user=7`,
    });
    const page = await open(client);
    await page.getByRole('link', { name: 'Salesforce' }).click();
    await page.getByText(`Afterwards you return to ${new URL(product.origin).host}.`).waitFor();
    await page.getByRole('button', { name: 'Continue to Salesforce' }).click();
    const deny = page.getByRole('link', { name: 'Deny' });
    await deny.waitFor();
    expect(page.url())
      .to.match(/^http.*authorize/)
      .and.not.include(client.key);
    expect(await page.evaluate('document.referrer')).to.equal('');
    await deny.click();
    await page.getByRole('alert').getByText('end-user denied authorization').waitFor();
    await page.getByRole('button', { name: 'Continue to Salesforce' }).click();
    await page.getByRole('link', { name: 'Allow' }).click();
    await page.waitForURL(`${product.origin}/connected**`);
    const { instanceId } = await client.read();
    expect(new URL(page.url()).search).to.equal(`?user=7&instanceId=${instanceId}&sessionId=${client.session.id}`);
  });

  it('goes back to the product when the user gives up', async () => {
    const client = await openPage(service, { ...BAMBOOHR, redirectUrl: `${product.origin}/connected` });
    const page = await open(client);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${product.origin}/connected?error=cancelled&sessionId=${client.session.id}`);
    await page.goto(client.session.url);
    await heading(page, 'Nothing was connected');
    await page.getByRole('link', { name: `Back to ${new URL(product.origin).host}` }).waitFor();
  });

  it('leads back from a form and from the log-in at a provider to the choice, and out from everywhere', async () => {
    const elements = {
      elements: ['salesforce', 'box'],
      configuration: CLIENT,
      redirectUrl: `${product.origin}/connected`,
    };
    const page = await open(await openPage(service, elements));
    await page.getByRole('link', { name: 'Salesforce' }).click();
    await heading(page, 'Connect Salesforce');
    await page.getByRole('link', { name: 'All providers' }).click();
    await heading(page, 'Connect an account');
    await page.getByRole('link', { name: 'Salesforce' }).click();
    await page.getByRole('button', { name: 'Continue to Salesforce' }).click();
    await page.getByRole('link', { name: 'Allow' }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'All providers' }).click();
    await heading(page, 'Connect an account');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.waitForURL(`${product.origin}/connected?error=cancelled**`);
    const alone = await openPage(service, BAMBOOHR);
    const other = await open(alone);
    await other.getByRole('button', { name: 'Cancel' }).click();
    await heading(other, 'Nothing was connected');
    expect((await alone.read()).error.code).to.equal('CANCELLED');
  });

  it('leads back from what came too late', async () => {
    const client = await openPage(service, { elements: ['salesforce', 'box'], configuration: CLIENT });
    const page = await open(client);
    await page.getByRole('link', { name: 'Salesforce' }).click();
    await page.getByRole('button', { name: 'Continue to Salesforce' }).click();
    await page.getByRole('link', { name: 'Allow' }).waitFor();
    await withDatabase(service, (knex) =>
      knex('connect_authorization')
        .where({ session_id: client.session.id })
        .update({ created_at: knex.raw("now() - interval '1 hour'") }),
    );
    await page.getByRole('link', { name: 'Allow' }).click();
    await heading(page, 'This took too long');
    await page.getByRole('link', { name: 'Go back and try again' }).click();
    await heading(page, 'Connect Salesforce');
  });

  for (const [tag, title, cancel] of [
    ['de-AT', 'Konto verbinden', 'Abbrechen'],
    ['fr', 'Connecter un compte', 'Annuler'],
    ['es-MX', 'Conectar una cuenta', 'Cancelar'],
    ['ja', 'Connect an account', 'Cancel'],
  ] as const)
    it(`speaks to a browser that asks for ${tag}`, async () => {
      const page = await open(await openPage(service, { configuration: { simulator: true } }), { locale: tag });
      await heading(page, title);
      await page.getByRole('button', { name: cancel }).waitFor();
      expect(await page.evaluate('document.documentElement.lang')).to.equal(tag === 'ja' ? 'en' : tag.slice(0, 2));
    });

  it('has the name, the logo, the colour and the language of the product', async () => {
    const branding = { name: 'Acme Books', logoUrl: LOGO, color: '#ffcc00', language: 'de' };
    const client = await openPage(service, { ...BAMBOOHR, branding });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await open(client, { colorScheme, locale: 'fr' });
      await heading(page, 'BambooHR verbinden');
      await page.getByText('Acme Books', { exact: true }).waitFor();
      expect(await page.evaluate("document.querySelector('img.logo').naturalWidth")).to.equal(9);
      const button = page.getByRole('button', { name: 'Verbinden', exact: true });
      const styles = "getComputedStyle(document.querySelector('button.main'))";
      const look = await page.evaluate(`[${styles}.backgroundColor, ${styles}.color]`);
      expect(look).to.deep.equal(['rgb(255, 204, 0)', 'rgb(0, 0, 0)']);
      await page.getByLabel('API key', { exact: true }).fill('wrong');
      await button.click();
      await page.getByRole('alert').getByText('BambooHR hat diese Zugangsdaten abgelehnt.').waitFor();
      expect(await violationsOf(page)).to.deep.equal([]);
    }
  });

  it('does without a logo that cannot be loaded', async () => {
    const logoUrl = `${product.origin}/connect-logo-that-is-not-there`;
    const page = await open(await openPage(service, { ...BAMBOOHR, branding: { name: 'Acme Books', logoUrl } }));
    await page.getByText('Acme Books', { exact: true }).waitFor();
    await page.locator('img.logo').waitFor({ state: 'detached' });
  });

  it('says that a session was used, also where that happened while it was open', async () => {
    const client = await openPage(service, BAMBOOHR);
    const [page, late] = [await open(client), await open(client)];
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await heading(page, 'Connected');
    await late.getByLabel('API key', { exact: true }).fill('demo-key');
    await late.getByRole('button', { name: 'Connect', exact: true }).click();
    await heading(late, 'This link was already used');
    await page.reload();
    await heading(page, 'This link was already used');
    const { body: instances } = await service.call('/instances');
    const { instanceId } = await client.read();
    expect(Math.max(...instances.map(({ id }: { readonly id: number }) => id))).to.equal(instanceId);
  });

  it('says that a session has expired, or is none', async () => {
    const client = await openPage(service, BAMBOOHR);
    const page = await open(client);
    await withDatabase(service, (knex) =>
      knex('connect_session').where({ id: client.session.id }).update({ expires_at: client.session.createdDate }),
    );
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await heading(page, 'This link has expired');
    await page.goto(client.session.url.slice(0, -1));
    await heading(page, 'This page does not exist');
  });

  it('authenticates an instance again', async () => {
    const { id } = await service.createInstance('bamboohr', { ...BAMBOOHR.configuration, username: 'demo-key' });
    const client = await openPage(service, { instanceId: id, configuration: { simulator: true } });
    const page = await open(client);
    await heading(page, 'Connect BambooHR again');
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await heading(page, 'Connected');
    expect((await client.read()).instanceId).to.equal(id);
  });

  it('shows what comes from elsewhere as text', async () => {
    const client = await openPage(service, BAMBOOHR);
    const page = await open(client);
    const evil = '<img src=x onerror=alert(1)>';
    await page.route('**/connect/session/instance', (route) =>
      route.fulfill({
        status: 400,
        json: { code: 'REQUEST_INVALID', message: evil, providerMessage: evil, requestId: evil },
      }),
    );
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    expect(await page.getByRole('alert').textContent()).to.include(evil);
    expect(await page.getByRole('alert').locator('img').count()).to.equal(0);
  });

  it('has room for long words, from right to left on a small phone', async () => {
    const client = await openPage(service, { configuration: { simulator: true } });
    const page = await open(client, { viewport: NARROW });
    await page.route('**/connect/session', async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      for (const element of state.elements) {
        element.name += LONG;
        element.description = LONG;
        for (const field of element.fields) Object.assign(field, { name: LONG, description: LONG, example: LONG });
      }
      await route.fulfill({ response, json: state });
    });
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate("document.documentElement.dir = 'rtl'");
    expect(await overflowOf(page)).to.equal(0);
    const mark = await page.locator('.choices img').first().boundingBox();
    expect(mark?.x).to.be.above(NARROW.width / 2);
    await page.getByRole('link', { name: 'BambooHR' }).click();
    await heading(page, 'Connect BambooHR');
    expect(await overflowOf(page)).to.equal(0);
  });

  it('has nothing that axe-core finds wrong, in light and dark', async () => {
    const client = await openPage(service, { elements: ['bamboohr', 'salesforce'], configuration: CLIENT });
    const page = await open(client);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'BambooHR' }).click();
    await heading(page, 'Connect BambooHR');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Fill in this field.').first().waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key', { exact: true }).fill('wrong');
    await page.getByLabel('Company name').fill('acme');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key', { exact: true }).fill('demo-key');
    await page.keyboard.press('Enter');
    await heading(page, 'Connected');
    await expectAccessible(page);
    await page.reload();
    await heading(page, 'This link was already used');
    await expectAccessible(page);
  });
});

function overflowOf(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
