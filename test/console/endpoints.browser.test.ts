import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { QUICK, useReceiver } from '../api/events/receiving.ts';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { describeInBrowser, useBrowser, violationsOf } from './support/browser.ts';

const ENDPOINTS = '/console/events/endpoints';
const WON = "objectName = 'deals' AND object.stage = 'Won'";
const NAME = '<b>Won deals</b>';

describeInBrowser('the endpoints of the console in a browser', () => {
  const { service, open } = useBrowser({}, { engineOptions: QUICK });
  const receiver = useReceiver();

  const storedEndpoints = async () =>
    (await service.call('/notifications/subscriptions', { query: { where: 'endpoint = TRUE' } })).body;
  const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  const endOf = async (shown: Locator) => {
    const box = await shown.boundingBox();
    return box === null ? Number.NaN : box.y + box.height;
  };

  /** Sends a record in a test event, and reads the verdict of the filter. */
  async function sendTest(page: Page, object: object, verdict: string): Promise<void> {
    await press(page, 'Send a test event');
    const dialog = page.getByRole('dialog', { name: 'Send a test event' });
    await field(page, 'Type').fill('deals.updated');
    await field(page, 'Record').fill(JSON.stringify(object));
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByText(verdict).waitFor();
    await dialog.getByText('delivered', { exact: true }).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
  }

  it('are created, listed, tested, changed and deleted', async () => {
    await service.createInstance('bamboohr', BAMBOOHR);
    const url = receiver.open('won');
    const page = await open(ENDPOINTS);
    await page.getByText('There are no endpoints yet.').waitFor();
    await press(page, 'New endpoint…');
    await field(page, 'URL').fill(url);
    await field(page, 'Name').fill(NAME);
    await field(page, 'Event types').fill('deals.*, contacts.created');
    await field(page, 'Filter').fill(WON);
    await field(page, 'Headers').fill('X-Team: sales');
    expect(await violationsOf(page)).to.deep.equal([]);
    await press(page, 'Create');
    await page.getByRole('heading', { name: NAME }).waitFor();
    const [created] = await storedEndpoints();
    expect(created).to.deep.include({ name: NAME, eventTypes: ['deals.*', 'contacts.created'], where: WON });
    expect(new URL(page.url()).pathname).to.equal(`${ENDPOINTS}/${created.id}`);

    await sendTest(page, { id: '1', stage: 'Won' }, 'The filter accepts the event.');
    await sendTest(page, { id: '2', stage: 'Lost' }, 'The filter does not accept the event.');
    const [first] = await receiver.waitFor(url, 2);
    expect(first?.request.headers['x-team']).to.equal('sales');
    expect(first?.body.data.object).to.deep.equal({ id: '1', stage: 'Won' });
    const deliveries = page.getByRole('region', { name: 'Newest deliveries', exact: true });
    await deliveries.getByText('deals 2', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'All deliveries' }).click();
    await page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr').nth(1).waitFor();

    await page.getByRole('link', { name: 'Endpoints' }).click();
    const row = page.getByRole('region', { name: 'Endpoints' }).locator('tbody tr');
    await row.getByText(`deals.*, contacts.created where ${WON}`).waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
    await row.getByRole('link', { name: NAME }).click();
    await field(page, 'Name').fill('');
    await field(page, 'Filter').fill("object.stage = 'Lost'");
    await field(page, 'Deliveries per second').fill('0.5');
    await page.getByLabel('Store events for this endpoint').uncheck();
    await press(page, 'Save');
    await page.getByRole('heading', { name: url }).waitFor();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('region', { name: 'State' }).getByText('not active').waitFor();
    const [changed] = await storedEndpoints();
    expect(changed).to.deep.include({ where: "object.stage = 'Lost'", maxPerSecond: 0.5, active: false });
    expect(changed).not.to.have.property('name');
    expect(await violationsOf(page)).to.deep.equal([]);
    await field(page, 'Name').fill('x');
    await page.getByText('Saved.').waitFor({ state: 'detached' });

    await press(page, 'Delete…');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There are no endpoints yet.').waitFor();
    expect(await storedEndpoints()).to.deep.equal([]);
  });

  it('say what is wrong with a form, and keep what it has', async () => {
    const page = await open(ENDPOINTS);
    await press(page, 'New endpoint…');
    await field(page, 'URL').fill(receiver.open('wrong'));
    const refusals = [
      ['Filter', 'object.stage >', 'The filter cannot be read at position 14: Expected a value, found the end.'],
      ['Filter', "instance.id = 'x'", "'instance.id' is of type integer"],
      ['Deliveries per second', 'fast', "'fast' is not a number of deliveries per second, such as 10 or 0.5."],
      ['Ids of instances', '12, mine', "'mine' is not the id of an instance, such as 12."],
      ['Headers', 'X-Team', "'X-Team' is not a header, such as X-Team: sales."],
    ] as const;
    for (const [name, text, message] of refusals) {
      await field(page, name).fill(text);
      await press(page, 'Create');
      const alert = page.getByRole('alert').filter({ hasText: message });
      await alert.waitFor();
      expect(await endOf(alert), message).to.be.at.most(await endOf(page.getByRole('dialog')));
      expect(await field(page, name).inputValue()).to.equal(text);
      await field(page, name).fill('');
    }
    expect(await violationsOf(page)).to.deep.equal([]);
    expect(await storedEndpoints()).to.deep.equal([]);

    await field(page, 'Filter').fill("objectNam = 'deals'");
    await press(page, 'Create');
    await page
      .getByRole('list', { name: 'Warnings about the filter' })
      .getByText("Did you mean 'objectName'?")
      .waitFor();
    expect(await violationsOf(page)).to.deep.equal([]);
  });
});
