import { expect } from 'chai';
import { pointer } from '../../src/errors.ts';
import { pluck, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';

describe('what an answer says beside its words', () => {
  const service = useSharedApp();
  const shop = useInstance(service, 'odata', SHOP);
  const people = useInstance(service, 'bamboohr', BAMBOOHR);
  const get = (path: string) => shop.call(path);

  it('is which instance it is about, on refusals too', async () => {
    for (const path of ['/Products/1', '/Nothing', '/Products?limit=1', '/Products?where=x', '/hubs/crm/Products']) {
      expect((await get(path)).headers.get('elements-element-instance-id'), path).to.equal(String(shop.id));
    }
    const wrong = await service.call('/Products', { token: 'wrong' });
    expect(wrong.headers.has('elements-element-instance-id')).to.equal(false);
  });

  it('is where a fault is, as a JSON pointer', async () => {
    const pathsOf = ({ body }: { readonly body: { readonly details: readonly { readonly path: string }[] } }) =>
      body.details.map(({ path }) => path);
    const configuration = { 'base.urls': 'x', 'a/b~c': 1 };
    const body = { element: { key: 'odata' }, name: 'x', configuration };
    expect(pathsOf(await service.send('POST', '/instances', body))).to.have.members([
      '/body/configuration/base.urls',
      '/body/configuration/a~1b~0c',
      '/body/configuration/base.url',
    ]);
    expect(pathsOf(await service.send('POST', '/instances', { nmae: 1 }))).to.include('/body/nmae');
    expect(pathsOf(await service.call('/instances/0x1'))).to.deep.equal(['/path/id']);
    expect(pathsOf(await get('/Products?pageSize=0'))).to.deep.equal(['/query/pageSize']);
    const change = { 'base.urls': 'x' };
    const changed = await service.send('PATCH', `/instances/${shop.id}/configuration`, change);
    expect(pathsOf(changed)).to.deep.equal(['/body/base.urls']);
    const record = { method: 'POST', token: shop.token, body: { Nmae: 'x', Name: 'x' } };
    expect(pathsOf(await service.call('/Products', record))).to.deep.equal(['/body/Nmae']);
    expect(
      pathsOf(await service.call('/Products', { ...record, headers: { 'elements-version': 'x' } })),
    ).to.have.length(1);
    expect(pointer('body', 'a/b', '~')).to.equal('/body/a~1b/~0');
  });

  it('is where a name with a slash or a tilde stands that the specification does not know', async () => {
    const body = { element: { key: 'odata', 'c~d/e': 1 }, name: 'x', configuration: {}, 'a/b~c': 1 };
    const refused = await service.send('POST', '/instances', body);
    const unknown = refused.body.details.filter(({ message }: { message: string }) =>
      message.startsWith('Unknown member '),
    );
    expect(pluck(unknown, 'path')).to.have.members(['/body/a~1b~0c', '/body/element/c~0d~1e']);
    const nested = { element: { key: 'odata', name: 1 }, name: 'x', configuration: {} };
    const [{ path }] = (await service.send('POST', '/instances', nested)).body.details;
    expect(path).to.equal('/body/element/name');
    const query = await get('/Products?a/limit~=1');
    expectProblem(query, 'REQUEST_INVALID', "Unknown query parameter 'a/limit~'.");
    expect(query.body.details).to.deep.equal([
      { path: '/query/a~1limit~0', message: "Unknown query parameter 'a/limit~'." },
    ]);
    const long = 'x/~'.repeat(60);
    const [{ path: cut }] = (await get(`/Products?${long}=1`)).body.details;
    expect(cut).to.equal(pointer('query', long));
  });

  it('is at most fifty faults of whatever kind, of which the last says that there are more', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`unknown${index}`, 1]));
    const instance = { element: { key: 'odata' }, name: 'x', configuration: {} };
    const calls = [
      ['/instances', { method: 'POST', body: { ...instance, ...unknown } }],
      ['/instances', { method: 'POST', body: { ...instance, configuration: unknown } }],
      [`/instances/${shop.id}`, { method: 'PATCH', body: unknown }],
      ['/accounts/settings', { method: 'PATCH', body: unknown }],
      ['/Products', { method: 'POST', token: shop.token, body: unknown }],
      ['/Products/1', { method: 'PATCH', token: shop.token, body: unknown }],
    ] as const;
    for (const [path, call] of calls) {
      const refused = await service.call(path, call);
      expectProblem(refused, 'REQUEST_INVALID', / \(and at least 50 more, see details\)$/);
      expect(refused.body.details, path).to.have.length(50);
      expect(refused.body.details.at(-1), path).to.deep.equal({ message: '… and more.' });
    }
  });

  it('is a place in the body where what others take in the path or the query stands in the body', async () => {
    const explain = { objectName: 'Prodcts', where: 'Id = 1' };
    const unknown = await shop.send('POST', '/query/explain', explain);
    expectProblem(unknown, 'NOT_FOUND', /^OData has no object 'Prodcts'\./);
    expect(unknown.body.details).to.deep.equal([
      { path: '/body/objectName', message: "Unknown object 'Prodcts'. Did you mean 'Products'?", nearest: 'Products' },
    ]);
    const oauth = { apiKey: 'k', apiSecret: 's', callbackUrl: 'nonsense' };
    const place = async (call: object) =>
      pluck((await service.call('/elements/salesforce/oauth/url', call)).body.details, 'path');
    expect(await place({ query: oauth })).to.deep.equal(['/query/callbackUrl']);
    expect(await place({ method: 'POST', body: oauth })).to.deep.equal(['/body/callbackUrl']);
  });

  it('is the field that identifies a record', async () => {
    const identifiers = async (path: string, token: string) => {
      const body = await service.get(path, { token });
      const fields: readonly { readonly name: string; readonly identifier?: boolean }[] = body.fields;
      return fields.filter((field) => 'identifier' in field).map(({ name, identifier }) => [name, identifier]);
    };
    expect(await identifiers('/objects/Products/metadata', shop.token)).to.deep.equal([['Id', true]]);
    expect(await identifiers('/objects/employees/metadata', people.token)).to.deep.equal([['id', true]]);
  });

  it('is that rows have no order by lists and objects', async () => {
    for (const [orderBy, type] of [
      ['Tags', 'array'],
      ['Package', 'object'],
    ]) {
      const response = await get(`/Products?orderBy=Name,${orderBy} desc`);
      const message = `Records cannot be sorted by '${orderBy}', because it is of type ${type}.`;
      expectProblem(response, 'WHERE_INVALID', message);
      expect(response.body.details[0]).to.include({ position: 5, length: orderBy?.length });
    }
  });

  it('is what other APIs write differently', async () => {
    const limit = await get('/Products?limit=5');
    expectProblem(limit, 'REQUEST_INVALID', "Unknown query parameter 'limit'. Did you mean 'pageSize'?");
    expect(limit.body.details[0]).to.include({ path: '/query/limit', nearest: 'pageSize' });
    expectProblem(
      await service.call('/elements/oauthProxies/1/applicationUrls?limit=5'),
      'REQUEST_INVALID',
      "Unknown query parameter 'limit'.",
    );
    const descending = await get('/Products?orderBy=Name, -Price');
    const message = /^The order cannot be read at position 6: Write the direction after the field: 'Price desc'\.$/;
    expectProblem(descending, 'WHERE_SYNTAX', message);
    expect(descending.body.details[0]).to.deep.include({ position: 6, length: 6, expected: ['Price desc'] });
    expectProblem(await get('/Products?orderBy=%2BName'), 'WHERE_SYNTAX', /'Name asc'/);
  });
});
