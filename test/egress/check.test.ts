import { expect } from 'chai';
import { type AddressLookup, createEgress, type Egress, type EgressOptions } from '../../src/egress/index.ts';
import { useMisbehavingServer } from '../support/misbehaving-server.ts';
import { refusalOf } from './await.ts';

const never: AddressLookup = () => new Promise(() => undefined);

describe('a URL that egress checks without calling it', () => {
  const server = useMisbehavingServer({ lifetime: 'test' });
  let egress: Egress;

  afterEach(async () => {
    await egress.close();
    expect(server.connections(), 'connections').to.equal(0);
  });

  const check = (url: string, options: Partial<EgressOptions> = {}, signal?: AbortSignal) => {
    egress = createEgress({ allow: [], ...options });
    return egress.check(url, signal);
  };

  it('may be called when its address is public or allowed', async () => {
    await check('https://8.8.8.8/hook');
    await check('https://[2606:4700:4700::1111]/');
    await check('https://api.example.com/', { lookup: lookUp('8.8.8.8') });
    await check(server.url, { allow: ['127.0.0.0/8'] });
    await check('http://internal.example.com/', { allow: ['internal.example.com'], lookup: lookUp('10.0.0.1') });
  });

  it('is refused when one of its addresses is not', async () => {
    expect((await refusalOf(check(server.url.replace('http:', 'https:')))).reason).to.equal('refused');
    const error = await refusalOf(check('https://api.example.com/', { lookup: lookUp('8.8.8.8', '10.0.0.1') }));
    expect(error.reason).to.equal('refused');
    expect(error.message).to.equal('api.example.com has an address that is neither public nor allowed here.');
  });

  it('is refused without TLS', async () => {
    expect((await refusalOf(check('http://8.8.8.8/'))).message).to.equal(
      '8.8.8.8 may not be called without TLS: use https.',
    );
  });

  it('must be an absolute URL of a protocol for calls', async () => {
    for (const url of ['/hook', 'ftp://8.8.8.8/', 'https://user@8.8.8.8/', 'https://8.8.8.8/\n']) {
      expect((await refusalOf(check(url))).reason, url).to.equal('invalid');
    }
  });

  it('must have an address', async () => {
    for (const lookup of [lookUp(), () => Promise.reject(new Error('ENOTFOUND'))]) {
      expect((await refusalOf(check('https://nowhere.example.com/', { lookup }))).reason).to.equal('connect');
    }
  });

  it('is not waited for without end', async () => {
    const error = await refusalOf(check('https://slow.example.com/', { lookup: never, connectTimeoutMs: 20 }));
    expect(error.reason).to.equal('connect');
    expect(error.message).to.equal('The host name slow.example.com could not be resolved in time.');
  });

  it('is given up when the signal aborts, before or meanwhile', async () => {
    const controller = new AbortController();
    const checked = refusalOf(check('https://slow.example.com/', { lookup: never }, controller.signal));
    controller.abort();
    expect((await checked).reason).to.equal('aborted');
    expect((await refusalOf(check('https://8.8.8.8/', {}, AbortSignal.abort()))).reason).to.equal('aborted');
  });
});

function lookUp(...addresses: string[]): AddressLookup {
  return async () => addresses.map((address) => ({ address, family: 4 }));
}
