import { expect } from 'chai';
import { type ServedSimulator, serveSimulator } from '#connector/testing';
import { createSimulator } from './simulator.ts';

describe('The OData simulator', () => {
  let simulator: ServedSimulator;

  beforeEach(async () => {
    simulator = await serveSimulator('odata', () => createSimulator({ baseUrl: 'http://127.0.0.1:8081/odata' }));
  });

  afterEach(() => simulator.stop());

  // biome-ignore lint/suspicious/noExplicitAny: the tests compare every member that they read.
  const call = (path: string, init?: RequestInit) => simulator.call<any>(`/odata/v4/shop/${path}`, init);

  const REFUSED: readonly (readonly [string, number, RegExp])[] = [
    ['Nothing', 404, /Nothing/],
    ['Products?$filter=Nothing eq 1', 400, /property named 'Nothing'/],
    ['Products?$filter=Name eq', 400, /not valid/],
    ["Products?$filter=Name eq 'a' 'b'", 400, /not valid/],
    ["Products?$filter=Stock eq '1'", 400, /Incompatible types: number and text/],
    ['Products?$filter=Name eq 1', 400, /Incompatible types: text and number/],
    ["Products?$filter=Category eq Demo.Category'Nothing'", 400, /enumeration member/],
    ['Products?$filter=nothing(Name)', 400, /not valid/],
    ['Products?$orderby=Nothing', 400, /Nothing/],
    ['Products?$select=Nothing', 400, /Nothing/],
    ['Products?$top=-1', 400, /\$top/],
    ['Products?$nothing=1', 400, /\$nothing/],
    ['Products(abc)', 400, /abc/],
    ['Products(9999)', 404, /no such entity/],
    ['Orders(1)', 400, /Edm.String/],
    ['Products(1)/Nothing', 404, /Nothing/],
  ];
  for (const [path, status, message] of REFUSED) {
    it(`answers ${path} with ${status}`, async () => {
      const response = await call(path);
      expect(response.status).to.equal(status);
      expect(response.body.error.code).to.equal(String(status));
      expect(response.body.error.message).to.match(message);
    });
  }

  it('follows the null rules of OData, not those of SQL', async () => {
    const count = async (filter: string) =>
      (await call(`Products?$count=true&$top=0&$filter=${filter}`)).body['@odata.count'];
    const nulls = await count('Stock eq null');
    expect(nulls).to.be.above(0);
    expect(await count('Stock ne 5')).to.equal(240 - (await count('Stock eq 5')));
    expect(await count('not (Stock lt 5)')).to.equal(240 - (await count('Stock lt 5')));
    expect(await count("not contains(Description,'good')")).to.be.below(
      240 - (await count("contains(Description,'good')")),
    );
  });

  it('pages when it is asked to, with links to where the client meant to go', async () => {
    const prefer = { prefer: 'odata.maxpagesize=100' };
    const own = await call('Products?$filter=Id gt 50', { headers: prefer });
    expect(own.body['@odata.nextLink']).to.match(
      /^http:\/\/127\.0\.0\.1:8081\/odata\/odata\/v4\/shop\/Products\?.*skiptoken=100$/,
    );
    const forwarded = { ...prefer, forwarded: 'host="demo.example.com:444"' };
    const theirs = await call('Products?$filter=Id gt 50', { headers: forwarded });
    expect(theirs.body['@odata.nextLink']).to.match(/^https:\/\/demo\.example\.com:444\/odata\/v4\/shop\/Products\?/);
  });

  it('writes 64-bit and decimal numbers as text only when it is asked to', async () => {
    const plain = await call('Products(2)?$select=Price,Views');
    expect(plain.body).to.include({ Price: 37.35, Views: 9007199254740991 });
    const accept = 'application/json;IEEE754Compatible=true';
    const compatible = await call('Products(2)?$select=Price,Views', { headers: { accept } });
    expect(compatible.body).to.include({ Price: '37.35', Views: '9007199254740991' });
  });

  it('demands If-Match where a set is guarded', async () => {
    const headers = { 'content-type': 'application/json' };
    const change = { method: 'PATCH', headers, body: '{"Paid":true}' };
    expect(await call("Orders('A-1')", change)).to.have.property('status', 428);
    const guarded = { ...change, headers: { ...headers, 'if-match': '*' } };
    expect(await call("Orders('A-1')", guarded)).to.have.property('status', 200);
  });

  it('refuses what does not fit the type, a second record with a key, and changes of what is read-only', async () => {
    const post = (set: string, body: unknown) =>
      call(set, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    expect(await post('Products', { Name: 'x', Stock: 'many' })).to.have.property('status', 400);
    expect(await post('Products', { Name: 'x', Nothing: 1 })).to.have.property('status', 400);
    expect(await post('Products', {})).to.have.property('status', 400);
    expect(await post('Products', { Name: 'x', Views: '12' })).to.have.property('status', 400);
    expect(await post('Products', { Name: 'x', Id: 1 })).to.have.property('status', 409);
    expect(await post('Countries', { Code: 'XX' })).to.have.property('status', 405);
    expect(await post('Products', { Name: 'x' })).to.have.property('status', 201);
  });
});
