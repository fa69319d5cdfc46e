import { expect } from 'chai';
import { defineObject, type WebhookCall } from '#connector';
import { startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import { toFields } from './fields.ts';
import zohocrm from './index.ts';
import { FILTERING } from './query.ts';
import { parseQuery } from './simulator/coql.ts';
import { MODULES, showField } from './simulator/modules.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';
import { notifications } from './webhooks.ts';

const LEADS = MODULES.find(({ name }) => name === 'Leads')?.fields ?? [];
const fields = toFields(LEADS.map((field) => showField(field, 'fieldsOfFields')));

/** Returns the criteria that Zoho CRM receives. */
function criteriaFor(where: string): unknown {
  return prepareQuery({ where }, defineObject<string>({ fields, ...FILTERING })).plan.queries.map(
    ({ native }) => native,
  )[0];
}

describe('criteria of Zoho CRM', () => {
  it('are joined in pairs', () => {
    const where =
      "Email_Opt_Out = true AND No_of_Employees > 3 AND (Rating = 'Active' OR Owner = '17' OR Phone IS NULL)";
    expect(criteriaFor(where)).to.equal(
      "((Email_Opt_Out = 'true' and No_of_Employees > 3) and ((Rating = 'Active' or Owner = '17') or Phone is null))",
    );
  });

  it('have instants with an offset, and lists', () => {
    expect(criteriaFor("Modified_Time >= '2026-01-31T10:00:00Z'")).to.equal(
      "Modified_Time >= '2026-01-31T10:00:00+00:00'",
    );
    expect(criteriaFor("Owner IN ('17', '18')")).to.equal("Owner in ('17', '18')");
  });

  it('have texts as values only', () => {
    for (const text of ["O''Brien", "x'' or id is not null or Company = ''y", '\\', "\\''"]) {
      const criteria = String(criteriaFor(`Company = '${text}'`));
      expect(criteria).to.equal(`Company = '${text}'`);
      const { where } = parseQuery(`select id from Leads where ${criteria}`);
      expect(where).to.deep.include({ field: 'Company', operator: '=', values: [text.replaceAll("''", "'")] });
    }
  });

  it('are not about names that a query must quote, and have no sign of a pattern in a text', () => {
    expect(criteriaFor("External = 'a'")).to.equal(undefined);
    expect(criteriaFor("Company LIKE '%100\\%%'")).to.equal("Company like '%100%'");
  });
});

describe('the query language of the simulator', () => {
  for (const [query, code] of [
    ['select id from Leads where id is not null order by id, id', 'DUPLICATE_DATA'],
    ['select id from Leads where id is not null limit 200 offset 99900', 'LIMIT_EXCEEDED'],
    ["select id from Leads where id = '1' and id = '2' and id = '3'", 'SYNTAX_ERROR'],
    ["select External from Contacts where id = '1'", 'SYNTAX_ERROR'],
  ] as const) {
    it(`rejects ${query}`, () => {
      expect(() => parseQuery(query))
        .to.throw()
        .with.property('code', code);
    });
  }

  it('reaches the last of 100,000 rows', () => {
    expect(parseQuery('select id from Leads where id is not null limit 200 offset 99800')).to.include({
      offset: 99800,
    });
  });
});

describe('deletions in Zoho CRM', () => {
  for (const nothingDeleted of [204, 304] as const) {
    it(`are none where the response is ${nothingDeleted}, and then those since a time`, async () => {
      const configuration = { ...DEMO_CONFIGURATION, 'oauth.user.token': DEMO_ACCESS_TOKEN };
      const create: typeof createSimulator = (options) => createSimulator({ ...options, nothingDeleted });
      const provider = await startProvider(zohocrm, create, configuration);
      try {
        const connection = provider.connect();
        const leads = await connection.describe('Leads');
        const poll = () => connection.run(leads.changes?.feed, { since: '2020-01-01T00:00:00.000Z' });
        expect(await poll()).to.deep.equal({ changes: [] });
        const [lead] = await connection.listAll(leads, { limit: 1 });
        await connection.run(leads.remove, { id: String(lead?.id), fields: [] } as never);
        expect((await poll()).changes.map(({ id, action }) => [id, action])).to.deep.equal([[lead?.id, 'deleted']]);
      } finally {
        await provider.stop();
      }
    });
  }
});

describe('a record that Zoho CRM does not have', () => {
  const error = (details: object) => ({ code: 'INVALID_DATA', details, message: 'invalid', status: 'error' });

  for (const [what, status, body] of [
    ['the place of the id in the path', 400, error({ resource_path_index: 1 })],
    ['the field of the id', 202, { data: [error({ api_name: 'id' })] }],
    ['the id', 200, { data: [error({ id: '17' })] }],
  ] as const) {
    it(`is not found where the error has ${what}`, () => {
      expect(zohocrm.classify?.({ status, headers: {}, body })).to.include({ kind: 'notFound' });
    });
  }

  it('is not meant where another field is wrong', () => {
    const body = { data: [error({ api_name: 'Account_Name' })] };
    expect(zohocrm.classify?.({ status: 202, headers: {}, body })?.kind).to.equal(undefined);
  });
});

describe('the account of Zoho CRM', () => {
  it('lives in a data center, which has a log-in of its own', () => {
    const { auth, hosts } = zohocrm;
    const hostOf = (end: string) =>
      new URL((auth.type === 'oauth2' && auth.authorizeUrl?.({ 'zoho.datacenter': end })) || '').host;
    expect(['com', 'com.au', 'ca', 'sa'].map(hostOf)).to.deep.equal([
      'accounts.zoho.com',
      'accounts.zoho.com.au',
      'accounts.zohocloud.ca',
      'accounts.zoho.sa',
    ]);
    expect(hosts).to.include.members(['accounts.zohocloud.ca', 'www.zohoapis.ca', 'www.zohoapis.sa']);
  });

  it('needs no new access token where a scope is missing', () => {
    const body = { code: 'OAUTH_SCOPE_MISMATCH', message: 'invalid oauth scope to access this URL', status: 'error' };
    expect(zohocrm.classify?.({ status: 401, headers: {}, body })).to.include({ kind: 'rejected' });
  });
});

describe('notifications of Zoho CRM', () => {
  const body = {
    module: 'Leads',
    operation: 'delete',
    ids: ['17', '18'],
    server_time: 1_790_000_000_000,
    token: 'known',
  };
  const call: WebhookCall = {
    ...{ method: 'POST', url: 'https://example.com/events', headers: {} },
    body: Buffer.from(JSON.stringify(body)),
  };

  it('report each record, without the token', () => {
    const events = notifications.events(call, {});
    expect(events).to.have.length(2);
    expect(JSON.stringify(events)).to.not.include('known');
    const [, second] = events;
    expect(second).to.include({ objectId: '18', action: 'deleted', objectName: 'Leads' });
  });

  it('are genuine with the token', () => {
    const { verify } = notifications;
    if (verify === 'unsigned') throw new Error('A check was expected.');
    const verdict = (secret: string) => verify(call, { secret, now: 0, config: {} });
    expect([verdict('known'), verdict('other')]).to.deep.equal(['genuine', 'forged']);
  });
});
