import { expect } from 'chai';
import { defineConnector, defineObject, json as kit } from '../../src/connector/index.ts';
import { getOk, startTarget } from '../../suite/target.ts';
import { type ApiAnswer, useApp } from '../support/app.ts';
import {
  type Behaviour,
  brokenJson,
  html,
  json,
  redirect,
  status,
  useMisbehavingServer,
} from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { expectProblem } from './support/expect-problem.ts';

const KEY = 'key-of-the-address-book-7731';
const UNREADABLE = 'Causeway does not understand the response of Address Book.';

const fields = { id: { type: 'integer', nullable: false } } as const;

/** Reads contacts with the kit, and notes with code of its own, which breaks. */
const ADDRESS_BOOK = defineConnector({
  key: 'addressbook',
  id: 990_047,
  name: 'Address Book',
  description: 'A provider of the tests.',
  hub: 'general',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': String(config['api.key']) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'api.key', type: 'string', required: true, secret: true, description: 'Its key.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => [new URL(String(config['base.url'])).host],
  probe: { path: '/me' },
  objects: {
    contacts: defineObject<never>({
      fields,
      list: {
        request: ({ cursor }) => (cursor === undefined ? { path: '/contacts' } : { url: cursor }),
        read: ({ body }) => {
          const records = kit.objects(kit.at(body, 'contacts'), 'the contacts');
          const next = kit.findText(kit.at(body, 'next'));
          return { records, ...(next !== undefined && { next }) };
        },
        maxPageSize: 100,
      },
    }),
    notes: defineObject<never>({
      fields,
      list: {
        request: () => ({ path: '/notes' }),
        read: ({ body }) => {
          const text = kit.text(kit.at(body, 'text'), 'the text');
          const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
          throw new Error(`The notes of ${text} are ${typeof parsed}.`);
        },
        maxPageSize: 100,
      },
    }),
  },
});

describe('the reason why the answer of a provider cannot be read', () => {
  const service = useApp({ SIMULATORS_PORT: 'off' }, { connectors: [ADDRESS_BOOK], recorderOptions: { flushMs: 20 } });
  const provider = useMisbehavingServer();
  let token: string;

  before(async () => {
    provider.answer('/me', json({}));
    ({ token } = await service.createInstance('addressbook', { 'base.url': provider.url, 'api.key': KEY }));
  });

  async function failWith(path: string, behaviour: Behaviour): Promise<ApiAnswer> {
    provider.answer(path, behaviour);
    const response = await service.call(path, { token });
    expectProblem(response, 'PROVIDER_PROTOCOL');
    return response;
  }

  /** The line of the log with it, and its reason in the activity, which are the same. */
  async function reasonsOf({ body: { requestId } }: ApiAnswer): Promise<string> {
    const path = `/activity/${requestId}`;
    await until(async () => (await service.call(path)).status === 200);
    const { reason, code } = await service.get(path);
    expect(code).to.equal('PROVIDER_PROTOCOL');
    const lines = service.logged.map((line) => JSON.parse(line)).filter((line) => line.requestId === requestId);
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map((line) => line.reason)).to.deep.equal([reason]);
    return reason;
  }

  it('names the member that the answer lacks to the caller, in the log and in the activity', async () => {
    const response = await failWith('/contacts', json({ persons: [{ id: 1, name: 'Ada' }] }));
    expect(response.body.message).to.equal(UNREADABLE);
    expect(response.body.details).to.deep.equal([{ message: 'The response lacks the contacts.' }]);
    expect(await reasonsOf(response)).to.equal(`${UNREADABLE} The response lacks the contacts.`);
  });

  it('is found by its text in the activity', async () => {
    const where = "reason LIKE '%lacks the contacts%'";
    const body = await service.get('/activity', { query: { where } });
    expect(body).to.have.length(1);
    expect(body[0]).to.include({ path: '/elements/api-v2/contacts', status: 502 });
  });

  it('keeps what a connector says itself from the caller, and secrets from everybody', async () => {
    const response = await failWith('/notes', json({ text: `Ada ${KEY}` }));
    expect(response.body).not.to.have.property('details');
    expect(response.body.message).to.equal(UNREADABLE);
    expect(await reasonsOf(response)).to.equal(`${UNREADABLE} The notes of Ada [redacted] are undefined.`);
    expect(service.logged.join('\n')).not.to.include(KEY);
  });

  it('shows nothing of what a parser quotes: a part of a secret would not be known', async () => {
    const response = await failWith('/notes', json({ text: `{${KEY}` }));
    const reason = await reasonsOf(response);
    expect(reason).to.match(/JSON at position 1/);
    expect(service.logged.join('\n') + reason).not.to.match(/key-of-/);
  });

  const CASES: Readonly<
    Record<string, { readonly does: Behaviour; readonly detail?: string; readonly reason: RegExp }>
  > = {
    'an HTML page': {
      does: html,
      detail: 'The body is an HTML page.',
      reason: /without the requested JSON.*an HTML page\.$/,
    },
    'broken JSON': { does: brokenJson, detail: 'The body is not valid JSON.', reason: /not valid JSON\.$/ },
    'no body': { does: status(200), detail: 'The response lacks the contacts.', reason: /lacks the contacts\.$/ },
    'a status that is no answer': {
      does: status(304),
      detail: 'The response is a redirect. Causeway follows redirects only of a GET, and only with a Location.',
      reason: /returned 304: .* a redirect\./,
    },
    'a redirect to a foreign host': {
      does: redirect('https://elsewhere.example.com/contacts'),
      reason: /pointed to another host, elsewhere\.example\.com/,
    },
    'the next page at a foreign host': {
      does: json({ contacts: [], next: 'https://elsewhere.example.com/contacts' }),
      reason: /pointed to another host, elsewhere\.example\.com/,
    },
  };
  for (const [what, { does, detail, reason }] of Object.entries(CASES)) {
    it(`is precise for ${what}`, async () => {
      const response = await failWith('/contacts', does);
      if (detail !== undefined) expect(response.body.details).to.deep.equal([{ message: detail }]);
      expect(await reasonsOf(response)).to.match(reason);
    });
  }

  it('stands in what the suite of connectors says', async () => {
    const configuration = { 'base.url': provider.url, 'api.key': KEY };
    const target = await startTarget({ connector: ADDRESS_BOOK, configuration });
    try {
      provider.answer('/notes', json({ text: 'Ada' }));
      const outcome = await getOk(target, '/notes').catch((error: unknown) => error);
      expect(outcome).to.be.instanceOf(Error);
      expect(String(outcome)).to.include('"reason":"').and.to.include('The notes of Ada are undefined.');
    } finally {
      await target.stop();
    }
  });
});
