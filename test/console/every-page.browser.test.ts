import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { QUICK } from '../api/events/receiving.ts';
import { BAMBOOHR } from '../api/support/simulated.ts';
import { type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { describeInBrowser, useBrowser } from './support/browser.ts';
import { followLinks, MOST_LINKS } from './support/links.ts';
import { expectAccessible } from './support/themes.ts';

const HOSTILE = [
  ...['<img src=x onerror="globalThis.wasRun=1">', '"><script>globalThis.wasRun=1</script>'],
  ...["'-globalThis.wasRun=1-'", '</title><svg onload=globalThis.wasRun=1>', 'javascript:globalThis.wasRun=1'],
];
const [WORST = '', ...OTHERS] = HOSTILE;
const NARROW = { width: 360, height: 780 };
const WIDEST = { width: 2560, height: 1200 };
const USUAL = { width: 1280, height: 900 };

/** What the pages are about, with texts in it that would like to run. */
interface World {
  readonly instanceId: number;
  readonly deliveryId: number;
  readonly subscriptionId: number;
  readonly requestId: string;
  readonly bulkId: number;
  readonly formulaId: number;
  readonly formulaInstanceId: number;
  readonly executionId: number;
}

/** Pages that show a mistake. */
const WRONG_WHERE = 'a where that is wrong';
const NO_PAGE = 'no page';

/** Every page, and a text that it shows of the world; undefined where there is none of it. */
const PAGES: Readonly<Record<string, (world: World) => readonly [path: string, text?: string]>> = {
  'the instances': () => ['/instances', WORST],
  'the elements': () => ['/instances/new', 'BambooHR'],
  'the form of a new instance': () => ['/instances/new/bamboohr'],
  'an instance': ({ instanceId }) => [`/instances/${instanceId}`, WORST],
  'the events of an instance': ({ instanceId }) => [`/instances/${instanceId}/events`],
  'the pollers of an instance': ({ instanceId }) => [`/instances/${instanceId}/pollers`],
  'the activity of an instance': ({ instanceId }) => [`/instances/${instanceId}/activity`],
  'the choice of what to explore': () => ['/explore'],
  'records that are explored': ({ instanceId }) => {
    const where = encodeURIComponent("lastName = 'Hostile'");
    return [`/explore/${instanceId}/employees?where=${where}`, WORST];
  },
  [WRONG_WHERE]: ({ instanceId }) => [`/explore/${instanceId}/employees?where=${encodeURIComponent(WORST)}`],
  'the definitions': () => ['/mappings', 'people'],
  'the catalogue of definitions': () => ['/mappings/catalogue', 'opportunities'],
  'a definition': () => ['/mappings/definitions/people', WORST],
  'the transformations of a definition': () => ['/mappings/definitions/people/transformations', 'employees'],
  'a transformation': () => ['/mappings/definitions/people/account/bamboohr', 'homeEmail'],
  'a transformation of an instance': ({ instanceId }) => [`/mappings/definitions/people/instance/${instanceId}`],
  'a mapping that is tried out': ({ instanceId }) => [
    `/mappings/definitions/people/try?instance=${instanceId}`,
    'globalThis.wasRun=1\\"',
  ],
  'the formulas': () => ['/formulas', WORST],
  'the graph of a formula': ({ formulaId }) => [`/formulas/${formulaId}`, WORST],
  'the list of steps of a formula': ({ formulaId }) => [`/formulas/${formulaId}?view=list`, WORST],
  'a trigger of a formula': ({ formulaId }) => [`/formulas/${formulaId}?step=trigger`],
  'the variables of a formula': ({ formulaId }) => [`/formulas/${formulaId}/variables`, WORST],
  'the instances of a formula': ({ formulaId }) => [`/formulas/${formulaId}/instances`, WORST],
  'the settings of a formula': ({ formulaId }) => [`/formulas/${formulaId}/settings`],
  'a formula instance': ({ formulaInstanceId }) => [`/formulas/instances/${formulaInstanceId}`, WORST],
  'an execution of a formula': ({ executionId }) => [`/formulas/executions/${executionId}`, WORST],
  'the live events': () => ['/events'],
  'the deliveries': () => ['/events/deliveries'],
  'a delivery': ({ deliveryId }) => [`/events/deliveries/${deliveryId}`, `Delivery ${deliveryId}`],
  'the subscriptions': () => ['/events/subscriptions'],
  'a subscription': ({ subscriptionId }) => [`/events/subscriptions/${subscriptionId}`],
  'the activity': () => ['/activity'],
  'a request': ({ requestId }) => [`/activity/${requestId}`, requestId],
  'the usage': () => ['/usage'],
  'the bulk jobs': ({ instanceId }) => [`/bulk?instance=${instanceId}`],
  'a bulk job': ({ instanceId, bulkId }) => [`/bulk/${bulkId}?instance=${instanceId}`],
  'the proxies': () => ['/proxies', WORST],
  'the access keys': () => ['/keys'],
  'the form of a new access key': () => ['/keys/new'],
  'the connect sessions': () => ['/connect'],
  'the form of a new connect session': () => ['/connect/new', 'OAuth client'],
  'the organization': () => ['/organization'],
  'the accounts': () => ['/organization/accounts', WORST],
  'an account': () => ['/organization/accounts/2', WORST],
  'the users': () => ['/organization/users', WORST],
  'a user': () => ['/organization/users/2', WORST],
  'the secrets of the organization': () => ['/organization/secrets'],
  'the connect origins': () => ['/organization/connect-origins'],
  'the branding of the connect page': () => ['/organization/connect-branding'],
  'the roles': () => ['/organization/roles'],
  'the audit log': () => ['/organization/audit'],
  'the profile': () => ['/profile'],
  [NO_PAGE]: () => ['/nowhere', 'This page does not exist.'],
};

describeInBrowser('every page of the console', function everyPage() {
  const { service, open } = useBrowser({}, { engineOptions: QUICK });
  let receiver: MisbehavingServer;
  let world: World;

  before(async function prepare() {
    this.timeout(60_000);
    receiver = await startMisbehavingServer({ otherwise: (response) => response.writeHead(503).end(WORST) });
    world = await makeWorld();
  });
  after(() => receiver.close());

  async function post(path: string, body: unknown, more: object = {}) {
    const { status, body: answered } = await service.call(path, { method: 'POST', body, ...more });
    expect(status, `${path}: ${JSON.stringify(answered)}`).to.equal(200);
    return answered;
  }

  async function makeWorld(): Promise<World> {
    const events = {
      'event.notification.enabled': true,
      'event.notification.callback.url': `${receiver.url}/hostile`,
    };
    const { id, token } = await service.createInstance(
      'bamboohr',
      { ...BAMBOOHR, ...events },
      { name: WORST, tags: OTHERS },
    );
    await post('/employees', { firstName: WORST, lastName: 'Hostile' }, { token });
    const { headers } = await service.call(`/employees?where=${encodeURIComponent("firstName = 'Ada'")}`, { token });
    await service.call(`/employees?where=${encodeURIComponent(WORST)}`, { token });
    await post('/accounts', { externalId: WORST, name: WORST, description: WORST });
    await post('/organizations/users', { email: 'hostile@example.com', firstName: WORST, lastName: WORST });
    await post('/elements/oauthProxies', { name: WORST, apiKey: WORST, apiSecret: WORST });
    await post('/accounts/objects/people/definitions', {
      fields: [{ path: 'name', type: 'string', displayName: WORST }],
    });
    await post('/accounts/elements/bamboohr/transformations/people', {
      vendorName: 'employees',
      fields: [{ path: 'name', configuration: [{ type: 'constant', properties: { value: WORST } }] }],
    });
    await post('/events/test', { instanceId: id, data: { text: WORST } });
    const { id: bulkId } = await post(
      '/bulk/query',
      { objectName: 'employees', format: 'csv', fileName: WORST },
      { token },
    );
    const { id: formulaId } = await post('/formulas', {
      ...{ name: WORST, description: WORST, triggers: [{ type: 'manual', onSuccess: [WORST] }] },
      configuration: [{ key: 'value', name: WORST, description: WORST, type: 'value' }],
      steps: [
        { name: WORST, type: 'script', onSuccess: ['nowhere'], properties: { body: 'done({ text: config.value });' } },
      ],
    });
    const values = { name: WORST, configuration: { value: WORST } };
    const { id: formulaInstanceId } = await post(`/formulas/${formulaId}/instances`, values);
    const [{ id: executionId }] = await post(`/formulas/instances/${formulaInstanceId}/executions`, { text: WORST });
    const list = async (path: string) => (await service.call(`/notifications/subscriptions${path}`)).body;
    await until(async () => (await list('/deliveries')).length > 0 && receiver.requests.length > 0);
    const [delivery] = await list('/deliveries');
    const [subscription] = await list('');
    return {
      instanceId: id,
      deliveryId: delivery.id,
      subscriptionId: subscription.id,
      requestId: String(headers.get('elements-request-id')),
      bulkId,
      ...{ formulaId, formulaInstanceId, executionId },
    };
  }

  async function isAsWideAs(page: Page, size: typeof NARROW): Promise<void> {
    await page.setViewportSize(size);
    expect(await page.evaluate('document.documentElement.scrollWidth'), `${size.width} px`).to.be.at.most(size.width);
  }

  it('has a page with something on it behind every link', async function links() {
    this.timeout(600_000);
    const { [WRONG_WHERE]: _where, [NO_PAGE]: _none, ...good } = PAGES;
    const paths = Object.values(good).map((pathOf) => `/console${pathOf(world)[0]}`);
    const { followed, faults } = await followLinks((await open('/console')).context(), service.app.url, paths);
    expect(followed).to.be.within(60, MOST_LINKS - 1);
    expect(faults).to.deep.equal([]);
  });

  for (const [name, pathOf] of Object.entries(PAGES)) {
    it(`shows ${name}: texts as texts, at every width, for everybody`, async () => {
      const [path, text] = pathOf(world);
      const page = await open(`/console${path}`);
      await page.locator('main h1, main .empty').first().waitFor();
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
      if (text !== undefined) await page.getByText(text, { exact: false }).first().waitFor();
      for (const size of [NARROW, WIDEST, USUAL]) await isAsWideAs(page, size);
      await expectAccessible(page);
      expect(await page.evaluate('globalThis.wasRun')).to.equal(undefined);
    });
  }
});
