import { expect } from 'chai';
import type { ObjectSpec } from '#connector';
import { type Provider, startProvider } from '#connector/testing';
import { prepareQuery } from '../../src/where/query.ts';
import salesforce from './index.ts';
import { checksumOf, isId } from './literals.ts';
import { createSimulator, DEMO_ACCESS_TOKEN, DEMO_CONFIGURATION } from './simulator.ts';

type Case = readonly [where: string, filter: string];

const ID = '0015g0000000001AAA';

const EXACT: readonly Case[] = [
  ['NumberOfEmployees = 5', 'NumberOfEmployees = 5'],
  ['NumberOfEmployees != 5', '(NumberOfEmployees != null AND NumberOfEmployees != 5)'],
  ['NumberOfEmployees IN (1, 2)', 'NumberOfEmployees IN (1, 2)'],
  ['NumberOfEmployees NOT IN (1, 2)', '(NumberOfEmployees != null AND NumberOfEmployees NOT IN (1, 2))'],
  ['NumberOfEmployees IS NULL', 'NumberOfEmployees = null'],
  ['NumberOfEmployees IS NOT NULL', 'NumberOfEmployees != null'],
  ['NumberOfEmployees > 2147483647', 'NumberOfEmployees > 2147483647'],
  ['NumberOfEmployees < 2147483648', 'NumberOfEmployees != null'],
  ['NumberOfEmployees >= -2147483649', 'NumberOfEmployees != null'],
  ['NumberOfEmployees IN (1, 99999999999)', 'NumberOfEmployees = 1'],
  ['AnnualRevenue < 1e3', 'AnnualRevenue < 1000'],
  ['AnnualRevenue >= 0.00000000000000000001', 'AnnualRevenue > 0'],
  ['AnnualRevenue <= -1.23456789012345678901', 'AnnualRevenue <= -1.23456789012345679'],
  ['FoundedOn__c <= 2026-01-31', 'FoundedOn__c <= 2026-01-31'],
  ['FoundedOn__c > 1066-10-14', 'FoundedOn__c != null'],
  ['CreatedDate > 2026-01-31T08:30:00+02:00', 'CreatedDate > 2026-01-31T06:30:00Z'],
  ['CreatedDate >= 2026-01-31T08:30:00.001Z', 'CreatedDate > 2026-01-31T08:30:00Z'],
  ['CreatedDate < 2026-01-31T08:30:00.001Z', 'CreatedDate <= 2026-01-31T08:30:00Z'],
  ['CreatedDate != 2026-01-31', 'CreatedDate != 2026-01-31T00:00:00Z'],
  ['IsDeleted = true', 'IsDeleted = true'],
  ['IsDeleted != true', 'IsDeleted = false'],
  ['IsDeleted IN (true, false)', '(IsDeleted = true OR IsDeleted = false)'],
  [`Id = '${ID}'`, `Id = '${ID}'`],
  [`Id != '${ID}'`, `Id != '${ID}'`],
  [`OwnerId IN ('${ID}', 'no id')`, `OwnerId = '${ID}'`],
  ['Regions__c IS NOT NULL', 'Regions__c != null'],
  ['IsDeleted = true OR NumberOfEmployees = 1', '(IsDeleted = true OR NumberOfEmployees = 1)'],
  [
    'IsDeleted = true AND NumberOfEmployees = 1 OR AnnualRevenue = 2',
    '((IsDeleted = true AND NumberOfEmployees = 1) OR AnnualRevenue = 2)',
  ],
  [
    'NOT (NumberOfEmployees = 1 OR AnnualRevenue < 2)',
    '(NumberOfEmployees != null AND NumberOfEmployees != 1 AND AnnualRevenue >= 2)',
  ],
];

