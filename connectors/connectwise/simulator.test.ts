import { expect } from 'chai';
import { ManageAPI, utils } from 'connectwise-rest';
import type { SentWebhook } from '#connector/simulator';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import {
  CLIENT_ID,
  COMPANY,
  createSimulator,
  DEMO_CONFIGURATION,
  PRIVATE_KEY,
  PUBLIC_KEY,
  SIGNING_KEY,
  signCallback,
} from './simulator.ts';

const BASE = '/v4_6_release/apis/3.0';
const LOGIN = `Basic ${Buffer.from(`${COMPANY}+${PUBLIC_KEY}:${PRIVATE_KEY}`).toString('base64')}`;

/** The tests compare every member that they read. */
type Body = Readonly<Record<string, unknown>>;

describe('the ConnectWise simulator', () => {
  const sent: SentWebhook[] = [];
  let served: ServedSimulator;
  let client: ManageAPI;

  before(async () => {
    const send = (webhook: SentWebhook) => void sent.push(webhook);
    served = await serveSimulator('connectwise', (options) => createSimulator({ ...options, send }));
    client = clientOf(served.url);
  });
  after(() => served.stop());
  beforeEach(() => {
    sent.length = 0;
    served.reset();
  });

  async function ask(path: string, { headers = {}, body, ...init }: CallOptions = {}) {
    const response = await fetch(served.url + BASE + path, {
      ...init,
      headers: { authorization: LOGIN, clientId: CLIENT_ID, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {} };
  }

  const count = async (path: string, parameters: Record<string, string>) =>
    (await ask(`${path}/count?${new URLSearchParams(parameters)}`)).body.count ?? (await ask(`${path}/count?${new URLSearchParams(parameters)}`)).body.message;
  const tickets = (conditions: string) => count('/service/tickets', { conditions });

  it('tests', async () => {
    console.log(await ask('/system/info'));
    for (const p of ['service/tickets','service/tickets/5000/notes','time/entries','company/companies','company/contacts','company/configurations','sales/opportunities','system/userDefinedFields','service/tickets/5000/timeentries']) {
      const a = await ask('/' + p + '?pageSize=2');
      console.log(p, a.status, a.headers.get('link'), JSON.stringify(a.body).slice(0, 1500));
    }
    for (const c of ['id > 5100', 'summary like "%o%"', "company/name = 'x'", 'Board/Id in (1,2) AND closedflag = False', 'lastUpdated > [2023-12-31T00:00:00Z] or (contact/name = null and summary not contains "a")', 'severity = "low"', 'severity = "x"', 'foo = 1', 'closedFlag = 1', 'summary = "a*b"', 'id = null', 'summary <'])
      console.log(c, await tickets(c));
    console.log(await count('/company/contacts', {childConditions: 'communicationItems/value like "%x@outlook%" AND communicationItems/communicationType="Email"'}), await count('/company/contacts', {childconditions: 'types/name = "Primary"'}), await count('/company/contacts', {customFieldConditions: `caption="Story Points" AND value != null`}));
  });
});

interface CallOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}
function clientOf(url: string): ManageAPI {
  const at = new URL(url);
  return new ManageAPI({ companyId: COMPANY, companyUrl: at.host, publicKey: PUBLIC_KEY, privateKey: PRIVATE_KEY, clientId: CLIENT_ID, logger: () => undefined });
}
