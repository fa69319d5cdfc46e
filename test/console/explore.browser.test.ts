import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { describeInBrowser, logIn, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const SHOP = { 'base.url': 'https://demo.example.com/odata/v4/shop', simulator: true };
const XSS = '<img src=x onerror="document.title=1">';

/** Of a page that says no other. */
const PAGE_SIZE = 25;

interface Instance {
  readonly id: number;
  readonly token: string;
}

describeInBrowser('Explore', () => {
  const { service, open, newContext } = useBrowser();
  let shop: Instance;
  let people: Instance;

  before(async () => {
    shop = await service.createInstance('odata', SHOP, { name: 'Shop of the tests' });
    people = await service.createInstance(
      'bamboohr',
      { username: 'demo-key', 'company.name': 'acme', simulator: true },
      { name: 'People of the tests' },
    );
  });

  const products = (query: Readonly<Record<string, string>> = {}) =>
    open(`/console/explore/${shop.id}/Products?${new URLSearchParams(query)}`);
  const employees = (query: Readonly<Record<string, string>> = {}) =>
    open(`/console/explore/${people.id}/employees?${new URLSearchParams(query)}`);

  it('finds an instance and an object by typing parts of their names', async () => {
    const page = await open('/console/explore');
    const instance = page.getByRole('combobox', { name: 'Instance' });
    await instance.click();
    await page.getByRole('option', { name: 'People of the tests' }).waitFor();
    await instance.pressSequentially('shop');
    await page.getByRole('option', { name: 'People of the tests' }).waitFor({ state: 'detached' });
    await instance.press('Enter');
    const object = page.getByRole('combobox', { name: 'Object' });
    await object.click();
    await object.pressSequentially('prod');
    await page.getByRole('option', { name: 'Products' }).waitFor();
    await object.press('Enter');
    await page.waitForURL(`**/console/explore/${shop.id}/Products`);
    await page.getByRole('cell', { name: "O'Neil's guide" }).waitFor();
  });

  it('lists the instances there are, and offers to connect a first one only without any', async () => {
    const page = await open('/console/explore');
    const instances = page.getByRole('region', { name: 'Instances' });
    await instances.getByRole('link', { name: 'People of the tests' }).waitFor();
    expect(await page.getByText('Connect the first account').count()).to.equal(0);
    await page.getByRole('combobox', { name: 'Instance' }).fill('no instance has this name');
    await page.getByText('No instance matches. Change the search.').waitFor();
    await page.getByRole('combobox', { name: 'Instance' }).fill('');
    await instances.getByRole('link', { name: 'Shop of the tests' }).click();
    await page.waitForURL(new RegExp(`/console/explore/${shop.id}/\\w+$`));
  });

  for (const [name, from] of [
    ['Explore', ''],
    ['Show its records', '/activity'],
  ] as const)
    it(`shows records after a click on "${name}" of an instance`, async () => {
      const { id } = await service.createInstance('bamboohr', { ...BAMBOOHR }, { name: 'Nobody called it' });
      const page = await open('/console');
      // The request that created the instance is recorded within a second, so its activity is empty for a moment only.
      await page.route(`**/instances/${id}/activity?*`, (route) => route.fulfill({ json: [] }));
      await page.goto(`${service.app.url}/console/instances/${id}${from}`);
      await page.getByRole('main').getByRole('link', { name, exact: true }).click();
      await page.waitForURL(`**/console/explore/${id}/employees`);
      await page.getByRole('region', { name: 'Results' }).getByRole('cell').first().waitFor();
      expect(await page.getByRole('combobox', { name: 'Instance' }).inputValue()).to.equal('Nobody called it');
    });

  it('completes fields, operators with who answers them, known values and what follows', async () => {
    const page = await employees();
    await write(page, '');
    await page.keyboard.type('stat');
    await choose(page, 'status');
    await optionOf(page, '=').filter({ hasText: 'by the provider, exactly' }).waitFor();
    await optionOf(page, 'LIKE').filter({ hasText: 'by Causeway, row by row' }).waitFor();
    await page.keyboard.type('= ');
    await choose(page, "'Inactive'");
    await page.keyboard.type(' O');
    await choose(page, 'OR');
    expect(await textOf(page)).to.equal("status = 'Inactive' OR ");
  });

  it('underlines a misspelt field, and the suggestion mends it', async () => {
    const page = await products();
    await write(page, "Categor = 'Book'");
    await page.getByRole('status').getByText("Unknown field 'Categor'. Did you mean 'Category'?").waitFor();
    const mark = page.locator('.cm-lintRange-error');
    expect(await mark.textContent()).to.equal('Categor');
    await mark.hover();
    await page.getByRole('button', { name: 'Replace with Category' }).click();
    expect(await textOf(page)).to.equal("Category = 'Book'");
    await mark.waitFor({ state: 'detached' });
  });

  it('underlines a fault of the syntax at its place, and does not run it', async () => {
    const page = await products();
    await write(page, "Category == 'Book'");
    const mark = page.locator('.cm-lintRange-error');
    expect(await mark.textContent()).to.equal('==');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).search).to.equal('');
  });

  it('runs a filter by Enter, sorts by a click and pages, all of it in the address', async () => {
    const query = { where: "status = 'Active'", orderBy: 'lastName desc', pageSize: 2 * PAGE_SIZE };
    const { body: sorted } = await service.call('/employees', { token: people.token, query });
    const page = await employees();
    await write(page, query.where);
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('where') === query.where);
    await page.getByText('25 records of').waitFor();
    const title = page.getByRole('columnheader', { name: 'lastName' });
    await title.getByRole('button').click();
    await title.and(page.locator('[aria-sort=ascending]')).getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('orderBy') === query.orderBy);
    await title.and(page.locator('[aria-sort=descending]')).waitFor();
    await rowOf(page, sorted[0]).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await rowOf(page, sorted[PAGE_SIZE]).waitFor();
    await page.reload();
    await rowOf(page, sorted[0]).waitFor();
  });

  it('explains what the provider accepts and what is checked here, while the filter is written', async () => {
    const page = await employees();
    await write(page, "status = 'Active' AND jobTitle LIKE '%E%'");
    const explain = page.getByRole('complementary');
    await explain.getByText('pushdown: partial').waitFor();
    const parts = await explain.innerText();
    expect(parts).to.match(/The provider evaluates\s+status = 'Active'/);
    expect(parts).to.match(/Causeway checks\s+jobTitle LIKE '%E%'/);
    expect(parts).to.contain("the provider has no LIKE for 'jobTitle'");
    expect(parts).to.contain('"filter": "status eq \'Active\'"');
    expect(new URL(page.url()).search).to.equal('');
  });

  it('inserts a field by a click, and tells what it can be asked', async () => {
    const page = await products();
    await page.getByRole('button', { name: 'string: operators of Category' }).click();
    await page.getByText('Book, Music, Tool').waitFor();
    await page.getByRole('complementary').getByRole('button', { name: 'Category', exact: true }).click();
    expect(await textOf(page)).to.equal('Category');
  });

  it('asks for chosen columns only', async () => {
    const page = await products();
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Package.Store.City string' }).check();
    await page.getByRole('checkbox', { name: 'Id integer', exact: true }).check();
    await page.getByRole('button', { name: 'Show these columns' }).click();
    await page.waitForURL((url) => url.searchParams.get('fields') === 'Id,Package.Store.City');
    await page.getByRole('cell', { name: "L'Aquila" }).first().waitFor();
    expect(await page.getByRole('columnheader').count()).to.equal(3);
  });

  it('shows numbers with all their digits, and saves them so', async () => {
    const page = await products();
    await page.route('**/api-v2/Products?*', (route) =>
      route.fulfill({ contentType: 'application/json', body: '[{"Id":9007199254740993,"Name":"=1+1","Weight":null}]' }),
    );
    await page.reload();
    await page.getByRole('cell', { name: '9007199254740993' }).waitFor();
    await page.getByRole('cell', { name: 'null' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    expect(await readFile(await download.path(), 'utf8')).to.equal("Id,Name,Weight\r\n9007199254740993,'=1+1,\r\n");
    await page.unrouteAll();
  });

  it('copies a curl that asks for the same records', async () => {
    const where = "Name LIKE 'O''Neil%' AND Description != '$HOME `x` \"y\" \\'";
    const page = await products({ where, orderBy: 'Price desc', fields: 'Id,Name' });
    await page.getByRole('cell', { name: "O'Neil's guide" }).first().waitFor();
    await page.getByRole('button', { name: 'Copy as…' }).click();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy curl' }).click();
    const command: string = await page.evaluate('navigator.clipboard.readText()');
    const env = {
      ...process.env,
      CAUSEWAY_USER_SECRET: USER_SECRET,
      CAUSEWAY_ORGANIZATION_SECRET: ORGANIZATION_SECRET,
      CAUSEWAY_ELEMENT_TOKEN: shop.token,
    };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
    const { body } = await service.call('/Products', {
      token: shop.token,
      query: { where, orderBy: 'Price desc', fields: 'Id,Name', pageSize: '25' },
    });
    expect(JSON.parse(stdout)).to.deep.equal(body).and.not.deep.equal([]);
  });

  it('shows values that are code as text', async () => {
    const record = { Id: 77_001, Name: XSS, Package: { Unit: XSS } };
    const { status } = await service.call('/Products', { method: 'POST', token: shop.token, body: record });
    expect(status).to.equal(200);
    const page = await products({ where: 'Id = 77001' });
    await page.getByRole('cell', { name: XSS, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show record 1' }).click();
    await page.getByRole('dialog').getByText(XSS, { exact: true }).first().waitFor();
    expect(await page.title()).to.equal('Causeway');
    expect(await page.locator('main img').count()).to.equal(0);
  });

  it('shows what the service alone finds wrong, with code and request id', async () => {
    const page = await products({ orderBy: 'Nam' });
    await page.getByRole('alert').getByText("Unknown field 'Nam'.").waitFor();
    await page.getByRole('alert').getByText('WHERE_INVALID').waitFor();
  });

  it('has nothing that axe-core finds wrong, in light and dark', async () => {
    const context = await newContext();
    const page = await context.newPage();
    await logIn(page, service.app.url);
    await page.goto(`${service.app.url}/console/explore`);
    await page.getByRole('combobox', { name: 'Instance' }).click();
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    await expectAccessible(page);
    const query = new URLSearchParams({ where: "Category = 'Book' AND Name LIKE '%guide%' AND Price > 1" });
    await page.goto(`${service.app.url}/console/explore/${shop.id}/Products?${query}`);
    await page.getByText('pushdown: partial').first().waitFor();
    await page.getByRole('button', { name: 'string: operators of Name' }).click();
    await write(page, 'Name = 1 AND Pric');
    await page.locator('.cm-lintRange-error').first().waitFor();
    await expectAccessible(page);
    for (const button of ['Copy as…', 'Columns']) {
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
    }
    await context.close();
  });
});

/** In place of what stands there. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Filter' }).click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.press('Delete');
  await page.keyboard.type(text);
}

async function textOf(page: Page): Promise<string> {
  return page.getByRole('textbox', { name: 'Filter' }).locator('.cm-line').innerText();
}

const optionOf = (page: Page, label: string) =>
  page.getByRole('option').filter({ has: page.locator('.cm-completionLabel').getByText(label, { exact: true }) });

async function choose(page: Page, label: string): Promise<void> {
  await optionOf(page, label).click();
}

/** The first row, once it shows this record. */
function rowOf(page: Page, { id }: { readonly id: number }) {
  return page
    .locator('tbody tr')
    .first()
    .filter({ has: page.getByRole('cell', { name: String(id), exact: true }) });
}
