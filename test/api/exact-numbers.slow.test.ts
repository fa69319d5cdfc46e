import { expect } from 'chai';
import { pluck, useApp } from '../support/app.ts';
import { type CapServer, startCapServer } from '../support/cap-server.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { createSource, QUICK, useReceiver } from './events/receiving.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';
import { BAMBOOHR, SHOP } from './support/simulated.ts';
import { authorizationOf } from './support/tenants.ts';

const LARGE = '9007199254740993';
const LONG = '0.1234567890123456789';

const METADATA = `<?xml version="1.0"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
  <Schema Namespace="Test" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="Size"><Property Name="height" Type="Edm.Decimal"/></ComplexType>
    <EntityType Name="Item"><Key><PropertyRef Name="id"/></Key>
      <Property Name="id" Type="Edm.Int64" Nullable="false"/>
      <Property Name="price" Type="Edm.Decimal" Precision="15"/>
      <Property Name="weight" Type="Edm.Decimal" Precision="20"/>
      <Property Name="rating" Type="Edm.Double"/>
      <Property Name="counts" Type="Collection(Edm.Int64)"/>
      <Property Name="size" Type="Test.Size"/></EntityType>
    <EntityContainer Name="Container"><EntitySet Name="items" EntityType="Test.Item"/></EntityContainer>
  </Schema></edmx:DataServices></edmx:Edmx>`;

const ITEM = (id: string, weight: string, rating: string) =>
  `{"id":${id},"price":12.50,"weight":${weight},"rating":${rating},"counts":[${id},1],"size":{"height":${weight}}}`;

