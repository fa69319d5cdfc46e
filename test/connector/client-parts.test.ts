import { expect } from 'chai';
import { judgeRateLimit, readProviderMessage, readRateLimit } from '../../src/connector/client/response.ts';
import { matchesHost } from '../../src/connector/client/url.ts';
import type { Operation } from '../../src/connector/contract.ts';
import { createRedactor } from '../../src/redaction.ts';
import { expectFailure } from '../support/failures.ts';
import { json, status } from '../support/misbehaving-server.ts';
import { START, useClient } from './client-setup.ts';

describe('host patterns', () => {
  it('match a host with its port, or exactly one label', () => {
    const patterns = ['api.example.com', 'api.example.com:8443', '*.Example.org'];
    for (const host of ['api.example.com', 'api.example.com:8443', 'acme.example.org']) {
      expect(matchesHost(host, patterns), host).to.equal(true);
    }
    for (const host of [
      ...['example.com', 'api.example.com:8444', 'xapi.example.com', 'api.example.com.evil.com', 'example.org'],
      ...['.example.org', 'a.b.example.org', 'acme.example.org:444', 'evilexample.org', ''],
    ]) {
      expect(matchesHost(host, patterns), host).to.equal(false);
    }
  });
});

describe('readRateLimit', () => {
  it('reads every spelling', () => {
    for (const prefix of ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-']) {
      const headers = { [`${prefix}limit`]: '100, 100;w=60', [`${prefix}remaining`]: '7', [`${prefix}reset`]: '30.2' };
      expect(readRateLimit(headers, START)).to.deep.equal({ limit: 100, remaining: 7, resetSeconds: 31 });
    }
  });

  it('takes a large reset for a time, in seconds or milliseconds', () => {
    expect(readRateLimit({ 'x-ratelimit-reset': String(START / 1000 + 90) }, START)).to.deep.equal({
      resetSeconds: 90,
    });
    expect(readRateLimit({ 'x-ratelimit-reset': String(START + 1500) }, START)).to.deep.equal({ resetSeconds: 2 });
    expect(readRateLimit({ 'x-ratelimit-reset': String(START / 1000 - 90) }, START)).to.deep.equal({ resetSeconds: 0 });
  });

  it('answers undefined without such headers, or with nonsense in them', () => {
    expect(readRateLimit({ 'x-other': '1' }, START)).to.equal(undefined);
    expect(readRateLimit({ 'ratelimit-limit': 'many', 'ratelimit-reset': '-5' }, START)).to.equal(undefined);
  });
});

describe('judgeRateLimit', () => {
  it('passes on what can be, as whole numbers', () => {
    expect(judgeRateLimit({ limit: 100.9, remaining: 0, resetSeconds: 0.2 })).to.deep.equal({
      limit: 100,
      remaining: 0,
      resetSeconds: 1,
    });
    const longest = 31 * 24 * 3600;
    expect(judgeRateLimit({ resetSeconds: longest })).to.deep.equal({ resetSeconds: longest });
  });

  for (const value of [-5, Number.NaN, Number.POSITIVE_INFINITY, 1e30, undefined]) {
    it(`leaves out ${value}`, () => {
      expect(judgeRateLimit({ limit: value, remaining: value, resetSeconds: value })).to.deep.equal({});
    });
  }
});

describe('readProviderMessage', () => {
  const redactor = createRedactor(['secret']);

  it("finds the provider's words where providers put them", () => {
    for (const body of [
      { error: { message: 'words' } },
      { error: { message: { value: 'words' } } },
      { error: 'code', error_description: 'words' },
      { message: 'words' },
      { errors: [{ message: 'words' }] },
      { errors: [{ detail: 'words' }] },
      { errors: ['words'] },
      [{ message: 'words', errorCode: 'X' }],
      { detail: 'words', title: 'Bad Request' },
      { title: 'words' },
      { error: 'words' },
      'words',
      ' \n words\t',
    ]) {
      expect(readProviderMessage(redactor, body), JSON.stringify(body)).to.equal('words');
    }
  });

  it('finds nothing where there are none, and never shows HTML', () => {
    for (const body of [
      undefined,
      null,
      '',
      5,
      {},
      { message: 5 },
      '<!doctype html><html></html>',
      '<h1>Forbidden</h1>',
      { message: '<p>no</p>' },
    ]) {
      expect(readProviderMessage(redactor, body), JSON.stringify(body)).to.equal(undefined);
    }
  });

  it('redacts before it cuts at 500 characters', () => {
    const message = readProviderMessage(redactor, `${'x'.repeat(496)}secret and more`);
    expect(message).to.equal(`${'x'.repeat(496)}[re…`);
    expect(message).to.have.length(500);
  });
});

describe('execute', () => {
  const setup = useClient();

  beforeEach(async () => {
    setup.server.answer('/api/people/1', json({ person: { name: 'Ada' } }));
  });

  const get: Operation<{ id: string }, string> = {
    request: ({ id }) => ({ path: `/people/${id}` }),
    read: ({ body }, { id }) => {
      const { person } = body as { person: { name: string } };
      return `${id} ${person.name}`;
    },
  };

  it('sends what request builds and answers what read makes of it', async () => {
    expect(await setup.client.execute(get, { id: '1' }, setup.call())).to.equal('1 Ada');
  });

  it('gives run a send of its own', async () => {
    const run: Operation<string, unknown> = {
      run: async ({ send, config }, id) => [
        config.apiKey !== undefined,
        (await send({ path: `/people/${id}` })).status,
      ],
    };
    expect(await setup.client.execute(run, '1', setup.call())).to.deep.equal([true, 200]);
  });

  it('passes the classified failure on from both', async () => {
    const run: Operation<string, unknown> = { run: ({ send }) => send({ path: '/people/2' }) };
    setup.server.answer('/api/people/2', status(401));
    for (const fail of [
      () => setup.client.execute(get, { id: '2' }, setup.call()),
      () => setup.client.execute(run, '2', setup.call()),
    ]) {
      await expectFailure(fail(), 'INSTANCE_CREDENTIALS_FAILED');
    }
  });

  it('calls an answer that the connector cannot read a fault of the protocol', async () => {
    setup.server.answer('/api/people/3', json({ unexpected: true }));
    const run: Operation<string, unknown> = {
      run: async () => {
        throw new TypeError('rows is not iterable');
      },
    };
    for (const fail of [
      () => setup.client.execute(get, { id: '3' }, setup.call()),
      () => setup.client.execute(run, '', setup.call()),
    ]) {
      const error = await expectFailure(
        fail(),
        'PROVIDER_PROTOCOL',
        'Causeway does not understand the response of BambooHR.',
      );
      expect(error.cause).to.be.instanceOf(TypeError);
    }
  });
});
