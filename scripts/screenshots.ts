/**
 * Takes a screenshot of every page of the console: `npm run screenshots [-- name…]` writes them to `screenshots/`. It starts the service
 * with an embedded PostgreSQL and the simulators, both on loopback, and a few accounts with data. It needs Chromium.
 */
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findChromium, logInToConsole } from '../test/support/chromium.ts';
import { type RunningService, UNLIMITED, withService } from './bench/running-service.ts';
import { readDemoConfiguration } from './demos.ts';

const ROOT = resolve(import.meta.dirname, '..');
const OUTPUT = join(ROOT, 'screenshots');

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light', isMobile: true },
};

/** The resources that are created before the first screenshot. */
interface Seeded {
  readonly instance: number;
  readonly delivery: number | undefined;
  readonly requestId: string;
  readonly formula: FormulaIds;
  /** Paths of two pages of a connect session: one with a choice of elements, and one with a single element. */
  readonly connect: { readonly choice: string; readonly form: string };
  /** Path of the page of an invitation, with the key of the link. */
  readonly invitation: string;
}

/** Ids of a formula, of an instance of it, and of an execution. */
interface FormulaIds {
  readonly id: number | undefined;
  readonly instanceId: number | undefined;
  readonly executionId: number | undefined;
}

/** The members of responses that the script reads. */
interface Answered {
  readonly id?: number;
  readonly token?: string;
  readonly message?: string;
  readonly url?: string;
}

/** The paths of the pages, by the names of their screenshots. */
const PAGES: Readonly<Record<string, (seeded: Seeded) => string>> = {
  instances: () => '/console/instances',
  'instance-new': () => '/console/instances/new',
  'instance-new-form': () => '/console/instances/new/bamboohr',
  instance: ({ instance }) => `/console/instances/${instance}`,
  'instance-pollers': ({ instance }) => `/console/instances/${instance}/pollers`,
  explore: ({ instance }) => {
    const query = new URLSearchParams({
      where: "department = 'Engineering' AND lastName LIKE 'S%'",
      orderBy: 'lastName',
    });
    return `/console/explore/${instance}/employees?${query}`;
  },
  mappings: () => '/console/mappings',
  'mappings-catalogue': () => '/console/mappings/catalogue',
  'mapping-fields': () => '/console/mappings/definitions/people',
  'mapping-coverage': () => '/console/mappings/definitions/contacts/transformations',
  'mapping-editor': ({ instance }) => `/console/mappings/definitions/people/account/bamboohr?instance=${instance}`,
  'mapping-try-out': ({ instance }) => `/console/mappings/definitions/people/try?instance=${instance}`,
  formulas: () => '/console/formulas',
  formula: ({ formula }) => `/console/formulas/${formula.id}`,
  'formula-step': ({ formula }) => `/console/formulas/${formula.id}?step=trigger`,
  'formula-instance': ({ formula }) => `/console/formulas/instances/${formula.instanceId}`,
  'formula-execution': ({ formula }) => `/console/formulas/executions/${formula.executionId}`,
  events: () => '/console/events',
  deliveries: () => '/console/events/deliveries',
  delivery: ({ delivery }) => `/console/events/deliveries/${delivery ?? ''}`,
  subscriptions: () => '/console/events/subscriptions',
  activity: () => '/console/activity',
  'activity-one': ({ requestId }) => `/console/activity/${requestId}`,
  usage: () => '/console/usage',
  bulk: ({ instance }) => `/console/bulk?instance=${instance}`,
  proxies: () => '/console/proxies',
  'connect-sessions': () => '/console/connect',
  organization: () => '/console/organization',
  'organization-users': () => '/console/organization/users',
  'organization-connect-branding': () => '/console/organization/connect-branding',
  'organization-audit': () => '/console/organization/audit',
  profile: () => '/console/profile',
  'connect-page': ({ connect }) => connect.choice,
  'connect-page-form': ({ connect }) => connect.form,
  invitation: ({ invitation }) => invitation,
};

