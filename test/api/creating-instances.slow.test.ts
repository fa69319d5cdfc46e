import { expect } from 'chai';
import bamboohr from '../../connectors/bamboohr/index.ts';
import { markOf } from '../../src/api/element-mark.ts';
import { useApp } from '../support/app.ts';
import { expectFaults, expectProblem, faultsOf } from './support/expect-problem.ts';
import { BAMBOOHR, PRIVATE_SHOP, SHOP } from './support/simulated.ts';
import { countRows } from './support/tenants.ts';

const USERNAME_MISSING =
  "'username' is required: API key of a BambooHR user, from the menu under the name of the user → API Keys. It has the rights of this user.";
const COMPANY_MISSING =
  "'company.name' is required: Name of the company in the address of BambooHR: `acme` for acme.bamboohr.com.";
const UNSTORABLE = 'contains a character that cannot be stored: NUL, or half of a surrogate pair.';

describe('creating instances', () => {
  const service = useApp();

  const create = (element: string, configuration: unknown, more: object = {}) =>
    service.send('POST', '/instances', { element: { key: element }, name: 'x', configuration, ...more });

  describe('with what cannot be', () => {
    after('nothing is stored', async () => {
      expect(await countRows(service, 'instance')).to.equal(0);
    });

    it('answers 404 for an unknown element, with the nearest key', async () => {
      const message = "There is no element 'bambohr'. Did you mean 'bamboohr'?";
      expectProblem(await create('bambohr', {}), 'NOT_FOUND', message);
      expectProblem(await create('__proto__', {}), 'NOT_FOUND', "There is no element '__proto__'.");
      expectProblem(await create('../odata', {}), 'NOT_FOUND', /^There is no element '\.\.\/odata'\./);
    });

    it('names every configuration key that is missing', async () => {
      for (const configuration of [{}, { username: '', 'company.name': null }]) {
        const response = await create('bamboohr', configuration);
        const message = `The configuration of BambooHR: ${USERNAME_MISSING} (and 1 more, see details)`;
        expectFaults(
          response,
          {
            'body.configuration.username': USERNAME_MISSING,
            'body.configuration.company.name': COMPANY_MISSING,
          },
          message,
        );
      }
    });

    it('names every key that is unknown, missing or of the wrong form at once, and no value', async () => {
      const response = await create('bamboohr', {
        usrname: 'confidential-1',
        'company.name': 'confidential two',
        simulator: 'confidential-3',
        constructor: 'confidential-4',
      });
      const message =
        "The configuration of BambooHR: Unknown configuration key 'usrname'. Did you mean 'username'? (and 4 more, see details)";
      expectFaults(
        response,
        {
          'body.configuration.usrname': "Unknown configuration key 'usrname'. Did you mean 'username'?",
          'body.configuration.constructor': "Unknown configuration key 'constructor'.",
          'body.configuration.username': USERNAME_MISSING,
          'body.configuration.company.name': "'company.name' must be a text such as acme.",
          'body.configuration.simulator': "'simulator' must be true or false.",
        },
        message,
      );
      expect(response.body.details[0]).to.deep.include({
        nearest: 'username',
        expected: [
          ...['username', 'company.name', 'simulator', 'filter.response.nulls', 'event.notification.enabled'],
          ...['event.notification.callback.url', 'event.notification.signature.key', 'event.notification.format'],
          ...['event.notification.ordered', 'event.notification.hydrate', 'event.vendor.type'],
          ...['event.poller.refresh_interval', 'event.poller.configuration', 'event.poller.time.zone'],
          ...['event.poller.backfill', 'event.objects'],
        ],
      });
      expect(JSON.stringify(response.body)).not.to.include('confidential');
    });

    it('takes a `__proto__` for the unknown key that it is', async () => {
      const body =
        '{"element":{"key":"odata"},"name":"x","configuration":{"__proto__":{"base.url":"https://a.example"}}}';
      const response = await service.send('POST', '/instances', body);
      expectProblem(response, 'REQUEST_INVALID');
      expect(faultsOf(response)).to.include.keys('body.configuration.__proto__', 'body.configuration.base.url');
    });

    it('names every value of the wrong type', async () => {
      expectFaults(
        await create('odata', {
          'base.url': ['https://shop.example.com'],
          username: { toString: 1, valueOf: 1 },
          password: true,
          'text.binary': [true],
          simulator: 1,
        }),
        {
          'body.configuration.base.url': "'base.url' must be a URL that begins with https:// or http://.",
          'body.configuration.username': "'username' must be a text.",
          'body.configuration.password': "'password' must be a text.",
          'body.configuration.text.binary': "'text.binary' must be true or false.",
          'body.configuration.simulator': "'simulator' must be true or false.",
        },
      );
    });

    for (const url of [
      ...['ftp://a.example', 'https://u:p@a.example', 'shop.example.com', 'https://', 'javascript:alert(1)'],
      'http://a:99999',
    ]) {
      it(`refuses ${url} as an address`, async () => {
        const message = "'base.url' must be a URL that begins with https:// or http://.";
        expectProblem(await create('odata', { 'base.url': url }), 'REQUEST_INVALID', new RegExp(`${message}$`));
      });
    }

    for (const url of ['https://a.example/x?key=1', 'https://a.example/x#y']) {
      it(`refuses ${url} as the beginning of addresses`, async () => {
        const message =
          'The configuration results in no usable address of OData. Correct the address in the configuration.';
        expectProblem(await create('odata', { 'base.url': url }), 'REQUEST_INVALID', message);
      });
    }

    for (const host of ['10.0.0.1', '169.254.169.254', '[::ffff:10.0.0.1]', '0x0a000001', '192.168.1.1:8080']) {
      it(`does not call the private address ${host}`, async () => {
        const response = await create('odata', { 'base.url': `http://${host}/odata` });
        const message =
          /^The call to OData cannot be made: \S+ has an address that is neither public nor allowed here\. Correct the configuration\.$/;
        expectProblem(response, 'REQUEST_INVALID', message);
      });
    }

    it('answers PROVIDER_CREDENTIALS_INVALID for credentials that the provider refuses', async () => {
      const wrongKey = await create('bamboohr', { ...BAMBOOHR, username: 'confidential-key' });
      const message = 'BambooHR rejects these credentials. Check username, company.name. Nothing was stored.';
      expectProblem(wrongKey, 'PROVIDER_CREDENTIALS_INVALID', message);
      expect(wrongKey.body.providerMessage).to.equal('Invalid API key');
      const wrongCompany = await create('bamboohr', { ...BAMBOOHR, 'company.name': 'other' });
      expectProblem(wrongCompany, 'PROVIDER_CREDENTIALS_INVALID', message);
      const wrongPassword = await create('odata', { ...PRIVATE_SHOP, password: 'confidential-word' });
      expectProblem(
        wrongPassword,
        'PROVIDER_CREDENTIALS_INVALID',
        'OData rejects these credentials. Check base.url, username, password. Nothing was stored.',
      );
      expect(JSON.stringify([wrongKey.body, wrongPassword.body])).not.to.include('confidential');
    });

    it('does not take the mask for a secret', async () => {
      const response = await create('bamboohr', { ...BAMBOOHR, username: '********' });
      expectProblem(response, 'PROVIDER_CREDENTIALS_INVALID');
    });

    it('refuses a code for an element without OAuth', async () => {
      const message = 'BambooHR does not use OAuth. Leave out providerData and send its configuration keys.';
      const response = await create('bamboohr', BAMBOOHR, { providerData: { code: 'abc' } });
      expectProblem(response, 'REQUEST_INVALID', message);
    });

    it('refuses names and tags that are blank or too long', async () => {
      const long = 'x'.repeat(256);
      const tooLong = 'must NOT have more than 255 characters';
      for (const name of ['', ' ', '\t\n\u00a0']) {
        expectProblem(await create('odata', SHOP, { name }), 'REQUEST_INVALID', /^body\.name must /);
        expectProblem(await create('odata', SHOP, { tags: ['a', name] }), 'REQUEST_INVALID', /^body\.tags\.1 must /);
      }
      expectProblem(await create('odata', SHOP, { name: long }), 'REQUEST_INVALID', `body.name ${tooLong}.`);
      expectProblem(await create('odata', SHOP, { tags: [long] }), 'REQUEST_INVALID', `body.tags.0 ${tooLong}.`);
      const tags = Array.from({ length: 101 }, (_, index) => `t${index}`);
      const tooMany = 'body.tags must NOT have more than 100 items.';
      expectProblem(await create('odata', SHOP, { tags }), 'REQUEST_INVALID', tooMany);
    });

    it('refuses text that would not come back as it was given', async () => {
      const names = await create('odata', SHOP, { name: 'a\0b', tags: ['fine', '\ud800', '\udc00x'] });
      expectProblem(names, 'REQUEST_INVALID', `body.name ${UNSTORABLE} (and 2 more, see details)`);
      expect(Object.keys(faultsOf(names))).to.deep.equal(['body.name', 'body.tags.1', 'body.tags.2']);
      expectFaults(await create('odata', { ...SHOP, username: 'a\0b', password: 'a\ud800b' }), {
        'body.configuration.username': `body.configuration.username ${UNSTORABLE}`,
        'body.configuration.password': `body.configuration.password ${UNSTORABLE}`,
      });
    });
  });

  describe('as it should be', () => {
    it('answers the record of the contract, with an empty configuration', async () => {
      const { body, status, headers } = await create('bamboohr', BAMBOOHR, { name: 'Payroll', tags: ['emea', 'hr'] });
      expect(status).to.equal(200);
      expect(headers.get('elements-request-id')).to.be.a('string');
      const { id, createdDate, token, element, eventUrl, ...rest } = body;
      expect(eventUrl).to.match(/\/events\/bamboohr\/[\w-]{43}$/);
      expect(id).to.be.a('number');
      expect(new Date(createdDate).toISOString()).to.equal(createdDate);
      expect(token).to.match(/^[A-Za-z0-9_-]{43}$/);
      expect(rest).to.deep.equal({
        name: 'Payroll',
        elementId: 1002,
        tags: ['emea', 'hr'],
        provisionInteractions: [],
        valid: true,
        disabled: false,
        maxCacheSize: 0,
        cacheTimeToLive: 0,
        providerData: {},
        configuration: {},
        eventsEnabled: false,
        eventsNotificationCallbackUrl: 'false',
        traceLoggingEnabled: false,
        cachingEnabled: false,
        externalAuthentication: 'none',
        user: { id: 1, emailAddress: 'admin@localhost', firstName: 'First', lastName: 'User' },
      });
      expect(element).to.deep.equal({
        id: 1002,
        name: 'BambooHR',
        hookName: '',
        key: 'bamboohr',
        description: 'Employees, their files and their time off.',
        image: markOf(bamboohr),
        active: true,
        deleted: false,
        typeOauth: false,
        trialAccount: false,
        resources: [],
        transformationsEnabled: true,
        bulkDownloadEnabled: true,
        bulkUploadEnabled: true,
        cloneable: false,
        extendable: false,
        beta: false,
        authentication: { type: 'basic' },
        extended: false,
        useModelsForMetadata: false,
        hub: 'humancapital',
        protocolType: 'http',
        parameters: [],
        private: false,
      });
      const stored = await service.call(`/instances/${id}`);
      expect(stored.body).to.deep.equal({
        ...body,
        configuration: { username: '********', 'company.name': 'acme', simulator: true },
      });
    });

    it('trims names and tags, drops doubles, and keeps the rest as it is given', async () => {
      const name = '<script>alert("1")</script> & Ünï😀 {{x}} ${y} \' -- %00';
      const { body } = await create('odata', SHOP, { name: ` \t${name}\n `, tags: [' a ', 'a', 'A', '<b>', 'ß '] });
      expect(body).to.deep.include({ name, tags: ['a', 'A', '<b>', 'ß'] });
      const stored = await service.call(`/instances/${body.id}`);
      expect(stored.body).to.deep.include({ name, tags: ['a', 'A', '<b>', 'ß'] });
    });

    it('takes names and tags of 255 characters, counted as people do', async () => {
      const name = '😀'.repeat(255);
      const { body } = await create('odata', SHOP, { name, tags: [name] });
      expect(body).to.deep.include({ name, tags: [name] });
    });

    it('takes the id of an element in place of its key, and settings as text', async () => {
      const { body } = await create('1001', { ...SHOP, simulator: 'true', 'text.binary': 'FALSE'.toLowerCase() });
      expect(body.element.key).to.equal('odata');
      const configuration = await service.get(`/instances/${body.id}/configuration`);
      const defaults = { 'filter.local': false, 'odata.enum': 'service' };
      expect(configuration).to.deep.equal({ ...SHOP, ...defaults, simulator: true, 'text.binary': false });
    });

    it('gives every instance another token and a higher id', async () => {
      const created = await Promise.all(Array.from({ length: 4 }, () => service.createInstance('odata', SHOP)));
      expect(new Set(created.map(({ token }) => token)).size).to.equal(4);
      expect(new Set(created.map(({ id }) => id)).size).to.equal(4);
    });
  });
});
