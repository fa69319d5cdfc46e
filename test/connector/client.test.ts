import { expect } from 'chai';
import type { Config } from '../../src/connector/contract.ts';
import { expectFailure } from '../support/failures.ts';
import { json, redirect, status } from '../support/misbehaving-server.ts';
import { API_KEY, setUpClient, useClient } from './client-setup.ts';

describe('the provider client', () => {
  const setup = useClient();

  it('sends below the base URL with authentication and the headers of the connector', async () => {
    setup.server.answer('/api/v1/employees', json([{ id: 1 }]));
    const response = await setup.send({ path: '/v1/employees' }, { headers: { 'X-Version': '2' } });
    expect(response).to.deep.include({ status: 200, body: [{ id: 1 }] });
    const [request] = setup.server.requests;
    expect(request?.method).to.equal('GET');
    expect(request?.headers).to.deep.include({
      accept: 'application/json',
      'x-version': '2',
      authorization: `Basic ${Buffer.from(`${API_KEY}:x`).toString('base64')}`,
    });
    expect(request?.headers['user-agent']).to.match(/^Causeway\/\d+\.\d+\.\d+$/);
  });

  it('sends the headers of custom authentication, and none without credentials', async () => {
    setup.server.answer('/api/a', json(1));
    await setup.send({ path: '/a' }, { auth: { type: 'custom', headers: () => ({ 'X-Api-Key': 'abc' }) } });
    await setup.send({ path: '/a' }, { auth: { type: 'basic', credentials: () => undefined } });
    await setup.send({ path: '/a' }, { auth: { type: 'none' } });
    expect(setup.server.requests[0]?.headers['x-api-key']).to.equal('abc');
    expect(setup.server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('works out authentication once per configuration', async () => {
    let workedOut = 0;
    const connector = {
      ...setup.connector,
      auth: { type: 'custom' as const, headers: () => ({ 'x-count': String(++workedOut) }) },
    };
    setup.server.answer('/api/a', json(1));
    const call = { ...setup.call(), connector };
    for (let sent = 0; sent < 3; sent++) await setup.client.send(call, { path: '/a' });
    await setup.client.send({ ...call, config: { ...call.config } }, { path: '/a' });
    expect(workedOut).to.equal(2);
  });

  it('sends a frozen request to the address of each configuration, with its authentication', async () => {
    setup.server.answer('/api/one/a', json(1));
    setup.server.answer('/api/two/a', json(2));
    const base = setup.connector.baseUrl({});
    const connector = { ...setup.connector, baseUrl: ({ place }: Config) => `${base}/${place}` };
    const request = Object.freeze({ path: '/a' });
    const configs = [
      { place: 'one', apiKey: 'key-of-one' },
      { place: 'two', apiKey: 'key-of-two' },
    ] as const;
    for (const config of [...configs, ...configs]) {
      await setup.client.send({ ...setup.call(), connector, config }, request);
      const { url, headers } = setup.server.requests.at(-1) ?? {};
      expect(url).to.equal(`/api/${config.place}/a`);
      expect(headers?.authorization).to.equal(`Basic ${Buffer.from(`${config.apiKey}:x`).toString('base64')}`);
    }
  });

  it('checks the link of a frozen request for each configuration, and sends nothing to another host', async () => {
    setup.server.answer('/api/a', json(1));
    const request = Object.freeze({ url: `${setup.server.url}/api/a` });
    await setup.send(request);
    const hosts = ['elsewhere.example'];
    const connector = { ...setup.connector, baseUrl: () => 'https://elsewhere.example', hosts };
    for (let sent = 0; sent < 2; sent++) {
      const work = setup.client.send({ ...setup.call(), connector, config: {} }, request);
      await expectFailure(work, 'PROVIDER_PROTOCOL', /another host/);
    }
    expect(setup.server.requests).to.have.length(1);
  });

  it('lets a header of the request win, whatever its case', async () => {
    setup.server.answer('/api/a', status(200, { 'content-type': 'text/csv' }, 'id\n1'));
    const response = await setup.send({ path: '/a', headers: { Accept: 'text/csv' } });
    expect(setup.server.requests[0]?.headers.accept).to.equal('text/csv');
    expect(response).to.deep.include({ body: 'id\n1' });
  });

  it('encodes the query and keeps the one that is there', async () => {
    setup.server.answer('/api/a', json(1));
    await setup.send({
      path: '/a?kept=1',
      query: { $filter: "name eq 'O''Neil & Söhne'", ids: ['1', '2'], top: 5, all: true, none: undefined, 'x[y]': '' },
    });
    expect(setup.server.requests[0]?.url).to.equal(
      '/api/a?kept=1&$filter=name%20eq%20%27O%27%27Neil%20%26%20S%C3%B6hne%27&ids=1&ids=2&top=5&all=true&x%5By%5D=',
    );
  });

  it('sends JSON and forms', async () => {
    setup.server.answer('/api/a', json(1));
    await setup.send({ method: 'POST', path: '/a', json: { name: 'Ö' } });
    await setup.send({ method: 'POST', path: '/a', form: { grant_type: 'x y', b: '&' } });
    const [first, second] = setup.server.requests;
    expect(first?.body).to.equal('{"name":"Ö"}');
    expect(first?.headers['content-type']).to.equal('application/json');
    expect(second?.body).to.equal('grant_type=x+y&b=%26');
    expect(second?.headers['content-type']).to.equal('application/x-www-form-urlencoded');
  });

  it('follows a link of an answer, absolute or relative, with a query of its own', async () => {
    setup.server.answer('/api/next', json(1));
    setup.server.answer('/services/next', json(1));
    await setup.send({ url: `${setup.server.url}/api/next?cursor=a%2Bb`, query: { limit: 5 } });
    await setup.send({ url: '/services/next?page=2' });
    await setup.send({ url: 'next?page=3' });
    expect(setup.server.requests.map(({ url }) => url)).to.deep.equal([
      '/api/next?cursor=a%2Bb&limit=5',
      '/services/next?page=2',
      '/api/next?page=3',
    ]);
  });

  it('reads text as text, an empty body as undefined, and JSON with a byte order mark', async () => {
    setup.server.answer('/api/text', status(200, { 'content-type': 'text/plain' }, 'fine'));
    setup.server.answer('/api/empty', status(204));
    setup.server.answer('/api/mark', status(200, { 'content-type': 'application/vnd.api+json' }, '\ufeff{"a":1}'));
    expect(await setup.send({ path: '/text' })).to.deep.include({ body: 'fine' });
    expect(await setup.send({ path: '/empty' })).to.deep.include({ status: 204, body: undefined });
    expect(await setup.send({ path: '/mark' })).to.deep.include({ body: { a: 1 } });
  });

  it('reports every request it sends', async () => {
    setup.server.answer('/api/a', status(503), redirect('/api/b'));
    setup.server.answer('/api/b', json(1));
    await setup.send({ path: '/a' });
    expect(setup.calls()).to.equal(3);
    expect(setup.server.requests).to.have.length(3);
  });

  describe('and the hosts of the connector', () => {
    it('does not follow a link to another host', async () => {
      for (const [url, host] of Object.entries({
        'https://evil.example.com/x?token=abc': 'evil.example.com',
        'http://127.0.0.1:1/': '127.0.0.1:1',
        '//evil.example.com/': 'evil.example.com',
        'https:\\\\evil.example.com\\': 'evil.example.com',
        'file:///etc/passwd': 'file:',
      })) {
        const error = await setup.fail({ url });
        expect(error.code, url).to.equal('PROVIDER_PROTOCOL');
        expect(error.message).to.equal(
          `The response of BambooHR pointed to another host, ${host}, which Causeway does not follow.`,
        );
      }
      expect(setup.server.requests).to.have.length(0);
    });

    it('does not follow a link with credentials or line breaks in it', async () => {
      for (const url of [`http://user@${setup.server.host}/`, `${setup.server.url}/a\r\nx: y`, 'http://[']) {
        const error = await setup.fail({ url });
        expect(error.code, url).to.equal('PROVIDER_PROTOCOL');
        expect(error.message).to.equal('The response of BambooHR contains a link that cannot be followed.');
      }
      expect(setup.server.requests).to.have.length(0);
    });

    it('does not leave TLS for a link', async () => {
      const own = { baseUrl: () => `https://${setup.server.host}` };
      const error = await expectFailure(setup.send({ url: `${setup.server.url}/a` }, own), 'PROVIDER_PROTOCOL');
      expect(error.message).to.contain('an address without TLS');
      expect(setup.server.requests).to.have.length(0);
    });

    it('blames the configuration for a base URL at another host', async () => {
      await expectFailure(
        setup.send({ path: '/a' }, { baseUrl: () => 'https://evil.example.com' }),
        'REQUEST_INVALID',
        'The configuration results in the host evil.example.com, which is not a host of BambooHR. Correct the address in the configuration.',
      );
    });

    it('blames the configuration for a base URL that is none', async () => {
      for (const baseUrl of ['nonsense', 'https://a:b@api.example.com', 'https://api.example.com/?a']) {
        await expectFailure(setup.send({ path: '/a' }, { baseUrl: () => baseUrl }), 'REQUEST_INVALID');
      }
    });

    it('blames the configuration for an address that may not be called', async () => {
      await expectFailure(
        setup.send({ path: '/a' }, { baseUrl: () => 'https://10.0.0.1', hosts: ['10.0.0.1'] }),
        'REQUEST_INVALID',
        'The call to BambooHR cannot be made: 10.0.0.1 has an address that is neither public nor allowed here. Correct the configuration.',
      );
    });

    it('blames the answer for a link that may not be called', async () => {
      await expectFailure(
        setup.send({ url: 'https://10.0.0.1/' }, { hosts: [setup.server.host, '10.0.0.1'] }),
        'PROVIDER_PROTOCOL',
      );
    });
  });

  describe('and redirects', () => {
    it('follows three, with the credentials', async () => {
      for (const hop of [1, 2, 3]) setup.server.answer(`/api/${hop}`, redirect(`/api/${hop + 1}`));
      setup.server.answer('/api/4', json('arrived'));
      expect(await setup.send({ path: '/1' })).to.deep.include({ body: 'arrived' });
      expect(setup.server.requests.every(({ headers }) => headers.authorization !== undefined)).to.equal(true);
    });

    it('ends a loop', async () => {
      setup.server.answer('/api/loop', redirect('/api/loop'));
      await expectFailure(setup.send({ path: '/loop' }), 'PROVIDER_PROTOCOL', 'BambooHR redirected more than 3 times.');
      expect(setup.server.requests).to.have.length(4);
    });

    it('does not follow one to another host', async () => {
      setup.server.answer('/api/away', redirect('https://evil.example.com/?secret=1'));
      const error = await setup.fail({ path: '/away' });
      expect(error.message).to.equal(
        'The response of BambooHR pointed to another host, evil.example.com, which Causeway does not follow.',
      );
    });

    it('does not give the credentials to another origin', async () => {
      const other = await setUpClient();
      other.server.answer('/there', json(1));
      setup.server.answer('/api/away', redirect(`${other.server.url}/there`));
      await setup.send(
        { path: '/away', headers: { Cookie: 'a=b', 'x-kept': '1' } },
        { hosts: [setup.server.host, other.server.host] },
      );
      const headers = other.server.requests[0]?.headers;
      expect(headers).to.not.have.any.keys('authorization', 'cookie');
      expect(headers).to.deep.include({ 'x-kept': '1', accept: 'application/json' });
      await other.close();
    });

    it('does not take a 401 of another origin for refused credentials, as it was shown none', async () => {
      const other = await setUpClient();
      other.server.answer('/there', status(401));
      setup.server.answer('/api/away', redirect(`${other.server.url}/there`));
      await expectFailure(
        setup.send({ path: '/away' }, { hosts: [setup.server.host, other.server.host] }),
        'PROVIDER_PROTOCOL',
        `BambooHR redirected to ${other.server.host}, which requires credentials. Causeway sends them only to ${setup.server.host}, the host of the request.`,
      );
      await other.close();
    });

    it('takes a 401 of the same origin for what it is', async () => {
      setup.server.answer('/api/away', redirect('/api/there'));
      setup.server.answer('/api/there', status(401));
      await expectFailure(setup.send({ path: '/away' }), 'INSTANCE_CREDENTIALS_FAILED');
    });

    it('does not follow one for a POST', async () => {
      setup.server.answer('/api/away', redirect('/api/b', 307));
      await expectFailure(setup.send({ method: 'POST', path: '/away', json: {} }), 'PROVIDER_PROTOCOL');
      expect(setup.server.requests).to.have.length(1);
    });
  });
});
