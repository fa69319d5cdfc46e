import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { ORGANIZATION_SECRET } from '../support/app.ts';
import { logInToConsole } from '../support/chromium.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const KEAP = {
  'oauth.api.key': 'demo-client',
  'oauth.api.secret': 'demo-secret',
  'oauth.user.token': 'demo-access-token',
  simulator: true,
};
const HOSTILE = '<img src=x onerror=document.title=1>';

describeInBrowser('the mappings of the console in a browser', () => {
  const { open, service, newContext } = useBrowser();
  let keap: { readonly id: number; readonly token: string };

  before(async () => {
    keap = await service.createInstance('keap', KEAP, { name: 'Keap of the tests' });
  });

  const pathOf = (page: Page, field: string) => page.getByLabel(`Path of the provider for ${field}`, { exact: true });
  const conversionOf = (page: Page, field: string) =>
    page
      .getByRole('listitem')
      .filter({ has: pathOf(page, field) })
      .locator('details');

  async function addField(page: Page, path: string, type: string): Promise<void> {
    await page.getByRole('button', { name: 'Add a field…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a field' });
    await dialog.getByLabel('Path').fill(path);
    await dialog.getByLabel('Type').selectOption(type);
    await dialog.getByRole('button', { name: 'Add the field' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: path, exact: true }).waitFor();
  }

  async function save(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Save the transformation' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
  }

  it('make a definition with its fields', async () => {
    const page = await open('/console/mappings');
    await page.getByText('There are no definitions yet.').waitFor();
    await page.getByRole('button', { name: 'New definition…' }).click();
    const dialog = page.getByRole('dialog', { name: 'New definition' });
    await dialog.getByLabel('Name').fill('instances');
    await dialog.getByRole('button', { name: 'Create the definition' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Name').fill('people');
    await dialog.getByRole('button', { name: 'Create the definition' }).click();
    await page.waitForURL('**/console/mappings/definitions/people');
    await page.getByText('The definition has no fields yet.').waitFor();
    await addField(page, 'key', 'string');
    await addField(page, 'firstName', 'string');
    await addField(page, 'mail', 'string');
    await addField(page, 'changed', 'date');
    await addField(page, 'wrong', 'object');
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Change wrong…' }).click();
    const change = page.getByRole('dialog', { name: 'Change wrong' });
    await change.getByLabel('Path').fill('a..b');
    await change.getByRole('button', { name: 'Save' }).click();
    await change.locator('.fault').waitFor();
    await change.getByLabel('Path').fill('source');
    await change.getByLabel('Type').selectOption('string');
    await change.getByLabel('Name for people').fill(HOSTILE);
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: HOSTILE }).waitFor();
    const { body } = await service.call('/organizations/objects/people/definitions');
    expect(body.fields.map(({ path, type }: { path: string; type: string }) => [path, type])).to.deep.equal([
      ['key', 'string'],
      ['firstName', 'string'],
      ['mail', 'string'],
      ['changed', 'date'],
      ['source', 'string'],
    ]);
  });

  it('map the fields of a provider, and show a record of it as it is mapped', async () => {
    const page = await open('/console/mappings/definitions/people/transformations');
    await page.getByText('No element maps the definition yet.').waitFor();
    await page.getByRole('button', { name: 'Map an element…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Map people' });
    await dialog.getByRole('combobox', { name: 'Element', exact: true }).selectOption('keap');
    await dialog.getByRole('button', { name: 'Open the editor' }).click();
    await page.waitForURL('**/definitions/people/organization/keap');

    await page.getByLabel('Object of the provider').fill('contacts');
    const vendor = page.getByRole('region', { name: 'Fields of the provider' });
    await vendor.getByText('email_addresses[0].email', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Suggest fields' }).click();
    await page.getByText('4 of 5 fields without a mapping got one.').waitFor();
    expect(await pathOf(page, 'key').inputValue()).to.equal('id');
    expect(await pathOf(page, 'firstName').inputValue()).to.equal('given_name');
    expect(await pathOf(page, 'mail').inputValue()).to.equal('email_addresses[0].email');
    expect(await pathOf(page, 'changed').inputValue()).to.equal('update_time');

    // The keyboard alone maps a field by the list, and takes a new one over.
    await pathOf(page, 'source').focus();
    await vendor.getByRole('button', { name: 'Use source_type for source', exact: true }).press('Enter');
    expect(await pathOf(page, 'source').inputValue()).to.equal('source_type');
    await vendor.getByRole('button', { name: 'Add a field for family_name' }).press('Enter');
    await pathOf(page, 'familyName').waitFor();
    await conversionOf(page, 'source').locator('summary').click();
    await conversionOf(page, 'source').getByRole('button', { name: 'Map a value of source' }).click();
    await page.getByLabel('Value 1 of the provider for source').fill('MANUAL');
    await page.getByLabel('Your value 1 for source').fill('by hand');
    await conversionOf(page, 'source').getByRole('combobox', { name: 'Any other value' }).selectOption('keep');
    await conversionOf(page, 'firstName').locator('summary').click();
    await conversionOf(page, 'firstName').getByLabel('Default, if empty').fill('nobody');
    await page.locator('summary', { hasText: 'Script' }).click();
    const script = page.getByRole('textbox', { name: 'Script' });
    await script.fill('let a = 1;\nlet a');
    await pathOf(page, 'mail').fill('email_addresses[');
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Save the transformation' }).click();
    await page.getByText(/^Line 2, column 5: /).waitFor();
    await page
      .getByRole('listitem')
      .filter({ has: pathOf(page, 'mail') })
      .locator('.fault')
      .waitFor();
    await script.fill(
      "if (fromVendor) transformedObject.source = transformedObject.source + '!'; done(transformedObject);",
    );
    await pathOf(page, 'mail').fill('email_addresses[0].email');
    await save(page);

    const { body: records } = await service.call('/people', { token: keap.token, query: { pageSize: 5 } });
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('"familyName"').waitFor();
    expect(JSON.parse(await result.locator('pre').innerText())).to.deep.equal(records[0]);
    expect(Object.keys(records[0])).to.have.members(['key', 'firstName', 'mail', 'changed', 'source', 'familyName']);
    await page.getByRole('combobox', { name: 'Record', exact: true }).selectOption('1');
    await until(async () => JSON.parse(await result.locator('pre').innerText()).key === records[1].key);
    await page
      .getByRole('region', { name: 'Try-out' })
      .getByRole('combobox', { name: 'Direction' })
      .selectOption('POST');
    await result.getByText('"given_name"').waitFor();
    await result.getByText('because a request cannot set it: ').waitFor();
    expect(await page.getByRole('textbox', { name: 'Your people' }).inputValue()).to.not.include('"key"');
    await page.getByRole('textbox', { name: 'Your people' }).fill('{ "nothing": ');
    await page.getByRole('button', { name: 'Transform', exact: true }).click();
    await result.getByRole('alert').getByText('The record is not JSON').waitFor();
    await page.getByRole('textbox', { name: 'Your people' }).fill('{ "firstName": "Ada" }');
    await page.getByRole('button', { name: 'Transform', exact: true }).click();
    await result.getByText('"given_name": "Ada"').waitFor();
    // What the user writes is the user's: it is refused as the write refuses it.
    await page.getByRole('textbox', { name: 'Your people' }).fill('{ "firstName": "Ada", "key": "1" }');
    await page.getByRole('button', { name: 'Transform', exact: true }).click();
    await result.getByRole('alert').getByText("'key' cannot be set on create.").waitFor();
  });

  it('change what was saved, and keep the rest as it was', async () => {
    const path = '/organizations/elements/keap/transformations/people';
    const { body: before } = await service.call(path);
    const page = await open('/console/mappings/definitions/people/organization/keap');
    await page.getByRole('button', { name: 'Use create_time', exact: true }).waitFor();
    await pathOf(page, 'changed').fill('create_time');
    await page.getByText('You have changes that are not saved.').waitFor();
    await save(page);
    const { body: after } = await service.call(path);
    const fields = before.fields.map((field: { path: string }) =>
      field.path === 'changed' ? { ...field, vendorPath: 'create_time', vendorType: 'datetime' } : field,
    );
    expect({ ...after, startDate: '' }).to.deep.equal({ ...before, fields, startDate: '' });
  });

  it('override one field on an instance, and inherit the others', async () => {
    const page = await open(`/console/mappings/definitions/people/instance/${keap.id}`);
    await page.getByLabel('Object of the provider').fill('contacts');
    await page.getByLabel('Inherit the fields that a higher level maps').check();
    await pathOf(page, 'firstName').fill('family_name');
    await save(page);
    await page.getByRole('button', { name: 'Override mail' }).waitFor();
    const { body } = await service.call(`/instances/${keap.id}/transformations/people`);
    const levels = body.fields.map(({ path, level }: { path: string; level: string }) => [path, level]);
    expect(Object.fromEntries(levels)).to.deep.include({ firstName: 'instance', mail: 'organization' });
    await page.getByRole('button', { name: 'Override mail' }).click();
    await pathOf(page, 'mail').fill('phone_numbers[0].number');
    await save(page);
    const { body: above } = await service.call('/organizations/elements/keap/transformations/people');
    expect(above.fields.find(({ path }: { path: string }) => path === 'mail').vendorPath).to.equal(
      'email_addresses[0].email',
    );
  });

  it('show which elements map a field, and try it on an instance', async () => {
    const page = await open('/console/mappings/definitions/people/transformations');
    const coverage = page.getByRole('region', { name: 'Mapped fields by element' });
    await coverage.getByRole('columnheader', { name: 'Keap', exact: true }).waitFor();
    await coverage.getByRole('columnheader', { name: `Keap of the tests #${keap.id}` }).waitFor();
    expect(await coverage.getByText('mapped: family_name').count()).to.equal(3);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Try out' }).last().click();
    await page.getByRole('region', { name: 'Result' }).getByText('"familyName"').waitFor();
    await expectAccessible(page);
  });

  it('say what cannot be converted', async () => {
    const page = await open('/console/mappings/definitions/people/organization/keap');
    await page.getByLabel('Path of a new field').fill('count');
    await page.getByLabel('Type of a new field').selectOption('number');
    await page.getByLabel('Path of a new field').press('Enter');
    await pathOf(page, 'count').fill('family_name');
    await save(page);
    const other = await service.createInstance('keap', KEAP, { name: 'Another Keap' });
    await page.goto(`${service.app.url}/console/mappings/definitions/people/try?instance=${other.id}`);
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText("1 value of 'count' could not be converted").waitFor();
    await service.call(`/instances/${other.id}`, { method: 'DELETE' });
  });

  it('let a user change what the rights allow, and say why the rest is not allowed', async () => {
    const body = { email: 'grace@example.com', firstName: 'Grace', lastName: 'Hopper', roles: ['default-user'] };
    const { secret } = (await service.call('/organizations/users', { method: 'POST', body })).body;
    const page = await (await newContext()).newPage();
    const secrets = { userSecret: secret, organizationSecret: ORGANIZATION_SECRET };
    await logInToConsole(page, { origin: service.app.url, secrets });
    const go = (path: string) => page.goto(`${service.app.url}/console/mappings${path}`);
    await go('');
    await page.getByRole('link', { name: 'people', exact: true }).waitFor();
    const create = page.getByRole('button', { name: 'New definition…' });
    expect(await create.isDisabled()).to.equal(true);
    expect(await create.getAttribute('title')).to.include('createCommonObjects');
    await go('/definitions/people');
    await page.getByRole('button', { name: 'Remove mail', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Remove mail', exact: true }).isDisabled()).to.equal(true);
    await go('/definitions/people/organization/keap');
    const saving = page.getByRole('button', { name: 'Save the transformation' });
    await saving.waitFor();
    expect(await saving.isDisabled()).to.equal(true);
    await go(`/definitions/people/instance/${keap.id}`);
    await pathOf(page, 'firstName').fill('middle_name');
    await save(page);
    const { body: own } = await service.call(`/instances/${keap.id}/transformations/people`);
    expect(own.fields.find(({ path }: { path: string }) => path === 'firstName').vendorPath).to.equal('middle_name');
  });

  it('refuse to delete what is used, and delete the rest', async () => {
    const page = await open('/console/mappings/definitions/people');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the definition' }).click();
    await page.getByRole('alert').getByText(/keap/).first().waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Transformations' }).click();
    for (const name of [`Keap of the tests #${keap.id}`, 'Keap']) {
      await page.getByRole('button', { name: `Delete the transformation for ${name}…`, exact: true }).click();
      await page.getByRole('button', { name: 'Delete the transformation', exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByText('No element maps the definition yet.').waitFor();
    await page.getByRole('button', { name: 'Rename…' }).click();
    await page.getByLabel('New name').fill('persons');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('heading', { name: 'persons', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the definition' }).click();
    await page.getByText('There are no definitions yet.').waitFor();
  });

  it('take a definition of the catalogue over, with its transformations', async () => {
    const page = await open('/console/mappings/catalogue');
    await page.getByRole('button', { name: 'Take over contacts…' }).click();
    await expectAccessible(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Take over', exact: true }).click();
    await page.waitForURL('**/console/mappings/definitions/contacts');
    await page.getByRole('link', { name: 'Transformations' }).click();
    await page
      .getByRole('region', { name: 'Transformations' })
      .getByRole('link', { name: 'Keap', exact: true })
      .click();
    // Keap's object has the name too, so its own records cannot be read.
    await page.getByText('Only fields that are mapped or passed through are listed.').waitFor();
    await page.getByText('Paste one.').waitFor();
    await page.getByRole('textbox', { name: 'Record of the provider' }).fill('{ "given_name": "Ada" }');
    await page.getByRole('button', { name: 'Transform', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('"firstName": "Ada"').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await page.title()).to.equal('Causeway');
  });
});
