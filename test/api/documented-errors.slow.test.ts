import { expect } from 'chai';
import { type ApiCall, useApp } from '../support/app.ts';
import { until } from '../support/until.ts';
import { exampleNamed, exampleNamesOf } from './support/documented-calls.ts';
import { SHOP } from './support/simulated.ts';

/** The calls that get the errors which the document shows, by the name of the example. */
const CALLS: Readonly<Record<string, readonly [path: string, call: ApiCall]>> = {
  requestInvalid: ['/instances?pagesize=1', {}],
  bodyInvalid: [
    '/instances',
    { method: 'POST', body: { element: { key: 'odata' }, configuration: SHOP, name: 'Shop', tagz: ['shop'] } },
  ],
  whereSyntax: ['/Orders?where=Code%20%3D', { token: 'shop' }],
  whereInvalid: ["/Orders?where=Coed%20%3D%20'A-1'", { token: 'shop' }],
  whereUnsupported: [
    "/Orders?where=Code%20%3D%20'A-1'",
    { token: 'shop', headers: { 'Elements-Query-Mode': 'pushdown-only' } },
  ],
  providerCredentialsInvalid: [
    '/instances',
    {
      method: 'POST',
      body: {
        element: { key: 'bamboohr' },
        name: 'BambooHR',
        configuration: { username: 'old-key', 'company.name': 'acme', simulator: true },
      },
    },
  ],
  unauthenticated: ['/instances', { headers: { Authorization: 'nonsense' } }],
  forbidden: ['/Orders', { token: 'disabled' }],
  notFound: ['/objects/Order/metadata', { token: 'shop' }],
  operationUnsupported: ['/Countries/DE', { method: 'DELETE', token: 'shop' }],
  notAcceptable: ['/instances', { headers: { Accept: 'text/csv' } }],
  conflict: [
    '/accounts/settings',
    { method: 'POST', body: { 'notification.webhook.retry.count': 9 }, headers: { 'Idempotency-Key': 'one' } },
  ],
  payloadTooLarge: ['/instances', { method: 'POST', body: { name: 'x'.repeat(300_000) } }],
  rangeNotSatisfiable: ['/bulk/1/Orders', { token: 'shop', headers: { Range: 'bytes=11-' } }],
  unsupportedMediaType: [
    '/instances',
    { method: 'POST', body: '<instance/>', headers: { 'Content-Type': 'text/xml' } },
  ],
  providerRejected: ['/Orders', { method: 'POST', body: { Code: 'C-1', CustomerId: '7', Paid: true }, token: 'shop' }],
};

/** Those that need trouble at a provider or in the service; other tests make it. */
const OF_TROUBLE = [
  ...['instanceCredentialsFailed', 'rateLimited', 'providerRateLimited', 'internal', 'providerUnavailable'],
  ...['transformationFailed', 'formulaFailed', 'formulaTimeout'],
  ...['providerProtocol', 'overloaded', 'providerTimeout', 'requestTimeout', 'headersTooLarge'],
];

describe('the errors that the reference shows', () => {
  const service = useApp();
  const tokens: Record<string, string> = {};

  before(async () => {
    const shop = await service.createInstance('odata', SHOP);
    const disabled = await service.createInstance('odata', SHOP);
    await service.send('DELETE', `/instances/${disabled.id}/enabled`);
    const body = { 'notification.webhook.retry.count': 5 };
    await service.send('POST', '/accounts/settings', body, { headers: { 'Idempotency-Key': 'one' } });
    Object.assign(tokens, { shop: shop.token, disabled: disabled.token });
    const query = { objectName: 'Orders', where: "Code = 'A-1'", fields: 'Code' };
    await service.send('POST', '/bulk/query', query, { token: shop.token });
    await until(async () => {
      const { body: job } = await service.call('/bulk/1/status', { token: shop.token });
      return job.status === 'COMPLETED';
    });
  });

  it('are all tried here, or need trouble', () => {
    expect([...Object.keys(CALLS), ...OF_TROUBLE]).to.have.members([...exampleNamesOf('ErrorResponse')]);
  });

  for (const [name, [path, call]] of Object.entries(CALLS)) {
    it(`are answered as shown: ${name}`, async () => {
      const { token } = call;
      const { body } = await service.call(path, token === undefined ? call : { ...call, token: tokens[token] ?? '' });
      const { requestId, ...shown } = Object(exampleNamed(name));
      expect(requestId).to.be.a('string');
      expect(body).to.deep.equal({ requestId: body.requestId, ...shown });
    });
  }
});