/** Conditions whose rows the service checks again. */
const WIDE: readonly Case[] = [
  ["Name = 'it''s'", "Name = 'it\\'s'"],
  ["Name = 'back\\slash'", "Name = 'back\\\\slash'"],
  ["Name = 'two\nlines'", "Name = 'two\\nlines'"],
  ["Name = '\u0001'", "Name = '\\u0001'"],
  ["Name = '100%_'", "Name = '100%_'"],
  ["Name != ''", 'Name != null'],
  ["Name != 'Acme'", 'Name != null'],
  ["BillingCity != 'Oslo'", 'BillingCity != null'],
  ["BillingCity != 'Zürich'", 'BillingCity != null'],
  ["BillingCity != ' Oslo'", 'BillingCity != null'],
  ["BillingCity NOT IN ('Oslo', 'Zürich')", 'BillingCity != null'],
  ["Name LIKE 'a%'", "Name LIKE 'a%'"],
  ["Name LIKE '%100\\%\\_%'", "Name LIKE '%100\\%\\_%'"],
  ["Name LIKE 'a_b''c%'", "Name LIKE 'a_b\\'c%'"],
  ["Name LIKE 'a\\\\b%'", "Name LIKE 'a_b%'"],
  ["Name LIKE '%'", 'Name != null'],
  ["Name NOT LIKE 'a%'", 'Name != null'],
  ["Name NOT LIKE 'ä%'", 'Name != null'],
  ["Name NOT LIKE 'a\\\\b%'", 'Name != null'],
  ["ExternalKey__c = 'Key0'", "ExternalKey__c = 'Key0'"],
  ["Type = 'Customer'", "Type = 'Customer'"],
  ["Tier__c != 'Gold'", 'Tier__c != null'],
  ['Share__c > 1', 'Share__c >= 0.99999999999999'],
  ['Share__c = 1', '(Share__c >= 0.99999999999999 AND Share__c <= 1.00000000000001)'],
  ['Share__c < 123456789012345678', 'Share__c <= 123456789012347000'],
  ['Share__c < 0', 'Share__c <= 0.000000000000001'],
];

/** Conditions with values that no record can have, so Salesforce is not called. */
const NEVER = [
  'NumberOfEmployees > 2147483648',
  'AnnualRevenue = 0.00000000000000000001',
  'AnnualRevenue > 1234567890123456789',
  'FoundedOn__c = 9999-12-31',
  `Id = '${ID.slice(0, 15)}'`,
  "Name = ''",
  "Name NOT LIKE '%'",
  "Name LIKE ''",
  `Name = '${'x'.repeat(4001)}'`,
];

const NOT_PUSHED = [
  "Description = 'x'",
  'Description IS NULL',
  "Name < 'b'",
  "SecretCode__c = 'x'",
  'BillingAddress IS NULL',
  'Share__c != 1',
  'IsDeleted IS NULL',
  "Type LIKE 'C%'",
  "ExternalKey__c NOT LIKE 'K%'",
];

describe('filters in SOQL', () => {
  let simulator: Provider;
  let account: ObjectSpec;

  before(async () => {
    simulator = await startProvider(salesforce, createSimulator, {
      ...DEMO_CONFIGURATION,
      'oauth.user.token': DEMO_ACCESS_TOKEN,
    });
    account = await simulator.connect().describe('Account');
  });
  after(() => simulator.stop());

  for (const [where, filter] of EXACT) {
    it(`writes ${where} and leaves it to Salesforce`, () => {
      const { plan } = prepareQuery({ where }, account);
      expect([plan.native, plan.pushdown]).to.deep.equal([filter, 'full']);
    });
  }

  for (const [where, filter] of WIDE) {
    it(`writes ${JSON.stringify(where.slice(0, 60))} and checks it again`, () => {
      const { plan } = prepareQuery({ where }, account);
      expect([plan.native, plan.pushdown]).to.deep.equal([filter, 'partial']);
    });
  }

  for (const where of NEVER) {
    it(`answers ${JSON.stringify(where.slice(0, 60))} without Salesforce`, () => {
      const { plan } = prepareQuery({ where }, account);
      expect([plan.holds, plan.queries]).to.deep.equal(['never', []]);
    });
  }

  for (const where of NOT_PUSHED) {
    it(`does not write ${where}`, () => {
      expect(prepareQuery({ where }, account).plan.pushdown).to.equal('none');
    });
  }

  it('leaves text to Salesforce when the settings say so', async () => {
    const trusting = await simulator.connect({ 'text.exact': true }).describe('Account');
    const { plan } = prepareQuery({ where: "Name != 'Zürich' AND BillingCity LIKE 'a\\\\b%'" }, trusting);
    expect([plan.native, plan.pushdown]).to.deep.equal(["(Name != 'Zürich' AND BillingCity LIKE 'a\\\\b%')", 'full']);
    const negated = prepareQuery({ where: "BillingCity NOT LIKE 'a%'" }, trusting).plan;
    expect(negated.native).to.equal("(BillingCity != null AND (NOT BillingCity LIKE 'a%'))");
  });

  it('takes for ids only what Salesforce answers as ids', () => {
    // Ids of real records from public error reports.
    for (const id of ['00N00000006ozvuEAA', '00N70000003rWOmEAM', '00N70000003A4KGEA0']) {
      expect([isId(id), checksumOf(id.slice(0, 15))]).to.deep.equal([true, id.slice(15)]);
    }
    expect([ID, ID.toLowerCase(), ID.slice(0, 17), `${ID}A`].map(isId)).to.deep.equal([true, false, false, false]);
  });
});