const CONNECTED = ['bamboohr', 'connectwise', 'fortnox', 'twilio', 'redmine'];
/** Branding of an invented product, for the screenshots of the connect page. */
const BRANDING = { name: 'Acme Books', color: '#7a1fa2' };
const DEPARTMENTS = ['Engineering', 'Sales', 'Support'];

const MAPPED = [
  { path: 'key', type: 'string', vendorPath: 'id' },
  { path: 'firstName', type: 'string', vendorPath: 'firstName' },
  {
    path: 'team',
    type: 'string',
    vendorPath: 'department',
    configuration: [{ type: 'defaultValue', properties: { value: 'Engineering' } }],
  },
  { path: 'since', type: 'date', vendorPath: 'hireDate' },
];

const FORMULA_STEPS = [
  {
    ...{ name: 'getEmployees', type: 'elementRequest', onSuccess: ['each'], onFailure: ['report'] },
    properties: {
      ...{ elementInstanceId: '${config.hr}', method: 'GET', api: '/employees' },
      query: { where: "department = '${config.department}'", pageSize: 4 },
    },
  },
  {
    ...{ name: 'each', type: 'loop', onSuccess: ['isActive'], onFailure: ['summary'] },
    properties: { list: '${steps.getEmployees.response.body}' },
  },
  {
    ...{ name: 'isActive', type: 'filter', onSuccess: ['message'], onFailure: ['each'] },
    properties: { body: 'done(steps.each.index !== 2);' },
  },
  {
    ...{ name: 'message', type: 'script', onSuccess: ['each'], onFailure: ['report'] },
    properties: { body: "done({ text: 'Welcome, ' + steps.each.entry.firstName + '!' });" },
  },
  { name: 'summary', type: 'script', properties: { body: 'done({ isDone: true });' } },
  { name: 'report', type: 'script', properties: { body: "done({ text: 'It failed.' });" } },
];

const receiver = createServer((_request, response) => response.writeHead(503).end('The receiver is being deployed.'));
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
try {
  await withService({ environment: UNLIMITED }, async (service) => {
    await takeAll(service, await seed(service), process.argv.slice(2));
  });
} finally {
  receiver.close();
  receiver.closeAllConnections();
}

async function seed({ baseUrl, authorization, secrets }: RunningService): Promise<Seeded> {
  const send = async (path: string, { token, ...init }: RequestInit & { readonly token?: string } = {}) => {
    const credentials = token === undefined ? authorization : `User ${secrets.userSecret}, Element ${token}`;
    const headers = { Authorization: credentials, 'Content-Type': 'application/json' };
    const response = await fetch(baseUrl + path, { ...init, headers });
    const body: Answered | readonly Answered[] = JSON.parse(await response.text());
    return { requestId: response.headers.get('elements-request-id') ?? '', entries: [body].flat() };
  };
  const post = (path: string, body: object, token?: string) =>
    send(path, { method: 'POST', body: JSON.stringify(body), ...(token !== undefined && { token }) });
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
  const made: { readonly id: number; readonly token: string }[] = [];
  for (const key of CONNECTED) {
    const configuration = {
      ...(await readDemoConfiguration(key)),
      simulator: true,
      ...(key === 'bamboohr' && { 'event.notification.enabled': true, 'event.notification.callback.url': callbackUrl }),
    };
    const body = { element: { key }, name: `${key} of Acme`, configuration, tags: ['demo'] };
    const [{ id, token, message } = {}] = (await post('/instances', body)).entries;
    if (id === undefined || token === undefined) console.warn(`no ${key}: ${message}`);
    else made.push({ id, token });
  }
  const [first] = made;
  if (first === undefined) throw new Error('No account could be connected.');
  for (const department of DEPARTMENTS) {
    await send(`/employees?${new URLSearchParams({ where: `department = '${department}'` })}`, { token: first.token });
    await send('/employees?where=nosuch%20%3D%201', { token: first.token });
  }
  for (const { token } of made) await send('/objects', { token });
  const { requestId } = await send('/employees?pageSize=5&orderBy=lastName', { token: first.token });
  await map(post);
  const formula = await makeFormula(post, first.id);
  await post('/events/test', { instanceId: first.id });
  await post('/bulk/query', { objectName: 'employees', format: 'csv' }, first.token);
  await new Promise((done) => setTimeout(done, 4000));
  const { entries: deliveries } = await send('/notifications/subscriptions/deliveries?pageSize=1');
  const connectPath = async (body: object) => {
    const [{ url = '' } = {}] = (await post('/connect/sessions', body)).entries;
    return new URL(url).pathname;
  };
  const branded = { elements: ['bamboohr', 'box'], configuration: { simulator: true }, branding: BRANDING };
  const connect = {
    choice: await connectPath({ configuration: { simulator: true } }),
    form: `${await connectPath(branded)}?element=bamboohr`,
  };
  const [{ url: link = '' } = {}] = (await post('/organizations/me/invitations', { email: 'ada@example.com' })).entries;
  const { pathname, hash } = new URL(link);
  return { instance: first.id, delivery: deliveries[0]?.id, requestId, formula, connect, invitation: pathname + hash };
}

