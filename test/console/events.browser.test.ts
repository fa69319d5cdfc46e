import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { SCHEDULES } from '../../src/events/push/schedule.ts';
import {
  createSource,
  findSubscription,
  QUICK,
  sendEvent,
  setPolicy,
  useReceiver,
  verify,
  waitForDeliveries,
} from '../api/events/receiving.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, logIn, useBrowser } from './support/browser.ts';
import { expectAccessible } from './support/themes.ts';

const EVENTS = '/console/events';
const HOSTILE = '<script>document.title = "taken"</script><img src=x onerror="document.title=1">';
const RETRY_COUNT = 'notification.webhook.retry.count';
/** With 5 retries all are over in a moment; with 9 they are those of the contract. */
const SCHEDULES_OF_TESTS = { 5: QUICK.schedules?.[5] ?? SCHEDULES[5], 9: SCHEDULES[9] };

describeInBrowser('the events in the console', () => {
  const { service, open, newContext } = useBrowser({}, { engineOptions: { ...QUICK, schedules: SCHEDULES_OF_TESTS } });
  const receiver = useReceiver();

  async function openSubscription(url: string): Promise<Page> {
    const { id } = await findSubscription(service, url);
    return open(`${EVENTS}/subscriptions/${id}`);
  }

  /** An instance whose events go to a URL of its own, and one event that came there. */
  async function createDelivered(name: string, data: object = {}) {
    const url = receiver.open(name);
    const { id: instanceId } = await createSource(service, url, {});
    await sendEvent(service, instanceId, data);
    const [delivery] = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1);
    return { url, instanceId, delivery };
  }

  const stateOf = (page: Page, text: string) => page.getByRole('region', { name: 'State' }).getByText(text);
  const newest = (page: Page) => page.getByRole('region', { name: 'Newest deliveries', exact: true });
  const release = async (page: Page) => {
    await page.getByRole('button', { name: 'Resume and release…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
  };

  it('say how to begin where nothing was sent yet', async () => {
    const page = await open(EVENTS);
    await page.getByText('There are no deliveries yet.').waitFor();
    await page.getByRole('link', { name: 'Subscriptions' }).click();
    await page.getByText('There are no subscriptions yet.').waitFor();
    await page.getByRole('link', { name: 'Operational' }).click();
    await page.getByText('There are no operational events.').waitFor();
  });

  it('show a failing receiver deactivated, released and served, as it happens', async () => {
    const { url } = await createDelivered('failing');
    receiver.fail(url);
    const page = await openSubscription(url);
    await stateOf(page, 'active').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').getByText('queued').waitFor();
    await page.keyboard.press('Escape');

    await stateOf(page, 'deactivated').waitFor();
    await stateOf(page, 'The receiver returned 503').waitFor();
    await newest(page).getByText('queued').waitFor();
    receiver.recover(url);
    await release(page);
    await stateOf(page, 'active').waitFor();
    await newest(page).getByText('delivered').nth(1).waitFor();
    expect(receiver.at(url).at(-1)?.body.data.object).to.deep.equal({ note: 'Does this arrive?' });

    await page.getByRole('link', { name: 'Operational' }).click();
    await page.getByText('subscription.reactivated').waitFor();
    await page.getByText('subscription.deactivated').waitFor();
  });

  it('come in by themselves, marked, and wait while somebody reads', async () => {
    const { instanceId } = await createDelivered('live');
    const page = await open(`${EVENTS}/live?instance=${instanceId}`);
    const rows = page.getByRole('region', { name: 'Newest deliveries' }).locator('tbody tr');
    await rows.first().waitFor();
    expect(await rows.count()).to.equal(1);
    await sendEvent(service, instanceId);
    await rows.nth(1).waitFor();
    expect(await rows.first().getAttribute('class')).to.equal('fresh');
    expect(await rows.nth(1).getAttribute('class')).to.equal(null);

    await rows.first().hover();
    await sendEvent(service, instanceId);
    await page.getByText('· 1 new').waitFor();
    expect(await rows.count()).to.equal(2);
    await page.getByRole('button', { name: 'Show them' }).click();
    await rows.nth(2).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused').waitFor();
  });

  it('show payloads and answers as text, with all digits of numbers', async () => {
    const url = receiver.open('hostile');
    const { id: instanceId } = await createSource(service, url);
    receiver.server.answer('/hostile', (response) => response.writeHead(200).end(HOSTILE));
    await service.call('/events/test', {
      method: 'POST',
      body: `{"instanceId":${instanceId},"data":{"html":${JSON.stringify(HOSTILE)},"number":12345678901234567890}}`,
      headers: { 'content-type': 'application/json' },
    });
    const [{ id }] = await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 1);
    const page = await open(`${EVENTS}/deliveries/${id}`);
    const panel = page.getByRole('dialog', { name: `Delivery ${id}` });
    await panel.getByText('12345678901234567890').waitFor();
    expect(await panel.locator('pre').last().textContent()).to.include(JSON.stringify(HOSTILE));
    await panel.getByText(`${HOSTILE.length} characters`).click();
    await panel.getByText(HOSTILE, { exact: true }).waitFor();
    expect(await panel.locator('script, img').count()).to.equal(0);
    expect(await page.title()).to.equal('Causeway');
  });

  it('are sent again one by one, and by their time', async () => {
    const { url, delivery } = await createDelivered('again');
    const page = await open(`${EVENTS}/deliveries/${delivery.id}`);
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.waitForURL((to) => /deliveries\/\d+$/.test(to.pathname) && !to.pathname.endsWith(`/${delivery.id}`));
    await page.getByRole('dialog').getByText('The receiver accepted the first attempt.').waitFor();
    expect((await receiver.waitFor(url, 2)).map(({ body }) => body.id)).to.deep.equal([
      delivery.event.id,
      delivery.event.id,
    ]);
    await page.keyboard.press('Escape');
    await page.waitForURL(`**${EVENTS}/deliveries`);

    await page.getByRole('button', { name: 'Send again…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send events again' });
    await dialog.getByLabel('Subscription').selectOption({ label: `${url} · #${delivery.subscriptionId}` });
    await dialog.getByLabel('State').selectOption('delivered');
    await dialog.getByText('2 deliveries match.').waitFor();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByText('1 event is sent again.').waitFor();
    await receiver.waitFor(url, 3);
  });

  it('follow the delivery that is sent again until it is delivered, with the headers that were sent', async () => {
    const { url, delivery } = await createDelivered('followed');
    const held: (() => void)[] = [];
    receiver.server.answer('/followed', (response) => void held.push(() => response.writeHead(204).end()));
    const page = await open(`${EVENTS}/deliveries/${delivery.id}?subscription=${delivery.subscriptionId}`);
    await page.getByRole('button', { name: 'Send again', exact: true }).click();
    await page.waitForURL((to) => /deliveries\/\d+$/.test(to.pathname) && !to.pathname.endsWith(`/${delivery.id}`));
    const panel = page.getByRole('dialog', { name: /^Delivery \d+$/ });
    await panel.getByText('There were no attempts yet.').waitFor();
    await panel.locator('dl').getByText('delivering', { exact: true }).waitFor();
    await panel.getByRole('link', { name: `delivery ${delivery.id}` }).waitFor();
    const rows = page.getByRole('region', { name: 'Deliveries', includeHidden: true }).locator('tbody tr');
    await until(async () => (await rows.allInnerTexts()).join().includes('delivering'));
    expect(await rows.count()).to.equal(2);

    await until(async () => held.length === 1);
    for (const answer of held) answer();
    await panel.getByText('The receiver accepted the first attempt.').waitFor();
    await panel.locator('dl').getByText('delivered', { exact: true }).waitFor();
    await until(async () => !(await rows.allInnerTexts()).join().includes('delivering'));
    const [, again] = receiver.at(url);
    const headers = panel.getByRole('region', { name: 'Request headers' });
    await headers.getByText(String(again?.request.headers['webhook-signature']), { exact: true }).waitFor();
    expect(await headers.locator('dt').allInnerTexts()).to.include.members(['webhook-id', 'webhook-timestamp']);

    const looks: string[] = [];
    page.on('request', (asked) => void (/deliveries\?where=id/.test(asked.url()) && looks.push(asked.url())));
    // The states of all deliveries are counted each 5 s; this one was looked at each second.
    await page.waitForRequest(/deliveries\/counts/);
    await page.waitForRequest(/deliveries\/counts/);
    expect(looks).to.deep.equal([]);
  });

  it('name the record that they are about', async () => {
    const url = receiver.open('named');
    const { id: instanceId } = await createSource(service, url, {});
    for (const [type, data] of [
      ['employees.updated', { id: '105', firstName: 'Charlotte', lastName: HOSTILE }],
      ['employees.deleted', { id: '106' }],
      ['test.created', {}],
    ] as const)
      await service.call('/events/test', { method: 'POST', body: { instanceId, type, data } });
    const { subscriptionId } = (
      await waitForDeliveries(service, `config.url = '${url}' AND status = 'delivered'`, 3)
    )[0];
    const page = await open(`${EVENTS}/deliveries?subscription=${subscriptionId}`);
    const rows = page.getByRole('region', { name: 'Deliveries' }).locator('tbody tr');
    await rows.nth(2).waitFor();
    const [first = '', second = '', third = ''] = (await rows.allInnerTexts()).map((text) =>
      text.split('\t')[0]?.trim(),
    );
    expect(first).to.match(/^test\.created\s+#\d+$/);
    expect(second).to.match(/^employees 106\s+employees\.deleted · #\d+$/);
    expect(third).to.match(/^Charlotte <script>.* 105\s+employees\.updated · #\d+$/);
    await rows.nth(2).getByRole('link').first().click();
    const panel = page.getByRole('dialog', { name: /^Delivery \d+$/ });
    const record = panel.getByRole('link', { name: `Charlotte ${HOSTILE} 105` });
    expect(await record.getAttribute('href')).to.equal(`/console/explore/${instanceId}/employees`);
    expect(await page.title()).to.equal('Causeway');

    await page.goto(`${service.app.url}/console/instances/${instanceId}/events`);
    await page.getByRole('region', { name: 'Events' }).getByText('employees 106').waitFor();
  });

  it('say that a delivery was acknowledged while it was looked at', async () => {
    const { url, instanceId } = await createDelivered('vanished');
    await setPolicy(service, 'queue');
    await sendEvent(service, instanceId);
    await setPolicy(service, 'retry');
    const [{ id }] = await waitForDeliveries(service, `config.url = '${url}' AND status = 'queued'`, 1);
    const page = await open(`${EVENTS}/deliveries/${id}`);
    const panel = page.getByRole('dialog', { name: `Delivery ${id}` });
    await panel.getByRole('button', { name: 'Send again' }).waitFor();
    await service.call(`/notifications/subscriptions/deliveries/${id}`, { method: 'DELETE' });
    await panel.getByText('The delivery was acknowledged, or its retention period is over.').waitFor();
    expect(await panel.getByRole('button', { name: 'Send again' }).count()).to.equal(0);
  });

  it('show when a failed delivery is tried again', async () => {
    await service.call('/accounts/settings', { method: 'PATCH', body: { [RETRY_COUNT]: 9 } });
    const url = receiver.open('retried');
    const { id: instanceId } = await createSource(service, url);
    receiver.fail(url);
    await sendEvent(service, instanceId);
    const [{ id }] = await waitForDeliveries(service, `config.url = '${url}' AND status = 'retrying'`, 1);
    const page = await open(`${EVENTS}/deliveries/${id}`);
    const line = page.getByRole('img', { name: 'Timeline of the attempts' });
    await line.waitFor();
    const told = await line.evaluate((image) => {
      const { ownerDocument } = image;
      return ownerDocument.getElementById(image.getAttribute('aria-describedby') ?? '')?.textContent;
    });
    expect(told).to.match(
      /^1 attempt failed\. Retry 1 of 9 is planned in \d\.\d s, at .+\. Then: in 1 min, in 9 min, in 1 h 17 min, in 2 h 56 min, .+, in 9 h 29 min\. If the last/,
    );
    const titles = await line.locator('circle title').allTextContents();
    expect(titles).to.have.length(10);
    expect(titles[0]).to.match(/^Attempt 1, .+, failed: status/);
    expect(titles[9]).to.match(/^Retry 9 of 9, planned for /);
    expect(await page.getByRole('dialog').getByText('planned', { exact: true }).count()).to.equal(9);
    await service.call('/accounts/settings', { method: 'PATCH', body: { [RETRY_COUNT]: 5 } });
  });

  it('show a secret when asked for it, and rotate it', async () => {
    const { url, instanceId } = await createDelivered('secret');
    const { secret } = await findSubscription(service, url);
    const page = await openSubscription(url);
    const card = page.getByRole('region', { name: 'Signing secret' });
    await card.waitFor();
    expect(await page.content()).not.to.include(secret);
    await card.getByRole('button', { name: 'Reveal' }).click();
    await card.getByText(secret).waitFor();
    await card.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await card.getByText('The previous secret is also valid').waitFor();
    const { secret: next } = await findSubscription(service, url);
    expect(next).not.to.equal(secret);
    await card.getByText(next).waitFor();
    await sendEvent(service, instanceId);
    const [, signed] = await receiver.waitFor(url, 2);
    if (signed !== undefined) for (const each of [secret, next]) verify(signed, each);
    await card.getByRole('button', { name: 'Hide' }).click();
    expect(await page.content()).not.to.include(next);
  });

  it('are acknowledged after a question, and narrowed by controls and by text', async () => {
    const { url, instanceId, delivery } = await createDelivered('queue');
    await setPolicy(service, 'queue');
    await sendEvent(service, instanceId);
    await sendEvent(service, instanceId);
    await setPolicy(service, 'retry');
    const page = await open(`${EVENTS}/deliveries?subscription=${delivery.subscriptionId}`);
    const states = page.getByRole('navigation', { name: 'States of deliveries' });
    await states.getByRole('link', { name: 'queued 2' }).click();
    await page.getByRole('button', { name: 'Acknowledge…' }).click();
    await page.getByText('2 deliveries are queued.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByText('No delivery matches the filters.').waitFor();
    await states.getByRole('link', { name: 'queued 0' }).waitFor();

    await page.getByRole('button', { name: 'Edit as text' }).click();
    const where = page.getByLabel('Where');
    expect(await where.inputValue()).to.equal(`subscriptionId = ${delivery.subscriptionId}`);
    await where.fill(`config.url = '${url}' AND atempts = 1`);
    await where.press('Enter');
    await page.getByText('WHERE_INVALID').waitFor();
    await where.fill(`config.url = '${url}' AND attempts = 1`);
    await where.press('Enter');
    await states.getByRole('link', { name: 'all 1' }).click();
    await page.getByRole('region', { name: 'Deliveries' }).getByText('delivered').waitFor();
  });

  it('choose which types a subscription wants, and remove it once nothing uses it', async () => {
    const { url, instanceId, delivery } = await createDelivered('leaving');
    const page = await openSubscription(url);
    await page.getByLabel('Event types to receive').fill('employees.*\nfiles.created');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => (await findSubscription(service, url)).eventTypes.length === 2);
    const remove = async () => {
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    };
    await remove();
    await page.getByText(`Subscription ${delivery.subscriptionId} is in use: instance ${instanceId}`).waitFor();
    await page.keyboard.press('Escape');
    await service.call(`/instances/${instanceId}`, { method: 'DELETE' });
    await remove();
    await page.waitForURL(`**${EVENTS}/subscriptions`);
    await page.getByText(url).waitFor({ state: 'detached' });
  });

  it('have nothing that axe-core finds wrong, in light and dark', async function find() {
    this.timeout(60_000);
    const { url, delivery } = await createDelivered('checked');
    const page = await (await newContext()).newPage();
    await logIn(page, service.app.url);
    const places = [
      ...['live', 'deliveries', `deliveries/${delivery.id}`, 'subscriptions'],
      ...[`subscriptions/${delivery.subscriptionId}`, 'operational'],
    ];
    for (const place of places) {
      await page.goto(`${service.app.url}${EVENTS}/${place}`);
      await page
        .getByText(place.startsWith('subscriptions') ? url : /^(?:delivered|subscription\.deactivated)$/)
        .first()
        .waitFor();
      await expectAccessible(page);
    }
  });
});
