import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { ORGANIZATION_SECRET, USER_SECRET } from '../support/app.ts';
import { logInToConsole } from '../support/chromium.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const HOSTILE = '<img src=x onerror=document.title=1>';
/** A name in the code of dagre alone. */
const DAGRE = 'network-simplex';

describeInBrowser('the formulas of the console in a browser', () => {
  const { open, service, newContext } = useBrowser();
  let hr: { readonly id: number };

  before(async () => {
    hr = await service.createInstance('bamboohr', BAMBOOHR, { name: HOSTILE });
  });

  async function post(path: string, body: unknown) {
    const { status, body: answered } = await service.call(path, { method: 'POST', body });
    expect(status, `${path}: ${JSON.stringify(answered)}`).to.equal(200);
    return answered;
  }

  const box = (page: Page, name: string) =>
    page.locator('.box').filter({ has: page.locator('.name').filter({ hasText: new RegExp(`^${name}$`) }) });
  const sideDialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
  const focusedBox = (page: Page): Promise<unknown> =>
    page.evaluate('document.activeElement.querySelector(".name")?.textContent');

  /** A formula with a filter, a loop over employees, a script, and a step that nothing fails to. */
  async function makeFormula(name: string) {
    const formula = await post('/formulas', {
      name,
      configuration: [{ key: 'hr', name: HOSTILE, type: 'elementInstance', required: true }],
      triggers: [{ type: 'manual', onSuccess: ['wanted'] }],
      steps: [
        {
          name: 'wanted',
          type: 'filter',
          onSuccess: ['get'],
          onFailure: [],
          properties: { body: 'done(!trigger.args.stop);' },
        },
        {
          ...{ name: 'get', type: 'elementRequest', onSuccess: ['each'], onFailure: ['report'] },
          properties: {
            ...{ elementInstanceId: '${config.hr}', method: 'GET', api: '/employees', query: { pageSize: 2 } },
          },
        },
        {
          ...{ name: 'each', type: 'loop', onSuccess: ['build'], onFailure: [] },
          properties: { list: '${steps.get.response.body}' },
        },
        {
          ...{ name: 'build', type: 'script', onSuccess: ['each'], onFailure: ['report'] },
          properties: {
            body: "if (trigger.args.fail && steps.each.index === 1) throw('No such person');\ndone({ id: steps.each.entry.id });",
          },
        },
        { name: 'report', type: 'script', properties: { body: `done({ text: '${HOSTILE}' });` } },
      ],
    });
    const instance = await post(`/formulas/${formula.id}/instances`, { name: HOSTILE, configuration: { hr: hr.id } });
    return { formula, instance };
  }

  async function waitForEnd(instanceId: number, count: number) {
    const path = `/formulas/instances/${instanceId}/executions`;
    const list = async () => (await service.call(path)).body;
    await until(async () => {
      const rows = await list();
      return rows.length >= count && rows.every(({ status }: { readonly status: string }) => status !== 'pending');
    });
    return list();
  }

  it('make a formula with its variable, trigger and steps', async () => {
    const page = await open('/console/formulas');
    await page.getByText('There are no formulas yet.').waitFor();
    await page.getByRole('button', { name: 'New formula…' }).click();
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByRole('button', { name: 'Create the formula' }).click();
    await page.getByText('The formula has no trigger and no steps yet.').waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Variables' }).click();
    await page.getByRole('button', { name: 'Add a variable…' }).click();
    await page.getByLabel('Key').fill('hr');
    await page.getByRole('button', { name: 'Add the variable' }).click();
    await page.getByRole('cell', { name: 'hr', exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole('link', { name: 'Steps' }).click();
    await page.getByRole('button', { name: 'Add the trigger…' }).click();
    const trigger = sideDialog(page, 'Add the trigger');
    await trigger.getByLabel('Type').selectOption('Schedule');
    await trigger.getByLabel('Times *').fill('0/30 * * * * ?');
    await trigger.getByRole('button', { name: 'Add the trigger' }).click();
    await trigger.locator('.field .fault').getByText('every 30 seconds').waitFor();
    await trigger.getByLabel('Type').selectOption('Event');
    await trigger.getByRole('button', { name: '${config.hr}' }).click();
    await trigger.getByRole('button', { name: 'Add the trigger' }).click();
    await box(page, 'trigger').click();

    await sideDialog(page, 'trigger').getByRole('button', { name: 'Add a step after it' }).click();
    const step = sideDialog(page, 'Add a step');
    await step.getByText('It follows the trigger, on success.').waitFor();
    await step.getByLabel('Name').fill('get');
    await step.getByRole('button', { name: '${config.hr}' }).click();
    await step.getByLabel('Method').selectOption('GET');
    const api = step.getByRole('textbox', { name: 'Path *', exact: true });
    await api.pressSequentially('/employees/${objectI');
    await step.getByRole('option', { name: 'trigger.event.objectId' }).waitFor();
    await expectAccessible(page);
    await api.press('Enter');
    expect(await api.inputValue()).to.equal('/employees/${trigger.event.objectId}');
    await api.pressSequentially('${con');
    await step.getByRole('option', { name: 'config.hr' }).waitFor();
    await api.press('Escape');
    await step.getByRole('listbox').waitFor({ state: 'detached' });
    expect(await step.isVisible()).to.equal(true);
    for (let key = 0; key < 5; key++) await api.press('Backspace');
    await step.getByRole('button', { name: 'Add a step', exact: true }).click();
    await step.waitFor({ state: 'detached' });
    await box(page, 'get').waitFor();

    const { body: formulas } = await service.call('/formulas');
    const [{ triggers, steps }] = formulas;
    expect(triggers[0]).to.deep.include({ type: 'event', onSuccess: ['get'] });
    expect(triggers[0].properties).to.deep.equal({ elementInstanceId: '${config.hr}' });
    expect(steps[0].properties).to.deep.equal({
      ...{ elementInstanceId: '${config.hr}', method: 'GET', api: '/employees/${trigger.event.objectId}' },
    });
    expect(await page.title()).to.not.equal('1');
  });

  it('show the place of a fault in a script, complete there, and show findings at their place', async () => {
    const page = await open('/console/formulas');
    await page.getByRole('link', { name: HOSTILE }).click();
    await box(page, 'get').focus();
    await page.keyboard.press('Enter');
    await sideDialog(page, 'get').getByRole('button', { name: 'Add a step on failure' }).click();
    const step = sideDialog(page, 'Add a step');
    await step.getByLabel('Name').fill('build it');
    await step.getByLabel('Type').selectOption('Script');
    const script = step.getByRole('textbox', { name: 'JavaScript *' });
    await script.fill('const a = 1;\nconst b = = 2;');
    await step.getByRole('button', { name: 'Add a step', exact: true }).click();
    await step.locator('.field .fault').getByText('line 2, column 11').waitFor();
    await step.locator('.field .fault').getByRole('button', { name: 'Go there' }).click();
    expect(await script.evaluate((area) => Object(area).selectionStart)).to.equal(23);
    await expectAccessible(page);
    await script.fill('');
    await script.pressSequentially('done(steps.get.resp');
    await script.press('Tab');
    expect(await script.inputValue()).to.equal('done(steps.get.response.body');
    await script.pressSequentially(');');
    await step.getByLabel('Steps on success: add a step').selectOption('get');
    await step.getByRole('button', { name: 'Add a step', exact: true }).click();
    // That the step leads back to itself is a fault of the whole formula. The alert of the first attempt may still be there.
    await step.getByRole('alert').getByText('leads in a circle').waitFor();
    await step.getByRole('button', { name: 'Remove get from Steps on success' }).click();
    await step.getByRole('button', { name: 'Add a step', exact: true }).click();
    await step.waitFor({ state: 'detached' });
    await box(page, 'build it').waitFor();

    await page.getByRole('link', { name: 'Variables' }).click();
    await page.getByRole('button', { name: 'Delete hr…' }).click();
    await page.getByRole('button', { name: 'Delete the variable' }).click();
    await page.getByText('The formula has no variables yet.').waitFor();
    await page.getByRole('link', { name: 'Steps' }).click();
    await page.getByText('Executions fail: 2 errors').click();
    await box(page, 'get').getByText('! 1').waitFor();
    await box(page, 'get').click();
    await sideDialog(page, 'get').locator('.field .fault').getByText('${config.hr} names no variable').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'List' }).click();
    const list = page.getByRole('list', { name: 'Trigger and steps' });
    await list.getByRole('button', { name: 'build it' }).first().click();
    await sideDialog(page, 'build it').getByLabel('Description').fill('Not saved');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(await sideDialog(page, 'build it').getByLabel('Description').inputValue()).to.equal('Not saved');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard the changes' }).click();
    await sideDialog(page, 'build it').waitFor({ state: 'detached' });
    await list.getByRole('listitem').filter({ hasText: 'get' }).getByText('1 finding').first().waitFor();
    await expectAccessible(page);
  });

  it('move the focus along the arrows, zoom, and open a box by Enter', async () => {
    const { formula } = await makeFormula('Keys');
    const page = await open(`/console/formulas/${formula.id}`);
    await box(page, 'trigger').focus();
    const way = [];
    for (const key of [
      'ArrowDown',
      'ArrowDown',
      'ArrowRight',
      'ArrowUp',
      'ArrowDown',
      'ArrowDown',
      'ArrowDown',
      'Home',
    ]) {
      await page.keyboard.press(key);
      way.push(await focusedBox(page));
    }
    expect(way).to.deep.equal(['wanted', 'get', 'report', 'get', 'each', 'build', 'each', 'trigger']);
    expect(await page.locator('.box[tabindex="0"]').count()).to.equal(1);
    const width = () => page.locator('.flow > svg').evaluate((svg) => Number(svg.getAttribute('width')));
    const before = await width();
    await page.keyboard.press('+');
    expect(await width()).to.be.above(before);
    await page.getByRole('button', { name: 'Fit' }).click();
    expect(await width()).to.equal(before);
    await box(page, 'wanted').focus();
    await page.keyboard.press('Enter');
    await sideDialog(page, 'wanted').waitFor();
    await page.keyboard.press('Escape');
    await sideDialog(page, 'wanted').waitFor({ state: 'detached' });
    expect(await focusedBox(page)).to.equal('wanted');
    // Failure is told from success by the line and the head, too.
    const dashes = (way: string) =>
      page
        .locator(`.flow .arrow.${way}`)
        .first()
        .evaluate((path) => String(Object(globalThis).getComputedStyle(path).strokeDasharray));
    expect([await dashes('success'), await dashes('failure')]).to.deep.equal(['none', '6px, 4px']);
  });

  it('make an instance with a picked account, change its settings, and switch it off and on', async () => {
    const { formula } = await makeFormula('Instances');
    const page = await open(`/console/formulas/${formula.id}/instances`);
    await page.getByRole('button', { name: 'New instance…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Picked');
    await dialog.getByLabel(HOSTILE).selectOption(String(hr.id));
    await dialog.getByText('Settings').click();
    await dialog.getByLabel('As a resource').fill('nonsense');
    await dialog.getByRole('button', { name: 'Create the instance' }).click();
    await dialog.locator('.field .fault').waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('As a resource').fill('');
    await dialog.getByLabel('Mail about failures to').fill('ops@example.com');
    await dialog.getByRole('button', { name: 'Create the instance' }).click();
    await page.getByRole('heading', { name: 'Picked' }).waitFor();
    await page.getByText('There are no executions yet.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Change…' }).click();
    await dialog.getByLabel('Mail about failures to').fill('');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Run…' }).click();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('alert').getByText('not active').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    const { body } = await service.call('/formulas/instances?searchText=Picked');
    expect(body[0]).to.deep.include({ settings: {}, configuration: { hr: String(hr.id) }, active: true });
  });

  it('run an instance, light the path up, show values, and run again from a step', async () => {
    const { instance } = await makeFormula('Runs');
    const page = await open(`/console/formulas/instances/${instance.id}`);
    await page.getByRole('button', { name: 'Run…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Input as JSON').fill('{ "fail": tru }');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('alert').getByText('not JSON').waitFor();
    await dialog.getByLabel('Input as JSON').fill('{ "fail": true }');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('heading', { name: /Execution #\d+ failed/ }).waitFor();
    await box(page, 'build').getByText('✗ ×2').waitFor();
    await box(page, 'report').getByText('✓').waitFor();
    const lit = await page.locator('.flow .taken .arrow').count();
    // trigger, wanted, get, each, build, each, report
    expect(lit).to.equal(6);
    await expectAccessible(page);

    await box(page, 'build').click();
    const values = sideDialog(page, 'Values of build');
    await values.getByText('Run 2 of 2').waitFor();
    await values.getByText('No such person').waitFor();
    await values.getByRole('button', { name: 'Previous run' }).click();
    await values.getByText('build.id').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('listitem').getByRole('button', { name: 'report' }).click();
    await sideDialog(page, 'Values of report').getByText(HOSTILE).waitFor();
    expect(await page.title()).to.not.equal('1');
    await page.keyboard.press('Escape');

    await box(page, 'get').click();
    await sideDialog(page, 'Values of get').getByRole('button', { name: 'Run again from here' }).click();
    await page.waitForURL((url) => !url.search.includes('step'));
    const [again] = await waitForEnd(instance.id, 2);
    await page.getByRole('heading', { name: `Execution #${again.id} failed` }).waitFor();
    await page.getByRole('button', { name: 'List' }).click();
    await page.getByRole('list', { name: 'Trigger and steps' }).getByText('failed, 2 runs').waitFor();
    await expectAccessible(page);
  });

  it('filter executions by status, follow a running one, and cancel it', async () => {
    const { formula, instance } = await makeFormula('Waits');
    await post(`/formulas/instances/${instance.id}/executions`, { stop: true });
    await waitForEnd(instance.id, 1);
    const get = formula.steps.find(({ name }: { readonly name: string }) => name === 'get');
    const properties = {
      ...get.properties,
      ...{ api: '/employees/nobody', retry: true, retryDelay: 60_000, retryStatusCodes: '400-499' },
    };
    await service.call(`/formulas/${formula.id}/steps/${get.id}`, { method: 'PUT', body: { ...get, properties } });
    const [{ id }] = await post(`/formulas/instances/${instance.id}/executions`, {});
    const page = await open(`/console/formulas/executions/${id}`);
    await page.getByRole('heading', { name: `Execution #${id} pending` }).waitFor();
    await box(page, 'get').getByText('…').waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('heading', { name: `Execution #${id} cancelled` }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: `← ${HOSTILE}` }).click();
    const rows = page.getByRole('region', { name: 'Executions of the instance' }).locator('tbody tr');
    await rows.nth(1).waitFor();
    await page.getByLabel('Status').selectOption('Cancelled');
    await until(async () => (await rows.count()) === 1);
    expect(await rows.first().innerText()).to.include(`#${id}`);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No execution has this status.').waitFor();
  });

  it('show the warnings of an instance, run several events at once, and forget a planned retry', async () => {
    const formula = await post('/formulas', {
      name: 'Later',
      configuration: [{ key: 'hr', type: 'elementInstance', required: true }],
      triggers: [{ type: 'event', onSuccess: ['later'], properties: { elementInstanceId: '${config.hr}' } }],
      steps: [{ name: 'later', type: 'retryFormulaExecution', properties: { retryAttempts: '2' } }],
    });
    const values = { name: 'Later', configuration: { hr: hr.id } };
    const { id, warnings } = await post(`/formulas/${formula.id}/instances`, values);
    const page = await open(`/console/formulas/instances/${id}`);
    await page.getByRole('status').getByText(warnings[0]).waitFor();
    await page.getByRole('button', { name: 'Run…' }).click();
    const input = page.getByLabel('Input as JSON');
    const { message } = JSON.parse(await input.inputValue());
    const events = [...message.events, { ...message.events[0], objectId: '2' }];
    await input.fill(JSON.stringify({ message: { ...message, events } }));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const rows = page.getByRole('region', { name: 'Executions of the instance' }).locator('tbody tr');
    await rows.nth(1).waitFor();
    await until(async () => (await rows.getByText('retry', { exact: true }).count()) === 2);
    await expectAccessible(page);
    await rows.first().getByRole('link').click();
    await page.getByRole('heading', { name: /retry$/ }).waitFor();
    await page.getByRole('button', { name: 'Cancel the planned retry' }).click();
    await page.getByRole('heading', { name: /cancelled$/ }).waitFor();
  });

  it('import a formula, export it, and delete it', async () => {
    const page = await open('/console/formulas');
    await page.getByRole('button', { name: 'Import…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import a formula' });
    await dialog.getByLabel('JSON').fill('{ "name": ');
    await dialog.getByRole('button', { name: 'Import the formula' }).click();
    await dialog.getByRole('alert').getByText('not JSON').waitFor();
    const file = {
      ...{ name: `Imported ${HOSTILE}`, triggers: [{ type: 'manual', onSuccess: ['a'] }] },
      steps: [{ name: 'a', type: 'script', properties: { body: 'done({});', mimeType: 'application/javascript' } }],
    };
    await dialog
      .getByLabel('File')
      .setInputFiles({ name: 'f.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(file)) });
    await dialog.getByRole('button', { name: 'Import the formula' }).click();
    await page.getByRole('heading', { name: `Imported ${HOSTILE}` }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    const exported = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
    expect(exported).to.deep.include({ name: file.name, active: true });
    expect(exported.steps[0].properties).to.deep.equal(file.steps[0]?.properties);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the formula' }).click();
    await page.waitForURL('**/console/formulas');
    await page.getByRole('region', { name: 'Formulas' }).waitFor();
    expect(await page.getByRole('link', { name: `Imported ${HOSTILE}` }).count()).to.equal(0);
  });

  it('let a user without privileges look, and say why nothing can be changed', async () => {
    const { instance } = await makeFormula('Read only');
    const user = { email: 'reader@example.com', firstName: 'Ada', lastName: 'Reader', roles: ['default-user'] };
    const { secret } = await post('/organizations/users', user);
    const page = await (await newContext()).newPage();
    const secrets = { userSecret: secret, organizationSecret: ORGANIZATION_SECRET };
    await logInToConsole(page, { origin: service.app.url, secrets });
    const isRefused = async (name: string, privilege: string) => {
      const button = page.getByRole('button', { name, exact: true });
      await button.waitFor();
      expect(await button.isDisabled(), name).to.equal(true);
      expect(await button.getAttribute('title'), name).to.include(privilege);
    };
    await page.goto(`${service.app.url}/console/formulas`);
    await isRefused('New formula…', 'createFormulas');
    await isRefused('Import…', 'createFormulas');
    await page.getByRole('link', { name: 'Read only' }).click();
    await isRefused('Deactivate', 'editFormulas');
    await isRefused('Delete…', 'deleteFormulas');
    await box(page, 'get').click();
    await isRefused('Save', 'editFormulas');
    expect(await page.getByLabel('Path *').isDisabled()).to.equal(true);
    await expectAccessible(page);
    await page.goto(`${service.app.url}/console/formulas/instances/${instance.id}`);
    const run = page.getByRole('button', { name: 'Run…' });
    await run.waitFor();
    expect(await run.isEnabled()).to.equal(true);
  });

  it('load the algorithm of the graph only when a graph is shown', async () => {
    const { formula } = await makeFormula('Load');
    const page = await (await newContext()).newPage();
    const urls = new Set<string>();
    page.on('request', (request) => {
      if (request.url().includes('/console/assets/')) urls.add(request.url());
    });
    const hasDagre = async () => {
      const texts = await Promise.all([...urls].map(async (url) => (await fetch(url)).text()));
      return texts.some((text) => text.includes(DAGRE));
    };
    const secrets = { userSecret: USER_SECRET, organizationSecret: ORGANIZATION_SECRET };
    await logInToConsole(page, { origin: service.app.url, secrets });
    await page.goto(`${service.app.url}/console/formulas`);
    await page.getByRole('link', { name: 'Load', exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await hasDagre()).to.equal(false);
    await page.goto(`${service.app.url}/console/formulas/${formula.id}`);
    await box(page, 'trigger').waitFor();
    expect(await hasDagre()).to.equal(true);
  });
});
