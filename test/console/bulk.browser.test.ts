import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Download, Page } from 'playwright-core';
import { BAMBOOHR, SHOP } from '../api/support/simulated.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const HOSTILE = '<img src=x onerror=document.title=1>';

describeInBrowser('the bulk jobs in a browser', () => {
  const { open, service } = useBrowser();
  let shop: { readonly id: number; readonly token: string };

  before(async () => {
    shop = await service.createInstance('odata', SHOP, { name: HOSTILE });
  });

  const state = (page: Page, text: string) => page.locator('h1 + .row .badge', { hasText: text });
  const simulate = (method: string, body?: object) =>
    fetch(`${service.app.simulatorsUrl}/odata/simulate/trouble`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  async function startDownload(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
    await page.getByRole('button', { name: 'Download records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download records' });
    await dialog.getByRole('combobox', { name: 'Object' }).selectOption('Products');
    for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label, { exact: true }).fill(text);
    await dialog.getByRole('button', { name: 'Start the download' }).click();
  }

  async function saved(page: Page, button: string): Promise<{ readonly name: string; readonly text: string }> {
    const [download]: [Download, unknown] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: button }).click(),
    ]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  }

  it('run to their end, and have a file with the rows', async () => {
    const page = await open('/console/bulk');
    await page.getByText('There are no bulk jobs yet.').waitFor();
    await startDownload(page, { Filter: 'Prcie > 20' });
    await page.getByRole('alert').getByText("Did you mean 'Price'?").first().waitFor();
    await page.keyboard.press('Escape');
    await startDownload(page, { Filter: 'Price > 20', Fields: 'Id,Name', 'File name': 'Größe <b>.csv' });
    await page.waitForURL(/\/console\/bulk\/\d+\?instance=/);
    await state(page, 'completed').waitFor();
    const query = { where: 'Price > 20', fields: 'Id,Name', pageSize: 5000 };
    const { body: rows } = await service.call('/Products', { token: shop.token, query });
    expect(rows).to.have.length.above(1);

    const csv = await saved(page, 'Save the file');
    expect(csv.text.trimEnd().split('\r\n')).to.have.length(rows.length + 1);
    expect(csv.name).to.match(/^Größe .*b.*\.csv$/);
    await page.getByRole('combobox', { name: 'Format of the file' }).selectOption('json');
    const json = await saved(page, 'Save the file');
    expect(JSON.parse(json.text)).to.deep.equal(rows);
    expect(json.name).to.match(/\.json$/);
  });

  it('begin on the only instance, even if the list of instances comes after the dialog', async () => {
    const page = await open('/console/apps');
    let answer = () => {};
    const opened = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const isList = (url: URL) => url.pathname.endsWith('/api-v2/instances');
    await page.route(isList, async (route) => {
      await opened;
      await route.continue();
    });
    await page.goto(`${service.app.url}/console/bulk`);
    await page.getByRole('button', { name: 'Download records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download records' });
    await dialog.waitFor();
    answer();
    await dialog.getByRole('combobox', { name: 'Object' }).selectOption('Products');
    await page.unroute(isList);
  });

  it('of all instances are listed, narrowed by instance and by state, and begun on any of them', async () => {
    const { id: other } = await service.createInstance('bamboohr', BAMBOOHR, { name: 'People' });
    const body = { objectName: 'Products', fields: 'Id' };
    await service.call('/bulk/query', { method: 'POST', token: shop.token, body });
    const page = await open('/console/bulk');
    const rows = page.getByRole('region', { name: 'Bulk jobs' }).locator('tbody tr');
    await rows.first().waitFor();
    const before = await rows.count();
    await page.getByRole('button', { name: 'Download records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download records' });
    expect(await dialog.getByRole('combobox', { name: 'Object' }).count()).to.equal(0);
    await dialog.getByLabel('Instance').selectOption(String(other));
    await dialog.getByRole('combobox', { name: 'Object' }).selectOption('employees');
    await dialog.getByLabel('Fields').fill('id');
    await dialog.getByRole('button', { name: 'Start the download' }).click();
    await state(page, 'completed').waitFor();

    await page.goto(`${service.app.url}/console/bulk`);
    await until(async () => (await rows.count()) === before + 1);
    await rows.first().getByText('People', { exact: true }).waitFor();
    expect(await rows.first().innerText()).to.match(/People\s+bamboohr/);
    expect(await rows.last().innerText()).to.include(HOSTILE);
    await page.getByLabel('Instance').selectOption(String(shop.id));
    await until(async () => (await rows.count()) === before);
    expect((await rows.allInnerTexts()).join()).not.to.include('People');
    await page.getByLabel('Instance').selectOption(String(other));
    await page.getByLabel('State').selectOption('completed');
    await until(async () => (await rows.count()) === 1);
    await page.getByLabel('State').selectOption('failed');
    await page.getByText('No bulk job matches. Change the filters.').waitFor();
    await service.call(`/instances/${other}`, { method: 'DELETE' });
  });

  it('complete the filter of a download as Explore does', async () => {
    const page = await open(`/console/bulk?instance=${shop.id}`);
    await page.getByRole('button', { name: 'Download records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Download records' });
    await dialog.getByRole('combobox', { name: 'Object' }).selectOption('Products');
    const filter = dialog.getByRole('textbox', { name: 'Filter' });
    await filter.click();
    await filter.pressSequentially('Pri');
    const option = dialog.getByRole('option', { name: /^Price/ }).first();
    await option.waitFor();
    // It closes the list, not the dialog.
    await page.keyboard.press('Escape');
    await option.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Space');
    await option.click();
    await filter.pressSequentially(' > 20');
    await page.keyboard.press('Escape');
    await dialog.getByLabel('Fields').fill('Id,Name');
    await filter.press('Enter');
    await state(page, 'completed').waitFor();
    const { body: rows } = await service.call('/Products', {
      token: shop.token,
      query: { where: 'Price > 20', pageSize: 5000 },
    });
    const csv = await saved(page, 'Save the file');
    expect(csv.text.trimEnd().split('\r\n')).to.have.length(rows.length + 1);
  });

  it('are seen on their way, and end when they are cancelled', async () => {
    await simulate('POST', { trouble: 'slow; ms=30000', times: 1, path: '/odata/v4/shop/Products' });
    const page = await open(`/console/bulk?instance=${shop.id}`);
    await startDownload(page, { 'Maximum number of rows': '7' });
    await page.getByRole('progressbar').waitFor();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await state(page, 'cancelled').waitFor();
    expect(await page.getByRole('progressbar').count()).to.equal(0);
    expect(await page.getByRole('button', { name: 'Save the file' }).count()).to.equal(0);
    await simulate('DELETE');

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete the job' }).click();
    await page.waitForURL(/\/console\/bulk\?instance=/);
    const left = page.getByRole('region', { name: 'Bulk jobs' });
    await left.waitFor();
    expect(await left.getByText('cancelled').count()).to.equal(0);
  });

  it('write the rows of a file, and give back those that failed', async () => {
    const page = await open(`/console/bulk?instance=${shop.id}`);
    await page.getByRole('button', { name: 'Upload records' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload records' });
    const rows = ['Id,Name,Price', `9001,${HOSTILE},1`, '9002,,2', '9003,Good,3'];
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'rows.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(rows.join('\n')),
    });
    await dialog.getByRole('combobox', { name: 'Object' }).selectOption('Products');
    await dialog.getByRole('button', { name: 'Start the upload' }).click();
    await state(page, 'completed').waitFor();
    const errors = page.getByRole('region', { name: 'Errors' }).locator('tbody tr');
    await errors.first().waitFor();
    expect(await errors.count()).to.equal(1);
    expect(await errors.locator('td').allTextContents()).to.deep.equal([
      '2',
      'failed',
      'REQUEST_INVALID',
      "'Name' is required.",
    ]);
    expect(await saved(page, 'Save the failed rows as a file')).to.deep.equal({
      name: `Products-${/bulk\/(\d+)/.exec(page.url())?.[1]}-failed.csv`,
      text: 'Id,Name,Price\n9002,,2\n',
    });
    expect((await saved(page, 'Save the outcomes')).text).to.include('9003');
    const { status, body } = await service.call('/Products/9003', { token: shop.token });
    expect([status, body.Name]).to.deep.equal([200, 'Good']);
  });

  it('show what is hostile in messages and names as text', async () => {
    const page = await open(`/console/bulk?instance=${shop.id}`);
    await startDownload(page, { Filter: `\`${HOSTILE}\` = 1` });
    await page
      .getByRole('alert')
      .getByText(/onerror/)
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await startDownload(page, { 'Maximum number of rows': '1', 'File name': `${HOSTILE}.csv` });
    await state(page, 'completed').waitFor();
    await page
      .getByText(/onerror/)
      .first()
      .waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    expect(await page.title()).to.equal('Causeway');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('have nothing that axe-core finds wrong', async () => {
    const page = await open(`/console/bulk?instance=${shop.id}`);
    await page.getByRole('button', { name: 'Download records' }).click();
    await page.getByRole('option', { name: 'Products' }).first().waitFor({ state: 'attached' });
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'upload' }).first().click();
    await page.getByRole('region', { name: 'Errors' }).waitFor();
    await expectAccessible(page);
  });

  it('say that one is not there', async () => {
    const page = await open(`/console/bulk/999?instance=${shop.id}`);
    await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
  });
});