/** Creates a definition and copies one from the catalogue, for the screenshots of mappings. */
async function map(post: (path: string, body: object) => Promise<unknown>): Promise<void> {
  const directions = { fromVendor: false, toVendor: false };
  await post('/vdrs/contacts/clone?level=account&cloneAllTransformations=true', {});
  await post('/accounts/objects/people/definitions', { fields: MAPPED.map(({ path, type }) => ({ path, type })) });
  await post('/accounts/elements/bamboohr/transformations/people', {
    vendorName: 'employees',
    fields: MAPPED.map(({ type: _, ...field }) => field),
    configuration: [{ type: 'passThrough', properties: directions }],
    script: { body: "transformedObject.team += ' team';\ndone(transformedObject);" },
  });
}

type Post = (path: string, body: object) => Promise<{ readonly entries: readonly Answered[] }>;

/** Creates a formula over the employees of an instance, and runs it, for the screenshots of formulas. */
async function makeFormula(post: Post, elementInstanceId: number): Promise<FormulaIds> {
  const idOf = async (path: string, body: object) => (await post(path, body)).entries[0]?.id;
  const id = await idOf('/formulas', {
    name: 'Welcome new employees',
    description: 'Writes a message about each employee of a department.',
    configuration: [
      { key: 'hr', name: 'HR system', type: 'elementInstance', required: true },
      { key: 'department', name: 'Department', type: 'value', required: true },
    ],
    triggers: [{ type: 'manual', onSuccess: ['getEmployees'] }],
    steps: FORMULA_STEPS,
  });
  const configuration = { hr: elementInstanceId, department: 'Engineering' };
  const instanceId = await idOf(`/formulas/${id}/instances`, { name: 'Acme', configuration });
  return { id, instanceId, executionId: await idOf(`/formulas/instances/${instanceId}/executions`, {}) };
}

async function takeAll(service: RunningService, seeded: Seeded, wanted: readonly string[]): Promise<void> {
  await mkdir(OUTPUT, { recursive: true });
  const names = Object.keys(PAGES).filter((name) => wanted.length === 0 || wanted.includes(name));
  const browser = await chromium.launch({
    executablePath: findChromium() ?? '',
    args: ['--no-sandbox'],
  });
  try {
    for (const [look, options] of Object.entries(LOOKS)) {
      const page = await (await browser.newContext({ ...options, reducedMotion: 'reduce' })).newPage();
      if (wanted.length === 0) await take(page, `${service.origin}/console`, `log-in-${look}`);
      await logInToConsole(page, service);
      for (const name of names) await take(page, service.origin + (PAGES[name]?.(seeded) ?? ''), `${name}-${look}`);
    }
  } finally {
    await browser.close();
  }
  console.log(`${(await readdir(OUTPUT)).length} pictures in ${OUTPUT}`);
}

async function take(page: Page, url: string, name: string): Promise<void> {
  await page.goto(url);
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => console.warn(`${name} goes on asking`));
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
  await page.screenshot({ path: join(OUTPUT, `${name}.png`) });
}