describe('numbers', () => {
  const service = useApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS }, { engineOptions: QUICK });
  const shop = useInstance(service, 'odata', SHOP);
  /** The answer as its bytes say, before a parser makes doubles of it. */
  const textOf = async (path: string, token: string) => {
    const headers = authorizationOf(service, token);
    return (await fetch(service.app.baseUrl + path, { headers })).text();
  };
  const inShop = (method: string, path: string, body?: string) =>
    service.call(path, { method, token: shop.token, ...(body !== undefined && { body }) });
  const create = (members: string) => inShop('POST', '/Products', `{"Name":"numbers",${members}}`);

  describe('in a body', () => {
    it('are stored with all their digits, as numbers and as the text that they are answered as', async () => {
      for (const [views, weight] of [
        [LARGE, LONG],
        [`"${LARGE}"`, `"${LONG}"`],
        ['9.007199254740993E15', '1234567890123456789e-19'],
      ]) {
        const created = await create(`"Views":${views},"Weight":${weight}`);
        expect(created.body).to.include({ Views: LARGE, Weight: LONG });
        const path = `/Products/${created.body.Id}`;
        expect((await inShop('GET', path)).body).to.include({ Views: LARGE, Weight: LONG });
        const { body } = await inShop('PATCH', path, `{"Views":-${LARGE}}`);
        expect(body).to.include({ Views: `-${LARGE}`, Weight: LONG });
      }
    });

    it('that their field cannot hold are refused, and nothing is stored', async () => {
      const count = async () => (await inShop('GET', '/Products?pageSize=5000&fields=Id')).body.length;
      const before = await count();
      expectFaults(
        await create(
          '"Price":1e400,"Views":9223372036854775808,"Stock":1.5,"Rating":-1e309,"Weight":1e-401,"Package":{"Height":1}',
        ),
        {
          'body.Price': "'Price' is a number of more than 400 digits.",
          'body.Views': "'Views' must be from -9223372036854775808 to 9223372036854775807.",
          'body.Stock': "'Stock' is of type integer: expected a whole number.",
          'body.Rating': "'Rating' must be from -1.7976931348623157e+308 to 1.7976931348623157e+308.",
          'body.Weight': "'Weight' is a number of more than 400 digits.",
        },
      );
      const message = "'Stock' must be from -32768 to 32767.";
      expectProblem(await create('"Stock":9007199254740993'), 'REQUEST_INVALID', message);
      expect(await count()).to.equal(before);
    });

    it('are sent to a provider as the JSON numbers that they are, inside of lists and objects too', async () => {
      const provider = await startItems();
      provider.answer('/items', (response) => {
        response.writeHead(201, { 'content-type': 'application/json' });
        response.end(ITEM('1', '1', '1'));
      });
      const configuration = { 'base.url': provider.url };
      const { token } = await service.createInstance('odata', configuration);
      const sent = async (body: string) => {
        expect((await service.send('POST', '/items', body, { token })).status).to.equal(200);
        return provider.requests.at(-1);
      };
      const short = await sent('{"id":"1","weight":"2.5","rating":1.2345678901234567890,"size":{"height":3}}');
      expect(short?.body).to.equal('{"id":1,"weight":2.5,"rating":1.2345678901234567890,"size":{"height":3}}');
      expect(short?.headers['content-type']).to.equal('application/json');
      const long = await sent(`{"id":1,"counts":[${LARGE},2],"size":{"height":${LONG}}}`);
      expect(long?.body).to.equal(`{"id":"1","counts":["${LARGE}","2"],"size":{"height":"${LONG}"}}`);
      expect(long?.headers['content-type']).to.equal('application/json;IEEE754Compatible=true');
      await provider.close();
    });

    it('that a provider takes as text have all their digits there, and are numbers in the answer', async () => {
      const { token } = await service.createInstance('bamboohr', BAMBOOHR);
      const body = '{"payRate":12345678901234567.89}';
      expect((await service.send('PATCH', '/employees/110', body, { token })).status).to.equal(200);
      expect(await textOf('/employees/110', token)).to.contain('"payRate":12345678901234567.89');
    });

    it('are refused where the specification wants a smaller one', async () => {
      for (const instanceId of [LARGE, '1e400', `1.${'0'.repeat(20)}1`]) {
        const body = `{"instanceId":${instanceId}}`;
        const refused = await service.send('POST', '/events/test', body);
        expectProblem(refused, 'REQUEST_INVALID', 'body.instanceId must be integer.');
      }
    });

    it('in a configuration are texts with all their digits where texts are wanted, and refused elsewhere', async () => {
      const body = (members: string) =>
        `{"element":{"key":"odata"},"name":"Test","configuration":{"base.url":"${SHOP['base.url']}","simulator":true,${members}}}`;
      const created = await service.send('POST', '/instances', body(`"username":${LARGE}`));
      expect(created.status).to.equal(200);
      const { configuration } = await service.get(`/instances/${created.body.id}`);
      expect(configuration.username).to.equal(LARGE);
      const refused = await service.send('POST', '/instances', body(`"text.binary":${LARGE}`));
      expect(faultsOf(refused)).to.deep.equal({
        'body.configuration.text.binary': "'text.binary' must be true or false.",
      });
    });

    it('tell requests with one Idempotency-Key apart, and are in the answer to the repeated one', async () => {
      const post = (views: string) =>
        shop.send('POST', '/Products', `{"Name":"numbers","Views":${views}}`, {
          headers: { 'idempotency-key': 'exact-numbers' },
        });
      const first = await post(LARGE);
      expect(first.body.Views).to.equal(LARGE);
      expect((await post(LARGE)).body).to.deep.equal(first.body);
      expectProblem(await post('9007199254740992'), 'CONFLICT');
    });
  });

  describe('of a provider', () => {
    it('have one JSON type in every row, which the metadata name, and all their digits', async () => {
      const provider = await startItems();
      const rows = [ITEM('1', '2.50', '0.5'), ITEM(LARGE, LONG, '1.2345678901234567890')];
      provider.answer('/items', status(200, { 'content-type': 'application/json' }, `{"value":[${rows}]}`));
      const { token } = await service.createInstance('odata', { 'base.url': provider.url });
      expect(await textOf('/items', token)).to.equal(
        '[{"id":"1","price":12.5,"weight":"2.5","rating":0.5,"counts":["1","1"],"size":{"height":"2.5"}},' +
          `{"id":"${LARGE}","price":12.5,"weight":"${LONG}","rating":1.2345678901234567890,"counts":["${LARGE}","1"],"size":{"height":"${LONG}"}}]`,
      );
      const { fields } = await service.get('/objects/items/metadata', { token });
      const formats = fields.map(({ name, type, format }: Readonly<Record<string, string>>) => [name, type, format]);
      expect(formats).to.deep.equal([
        ['id', 'integer', 'decimal-text'],
        ['price', 'number', undefined],
        ['weight', 'number', 'decimal-text'],
        ['rating', 'number', undefined],
        ['counts', 'array', 'decimal-text'],
        ['size', 'object', undefined],
        ['size.height', 'number', 'decimal-text'],
      ]);
      await provider.close();
    });

    it('are compared by all their digits', async () => {
      const provider = await startItems();
      const near = ['9007199254740992', LARGE, '9007199254740994'];
      const rows = near.map((id, index) => ITEM(id, `${LONG}${index}`, `1.234567890123456789${2 - index}`));
      provider.answer('/items', status(200, { 'content-type': 'application/json' }, `{"value":[${rows}]}`));
      const { token } = await service.createInstance('odata', { 'base.url': provider.url });
      const ids = async (where: string) => {
        const response = await service.call('/items', { token, query: { where, fields: 'id' } });
        return pluck(response.body, 'id');
      };
      expect(await ids(`weight > ${LONG}0 AND weight < ${LONG}2`)).to.deep.equal([LARGE]);
      expect(await ids('rating IN (1.2345678901234567891)')).to.deep.equal([LARGE]);
      await provider.close();
    });

    it('are numbers or text as the field is declared, whatever the provider writes in a row', async () => {
      const provider = await startMisbehavingServer();
      provider.answer('/me', json({}));
      const configuration = { 'base.url': provider.url, 'api.key': 'a-key' };
      const { token } = await service.createInstance('impatient', configuration);
      const rows = `[{"id":1,"name":"one"},{"id":"2","name":2},{"id":${LARGE},"name":${LARGE}}]`;
      provider.answer('/items', status(200, { 'content-type': 'application/json' }, `{"records":${rows}}`));
      expect(await textOf('/items', token)).to.equal(
        `[{"id":1,"name":"one"},{"id":2,"name":"2"},{"id":${LARGE},"name":"${LARGE}"}]`,
      );
      const large = JSON.stringify({
        records: Array.from({ length: 20 }, () => ({ id: 1, name: 'x'.repeat(20_000) })),
      });
      const mixed = large.replace('"id":1', `"id":${LARGE}`);
      provider.answer('/items', status(200, { 'content-type': 'application/json' }, mixed));
      expect(await textOf('/items', token)).to.match(new RegExp(`^\\[\\{"id":${LARGE},.*,\\{"id":1,`));
      await provider.close();
    });

    it('keep their digits on the way into a real OData server and back', async function () {
      this.timeout(60_000);
      const server: CapServer = await startCapServer();
      try {
        const { token } = await service.createInstance('odata', { 'base.url': server.url });
        const body = `{"ID":7001,"title":"numbers","views":${LARGE},"weight":2.50}`;
        const created = await service.send('POST', '/Products', body, { token });
        expect(created.body).to.include({ ID: 7001, views: LARGE, weight: '2.5' });
        const where = `ID = 7001 AND views > 9007199254740992 AND views < 9007199254740994`;
        const found = await service.call('/Products', { token, query: { where, fields: 'ID,views' } });
        expect(found.body).to.deep.equal([{ ID: 7001, views: LARGE }]);
      } finally {
        await server.stop();
      }
    });
  });

  describe('in an event', () => {
    const receiver = useReceiver();

    it('reach its receiver, and whoever looks at its delivery, with all their digits', async () => {
      const url = receiver.open('exact');
      const source = await createSource(service, url);
      const data = `{"large":${LARGE},"list":[1e400,{"long":${LONG}}]}`;
      const body = `{"instanceId":${source.id},"data":${data}}`;
      expect((await service.send('POST', '/events/test', body)).status).to.equal(200);
      const [event] = await receiver.waitFor(url, 1);
      expect(event?.request.body).to.contain(`"object":${data}`);
      const headers = authorizationOf(service);
      const path = '/notifications/subscriptions/deliveries?hydrate=true';
      expect(await (await fetch(service.app.baseUrl + path, { headers })).text()).to.contain(`"object":${data}`);
    });
  });
});

/** An OData service with items that makes JSON numbers of everything, whatever was accepted. */
async function startItems(): Promise<MisbehavingServer> {
  const server = await startMisbehavingServer();
  server.answer('/', json({ value: [] }));
  server.answer('/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
  return server;
}
