import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const LONG = 'A name that goes on and on, '.repeat(9).slice(0, 250);

describeInBrowser('the instances of the console in a browser', () => {
  const { open, service } = useBrowser();
  const bamboo = { username: 'demo-key', 'company.name': 'acme', simulator: true };

  const head = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

  it('connects the first account with the simulator in three clicks', async () => {
    const page = await open('/console/instances');
    await page.getByRole('link', { name: 'Connect the first account' }).click();
    await page.getByRole('link', { name: /^BambooHR/ }).click();
    await page.getByLabel('Use the simulator').click();
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.waitForURL(/\/console\/instances\/\d+$/);
    await head(page, 'BambooHR').getByText('valid').waitFor();
    expect(await page.getByText('acme', { exact: true }).isVisible()).to.equal(true);
  });

  it('checks patterns while somebody types, and what is missing before it asks', async () => {
    const page = await open('/console/instances/new/bamboohr');
    await page.getByLabel('Company name').fill('no blanks');
    await page.getByText('Enter a value such as acme').waitFor();
    await page.getByLabel('Company name').fill('acme');
    expect(await page.getByText('Enter a value such as acme').count()).to.equal(0);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('Fill in this field.').waitFor();
    await page.locator('[aria-invalid=true]:focus').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('shows the words of a provider that refuses credentials, and the secret when it is asked for', async () => {
    const page = await open('/console/instances/new/bamboohr');
    await page.getByLabel('Use the simulator').click();
    const secret = page.getByRole('textbox', { name: 'API key', exact: true });
    await secret.fill('wrong-key');
    expect(await secret.getAttribute('type')).to.equal('password');
    await page.getByRole('button', { name: 'Show API key' }).click();
    expect(await secret.getAttribute('type')).to.equal('text');
    await page.getByRole('button', { name: 'Connect' }).click();
    const note = page.getByRole('alert').filter({ hasText: 'PROVIDER_CREDENTIALS_INVALID' });
    await note.getByText('Invalid API key').waitFor();
  });

  it('puts what the API finds wrong at its field', async () => {
    const page = await open('/console/instances/new/bamboohr');
    await page.getByLabel('Use the simulator').click();
    await page.locator('summary', { hasText: 'Events' }).click();
    await page.getByLabel('Event notification enabled').check();
    const field = page.getByRole('textbox', { name: /^Event notification callback URL/ });
    // A form cannot know that the service accepts no user name in it.
    await field.fill('https://someone@app.example.com/events');
    await page.getByRole('button', { name: 'Connect' }).click();
    await field.and(page.locator('[aria-invalid=true]')).waitFor();
    await field.fill('https://app.example.com/events');
    await field.and(page.locator('[aria-invalid=false]')).waitFor();
  });

  it('shows the last call, the last error and the owner, and orders by a column, as the address says', async () => {
    const called = await service.createInstance('bamboohr', bamboo, { name: 'aaa called' });
    await service.createInstance('bamboohr', bamboo, { name: 'zzz not called' });
    const failed = await service.call('/employees?where=nosuch%20%3D%201', { token: called.token });
    await until(async () => (await service.call(`/instances/${called.id}`)).body.lastError !== undefined);
    const page = await open('/console/instances');
    const rows = page.getByRole('region', { name: 'Instances' }).locator('tbody tr');
    const title = (name: string) => page.getByRole('columnheader', { name });
    const inOrder = (name: string) => rows.first().getByRole('link', { name, exact: true }).waitFor();
    await title('Name').getByRole('button').click();
    await page.waitForURL('**/instances?orderBy=name+asc');
    await inOrder('aaa called');
    await title('Name').getByRole('button').click();
    await title('Name').and(page.locator('[aria-sort=descending]')).waitFor();
    await inOrder('zzz not called');
    await title('Last error').getByRole('button').click();
    await inOrder('aaa called');
    await page.reload();
    await inOrder('aaa called');
    await rows.first().getByRole('cell', { name: 'admin@localhost' }).waitFor();
    await rows.first().getByRole('link', { name: '400 WHERE_INVALID' }).click();
    await page.waitForURL(`**/console/activity/${failed.headers.get('elements-request-id')}`);
    await page.goto(`${service.app.url}/console/instances/${called.id}`);
    await page.getByRole('link', { name: '400 WHERE_INVALID' }).waitFor();
    await page.getByText('admin@localhost').last().waitFor();
    for (const { id } of (await service.call('/instances?searchText=called')).body)
      await service.call(`/instances/${id}`, { method: 'DELETE' });
  });

  it('finds instances by name, tag and state, as the address says', async () => {
    await service.createInstance('bamboohr', bamboo, { name: HOSTILE, tags: ['shop', HOSTILE] });
    const other = await service.createInstance('bamboohr', bamboo, { name: LONG, tags: ['emea'] });
    await service.call(`/instances/${other.id}/enabled`, { method: 'DELETE' });
    const page = await open('/console/instances');
    const rows = page.getByRole('region', { name: 'Instances' }).locator('tbody tr');
    await page.getByLabel('Search instances').fill('onerror');
    await page.waitForURL('**/instances?q=onerror');
    await rows.filter({ hasText: LONG }).waitFor({ state: 'detached' });
    await rows.getByRole('link', { name: HOSTILE, exact: true }).waitFor();
    expect(await rows.count()).to.equal(1);
    await page.getByLabel('Search instances').fill('');
    await page.waitForURL('**/instances');
    await rows.filter({ hasText: LONG }).getByRole('button', { name: 'emea' }).click();
    await page.waitForURL('**/instances?tag=emea');
    await rows.getByText('disabled').waitFor();
    await page.getByLabel('State').selectOption('Valid');
    await page.getByText('No instance matches the filters.').waitFor();
    await page.reload();
    await page.getByText('No instance matches the filters.').waitFor();
    expect(await page.getByLabel('State').inputValue()).to.equal('valid');
    await page.getByRole('link', { name: 'Show all' }).click();
    await rows.filter({ hasText: LONG }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('disables an instance, says so, and enables it', async () => {
    const { id } = await service.createInstance('bamboohr', bamboo, { name: 'Switched' });
    const page = await open(`/console/instances/${id}`);
    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByText('Calls on the instance return 403').waitFor();
    await page.getByRole('button', { name: 'Disable the instance' }).click();
    await head(page, 'Switched').getByText('disabled').waitFor();
    expect((await service.call(`/instances/${id}`)).body.disabled).to.equal(true);
    await page.getByRole('button', { name: 'Enable' }).click();
    await head(page, 'Switched').getByText('valid').waitFor();
  });

  it('is edited, keeps its secrets, and is traced', async () => {
    const { id } = await service.createInstance('bamboohr', bamboo, { name: 'Old name' });
    const page = await open(`/console/instances/${id}/settings`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('New name');
    await page.getByRole('textbox', { name: /^Tags/ }).fill(' a , b,a');
    await page.getByRole('button', { name: 'Save' }).click();
    await head(page, 'New name').waitFor();
    const { body } = await service.call(`/instances/${id}`);
    expect([body.tags, body.valid]).to.deep.equal([['a', 'b'], true]);
    await page.getByRole('button', { name: 'Trace…' }).click();
    await page.getByLabel('Duration').selectOption('an hour');
    await page.getByRole('button', { name: 'Trace', exact: true }).click();
    await head(page, 'New name').getByText('traced').waitFor();
    await page.getByRole('button', { name: 'Stop tracing' }).click();
    await page.getByRole('button', { name: 'Trace…' }).waitFor();
  });

  it('shows the token when it is asked for', async () => {
    const { id, token } = await service.createInstance('bamboohr', bamboo, { name: 'Token' });
    const page = await open(`/console/instances/${id}`);
    await head(page, 'Token').waitFor();
    expect(await page.getByText(token).count()).to.equal(0);
    await page.getByRole('button', { name: 'Show the token' }).click();
    await page.getByText(token).waitFor();
  });

  it('shows what is polled, runs it and replays it; its events and its activity', async () => {
    const events = { 'event.notification.enabled': true, 'event.notification.callback.url': 'http://127.0.0.1:9/hook' };
    const { id } = await service.createInstance(
      'bamboohr',
      { ...bamboo, ...events, 'event.vendor.type': 'polling' },
      { name: 'Polled' },
    );
    const page = await open(`/console/instances/${id}/pollers`);
    await page.getByRole('button', { name: 'Run now: employees' }).click();
    await page.getByRole('button', { name: 'Replay… employees' }).click();
    await page.getByLabel(/^From/).fill('2020-01-01T00:00');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.getByRole('link', { name: 'Activity' }).nth(1).click();
    await page.getByRole('region', { name: 'Activity' }).getByText('/polls/employees/replay').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await service.call('/events/test', { method: 'POST', body: { instanceId: id, data: { name: HOSTILE } } });
    await page.getByRole('navigation', { name: 'Parts of the instance' }).getByRole('link', { name: 'Events' }).click();
    await page.getByRole('region', { name: 'Events' }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });

  it('is deleted after it is said what will happen', async () => {
    const { id, token } = await service.createInstance('bamboohr', bamboo, { name: 'Unwanted' });
    const page = await open(`/console/instances/${id}`);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByText('The service deletes its bulk jobs and their files.').waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the instance' }).click();
    await page.waitForURL('**/console/instances');
    expect((await service.call('/employees', { token })).status).to.equal(401);
  });

  it('has nothing that axe-core finds wrong, in light and dark', async () => {
    const { id } = await service.createInstance('bamboohr', bamboo, { name: LONG, tags: ['a'] });
    for (const [path, seen] of [
      ['/console/instances', 'Connect an account'],
      ['/console/instances/new', 'Employees, their files and their time off.'],
      ['/console/instances/new/salesforce', 'Use the simulator'],
      [`/console/instances/${id}`, 'acme'],
      [`/console/instances/${id}/settings`, 'Use the simulator'],
    ] as const) {
      const page = await open(path);
      await page.getByText(seen).first().waitFor();
      await expectAccessible(page);
    }
  });
});
