import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { runNow, untilRun } from '../polls/things.ts';
import { logInToConsole } from '../support/chromium.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const HOSTILE = '<img src=x onerror="document.title=1">';

describeInBrowser('the activity in a browser', () => {
  const { open, newContext, service } = useBrowser({}, { recorderOptions: { flushMs: 20 } });
  let instance: { readonly id: number; readonly token: string };

  before(async () => {
    instance = await service.createInstance('bamboohr', BAMBOOHR);
  });

  const call = async (path: string, more = {}): Promise<string> => {
    const { headers } = await service.call(path, { token: instance.token, ...more });
    const id = headers.get('elements-request-id') ?? '';
    await until(async () => (await service.call(`/activity/${id}`)).status === 200);
    return id;
  };
  const fail = (trouble: string, times: number) =>
    fetch(`${service.app.simulatorsUrl}/bamboohr/simulate/trouble`, {
      method: 'POST',
      body: JSON.stringify({ trouble, times, path: '/api/v1/employees/105' }),
    });
  const rowsOf = (page: Page) => page.getByRole('region', { name: 'Requests' }).locator('tbody tr');

  it('finds a call that failed, and shows its provider calls on a time axis', async () => {
    await call('/employees/105');
    await fail('cut', 3);
    const id = await call('/employees/105');
    const page = await open('/console/activity');
    await rowsOf(page).first().waitFor();
    await page.getByLabel('Only failures').check();
    await page.getByRole('combobox', { name: 'Instance', exact: true }).selectOption(String(instance.id));
    await page.waitForURL(/failures=1/);
    await page.waitForURL(/instance=/);
    await rowsOf(page).getByText('502').waitFor();
    // The list is read again for each of the two controls.
    await until(async () => (await rowsOf(page).count()) === 1);
    expect(await rowsOf(page).innerText()).to.include('PROVIDER_UNAVAILABLE');

    await rowsOf(page).getByRole('link').first().click();
    await page.waitForURL(`**/console/activity/${id}`);
    const waterfall = page.getByRole('list', { name: 'Waterfall of the request' });
    await waterfall.waitFor();
    expect(await waterfall.locator('li .bar').count()).to.equal(4);
    expect(await waterfall.innerText())
      .to.include('acme.bamboohr.com/api/v1/employees/105')
      .and.include('try 3');
    await page.getByText('The provider cannot be reached').waitFor();
    await page.getByText('The chart shows them one after the other').waitFor();
    const bars = await waterfall
      .locator('.bar')
      .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect()).map(({ left, right }) => ({ left, right })));
    const [whole, ...calls] = bars;
    for (const { left, right } of calls) {
      expect(left).to.be.at.least((whole?.left ?? 0) - 3);
      expect(right).to.be.at.most((whole?.right ?? 0) + 3);
    }
  });

  it('shows a poll that fails, with the calls of the provider and the reason', async () => {
    const polled = await service.createInstance('bamboohr', {
      ...BAMBOOHR,
      'event.notification.enabled': true,
      'event.notification.callback.url': 'http://127.0.0.1:9/nobody',
      'event.objects': 'employees',
      'event.poller.refresh_interval': 600,
    });
    await untilRun(service, polled.id, { resource: 'employees' });
    const simulator = `${service.app.simulatorsUrl}/bamboohr/simulate/trouble`;
    // The first check of the watched object may run now. It reads the fields, which polls share with it.
    const trouble = { trouble: 'shape', times: 1000, path: '/api/v1/employees/changed' };
    await fetch(simulator, { method: 'POST', body: JSON.stringify(trouble) });
    try {
      await runNow(service, polled.id, 'employees');
    } finally {
      await fetch(simulator, { method: 'DELETE' });
    }
    const query = { kind: 'poll', where: 'status >= 400' };
    await until(async () => (await service.call(`/instances/${polled.id}/activity`, { query })).body.length === 1);
    const page = await open(`/console/activity?instance=${polled.id}`);
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('poll');
    await page.waitForURL(/kind=poll/);
    const failed = rowsOf(page).filter({ hasText: 'PROVIDER_PROTOCOL' });
    await failed.first().waitFor();
    expect(await failed.innerText()).to.include(`POLL /instances/${polled.id}/polls/employees`);
    expect(await rowsOf(page).filter({ hasText: 'POST' }).count()).to.equal(0);
    await failed.getByRole('link').first().click();
    await page.getByRole('heading', { name: `/polls/employees` }).waitFor();
    await page.getByText(/Causeway does not understand the response of .* lacks /).waitFor();
    await page.getByRole('list', { name: 'Waterfall of the request' }).getByText('acme.bamboohr.com').first().waitFor();
    await expectAccessible(page);
  });

  it('leaves out what the console reads to show itself, until it is asked for', async () => {
    await call('/employees/105');
    const page = await open('/console/activity');
    const own = page.getByLabel("The console's own reads");
    await rowsOf(page).first().waitFor();
    expect(await rowsOf(page).getByText('GET /activity', { exact: true }).count()).to.equal(0);
    await own.check();
    await page.waitForURL(/console=1/);
    await rowsOf(page).getByText('GET /activity', { exact: true }).first().waitFor();
    await page.getByRole('searchbox', { name: 'Filter' }).fill("method = 'GET' AND path LIKE '%/instances'");
    await page.getByRole('button', { name: 'Refresh' }).click();
    await rowsOf(page).getByText('GET /instances', { exact: true }).first().waitFor();
    await own.uncheck();
    await page.getByText('No request matches the filter.').waitFor();

    await page.goto(`${service.app.url}/console/instances/${instance.id}/activity`);
    const rows = page.getByRole('region', { name: 'Activity' }).locator('tbody tr');
    await rows.getByText('/employees/105').first().waitFor();
    expect(await rows.getByText(`/instances/${instance.id}`, { exact: true }).count()).to.equal(0);
    await page.getByLabel("The console's own reads").check();
    await rows.getByText(`/instances/${instance.id}`, { exact: true }).first().waitFor();
  });

  it('makes a filter of the controls, which can be written on', async () => {
    await call('/employees/105');
    await call('/employees/106');
    const page = await open('/console/activity?element=bamboohr&status=2xx');
    await rowsOf(page).first().waitFor();
    await page.getByLabel('Path contains').fill('employees/106');
    await page.keyboard.press('Enter');
    await rowsOf(page).getByText('/employees/106').first().waitFor();
    await page.waitForURL(/path=employees/);
    expect(await rowsOf(page).getByText('/employees/105').count()).to.equal(0);
    const filter = page.getByRole('searchbox', { name: 'Filter' });
    const made = "elementKey = 'bamboohr' AND status >= 200 AND status < 300 AND path LIKE '%employees/106%'";
    expect(await filter.inputValue()).to.equal(made);

    await filter.fill("path LIKE '%employees/10_' AND method = 'GET'");
    await page.keyboard.press('Enter');
    await rowsOf(page).getByText('/employees/105').first().waitFor();
    expect(await page.getByLabel('Path contains').count()).to.equal(0);
    await filter.fill('statsu > 1');
    await page.getByRole('button', { name: 'Apply' }).click();
    const alert = page.getByRole('alert');
    await alert.getByText("Did you mean 'status'?").first().waitFor();
    expect(await alert.innerText()).to.include('WHERE_INVALID');
    await page.getByRole('button', { name: 'Use controls' }).click();
    await page.getByLabel('Path contains').waitFor();
    await rowsOf(page).first().waitFor();
  });

  it('goes through pages, and to the newest again by the button', async () => {
    await Promise.all(Array.from({ length: 55 }, () => service.call('/elements/keys')));
    await until(async () => {
      const query = { where: "path LIKE '%elements/keys'" };
      return (await service.call('/activity', { query })).body.length >= 55;
    });
    const page = await open('/console/activity?path=elements/keys');
    await rowsOf(page).nth(49).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await rowsOf(page).nth(49).waitFor({ state: 'detached' });
    await rowsOf(page).nth(4).waitFor();
    await page.getByRole('button', { name: 'Refresh' }).click();
    await rowsOf(page).nth(49).waitFor();
  });

  it('shows what the script of a mapping wrote and why it failed', async () => {
    const send = async (path: string, body: object, token?: string) => {
      const { status, body: said } = await service.call(path, { method: 'POST', body, token });
      expect(status, JSON.stringify(said)).to.equal(200);
    };
    await send('/organizations/objects/staff/definitions', { fields: [{ path: 'key', type: 'string' }] });
    const script = {
      body: `console.log('${HOSTILE}'); if (originalObject.id) throw 'it is wrong'; done(transformedObject);`,
    };
    const mapped = { vendorName: 'employees', fields: [{ path: 'key', vendorPath: 'id' }], script };
    await send('/instances/transformations/staff', mapped, instance.token);
    const id = await call('/staff/105');
    const page = await open(`/console/activity/${id}`);
    const notes = page.getByRole('region', { name: 'Scripts' });
    await notes.getByText('The script failed once.').waitFor();
    expect(await notes.innerText())
      .to.include('it is wrong')
      .and.include('record 105')
      .and.include(HOSTILE);
    await expectAccessible(page);
  });

  it('shows headers and bodies that were kept, and what is hostile in them as text', async () => {
    await service.call(`/instances/${instance.id}/trace-logging`, { method: 'PUT', query: { seconds: 600 } });
    const body = { firstName: HOSTILE, lastName: 'Doe' };
    const id = await call('/employees', { method: 'POST', body });
    const page = await open(`/console/activity/${id}`);
    await page.getByText('Headers and bodies').first().click();
    const sent = page.getByRole('region', { name: 'Sent' }).first();
    await sent.locator('pre').waitFor();
    expect(await sent.innerText())
      .to.include('onerror=')
      .and.include('[redacted]');
    await call(`/${encodeURIComponent(HOSTILE)}`);
    await page.goto(`${service.app.url}/console/activity?code=NOT_FOUND`);
    await rowsOf(page).getByText('onerror').first().waitFor();
    expect(await page.locator('img').count()).to.equal(0);
    expect(await page.title()).to.equal('Causeway');
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('has nothing that axe-core finds wrong', async () => {
    await service.call(`/instances/${instance.id}/trace-logging`, { method: 'DELETE' });
    const id = await call('/employees/nobody');
    const page = await open('/console/activity?failures=1');
    await rowsOf(page).first().waitFor();
    await expectAccessible(page);
    await page.goto(`${service.app.url}/console/activity/${id}`);
    await page.getByText('The chart shows them one after the other').waitFor();
    await expectAccessible(page);
  });

  it('says what it takes to those who may not see it', async () => {
    const body = { email: 'nobody@example.com', firstName: 'No', lastName: 'Body', roles: [] };
    const { secret } = (await service.call('/organizations/users', { method: 'POST', body })).body;
    const context = await newContext();
    const page = await context.newPage();
    const { app, organizationSecret } = service;
    await logInToConsole(page, { origin: app.url, secrets: { userSecret: secret, organizationSecret } });
    await page.goto(`${service.app.url}/console/activity`);
    await page.getByText('You may not see the activity of this account.').waitFor();
    await page.goto(`${service.app.url}/console/usage`);
    await page.getByText('You may not see the usage of this account.').waitFor();
    await context.close();
  });

  it('says that a request is not there, with a way to look again', async () => {
    const page = await open('/console/activity/00000000-0000-4000-8000-000000000000');
    await page.getByText('There is no activity of request').first().waitFor();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });
});
