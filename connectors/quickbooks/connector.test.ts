import { expect } from 'chai';
import type { Config, ProviderResponse } from '#connector';
import { objectOf } from '#connector/testing';
import { prepareQuery } from '../../src/where/index.ts';
import quickbooks from './index.ts';
import { OBJECTS } from './objects.ts';

/** Returns the statements for QuickBooks in their order, without their common parts. */
function asked(name: string, where: string): readonly unknown[] {
  const object = objectOf(OBJECTS, name);
  const { plan } = prepareQuery({ where }, object);
  return (plan.queries ?? [plan]).map(({ native }) => {
    if (object.list === undefined || !('request' in object.list)) throw new Error('Two halves were expected.');
    const input = {
      parameters: {},
      fields: [],
      orderBy: [],
      limit: 5,
      ...(native !== undefined && { filter: native }),
    };
    const statement = String(object.list.request(input, {}).query?.query);
    return /^SELECT \* FROM \w+ (?:WHERE )?(.*?) ?ORDERBY Id ASC STARTPOSITION 1 MAXRESULTS 6$/.exec(statement)?.[1];
  });
}

const BOTH = 'Active IN (true, false)';

describe('QuickBooks Online', () => {
  it('asks for inactive records, too, unless the filter says which', () => {
    expect(asked('invoices', 'DueDate IS NULL')).to.deep.equal(['']);
    expect(asked('customers', 'Balance > 1.5')).to.deep.equal([`Balance > '1.5' AND ${BOTH}`]);
    expect(asked('customers', "DisplayName = 'Active = '")).to.deep.equal([`DisplayName = 'Active = ' AND ${BOTH}`]);
    expect(asked('customers', 'Active = TRUE AND Balance > 1')).to.deep.equal(["Active = true AND Balance > '1'"]);
  });

  it('asks for instants by whole seconds and an offset, and for references by the name of the whole', () => {
    expect(asked('bills', "MetaData.LastUpdatedTime > '2026-01-31T10:00:00.5+02:00'")).to.deep.equal([
      "MetaData.LastUpdatedTime >= '2026-01-31T08:00:01+00:00'",
    ]);
    expect(asked('bills', "VendorRef.value IN ('7', '007', '8') AND TxnDate <= '2026-01-31'")).to.deep.equal([
      "VendorRef IN ('7', '8') AND TxnDate <= '2026-01-31'",
    ]);
    expect(asked('customers', "PrimaryEmailAddr.Address = 'a@example.com'")).to.deep.equal([
      `PrimaryEmailAddr = 'a@example.com' AND ${BOTH}`,
    ]);
  });

  it('lets no text become syntax, and asks for none that QuickBooks might misread', () => {
    expect(asked('items', "Name LIKE 'O''Neil_%'")).to.deep.equal([`Name LIKE 'O\\'Neil%%' AND ${BOTH}`]);
    expect(asked('items', "Name LIKE '_ł%a\\\\b'")).to.deep.equal([`Name LIKE '%%%a%b' AND ${BOTH}`]);
    for (const odd of ['Włodarski', 'it’s', 'a\\b', 'a\tb', "\\'' OR Id > ''0"]) {
      expect(asked('items', `Name = '${odd}' AND Sku = 'x'`), odd).to.deep.equal([`Sku = 'x' AND ${BOTH}`]);
    }
  });

  it('leads to production or to the sandbox, and to one company', () => {
    const { auth, baseUrl, hosts } = quickbooks;
    const addressesOf = (config: Config) => [baseUrl(config), typeof hosts === 'function' && hosts(config)[2]];
    expect(addressesOf({ realmId: '1', 'quickbooks.sandbox': true })).to.deep.equal([
      'https://sandbox-quickbooks.api.intuit.com/v3/company/1',
      'sandbox-quickbooks.api.intuit.com',
    ]);
    expect(addressesOf({ realmId: '1' })).to.deep.equal([
      'https://quickbooks.api.intuit.com/v3/company/1',
      'quickbooks.api.intuit.com',
    ]);
    expect(auth.type === 'oauth2' && auth.values?.realmId?.from).to.equal('callback');
  });

  it('finds failures under either spelling, and in an answer of 200', () => {
    const judge = (status: number, body: object) => {
      const response: ProviderResponse = { status, headers: {}, body };
      return quickbooks.classify?.(response);
    };
    const fault = (code: string) => ({ Fault: { Error: [{ Message: 'No', Detail: 'No : Really', code }] } });
    expect(judge(200, fault('5010'))).to.deep.equal({
      kind: 'conflict',
      message: 'No : Really (QuickBooks error 5010)',
    });
    expect(judge(400, fault('610'))).to.include({ kind: 'notFound' });
    expect(judge(403, fault('003001'))).to.include({ kind: 'rateLimited' });
    const small = { fault: { error: [{ message: 'Refused', detail: 'Token expired', code: '3200' }] } };
    expect(judge(401, small)).to.deep.equal({
      kind: 'credentials',
      message: 'Refused: Token expired (QuickBooks error 3200)',
    });
    // Users of node-quickbooks, qbo_api and others recorded these errors.
    const ended = { message: 'message=ApplicationAuthorizationFailed; errorCode=003100; statusCode=403', detail: null };
    expect(judge(403, { fault: { error: [{ ...ended, code: '3100' }], type: 'SERVICE' } })).to.include({
      kind: 'credentials',
    });
    expect(judge(200, { QueryResponse: {} })).to.equal(undefined);
  });
});
