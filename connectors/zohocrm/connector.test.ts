import { expect } from 'chai';
import { defineObject, type WebhookCall } from '#connector';
import { prepareQuery } from '../../src/where/index.ts';
import { toFields } from './fields.ts';
import { FILTERING } from './query.ts';
import { parseQuery } from './simulator/coql.ts';
import { MODULES, showField } from './simulator/modules.ts';
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
