import { expect } from 'chai';
import { addressOf, createProxyTrust, networkOf } from '../../src/http/remote-address.ts';
import { SHOP } from '../api/support/simulated.ts';
import { useApp } from '../support/app.ts';
import { until } from '../support/until.ts';

function addressBehind(networks: readonly string[], remoteAddress: string | undefined, forwarded?: string): string {
  const socket = { remoteAddress } as Parameters<typeof addressOf>[0]['socket'];
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return addressOf({ socket, headers }, createProxyTrust(networks));
}

describe('the address of a caller', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:ffff::/48', '192.0.2.9'];

  for (const [what, peer, forwarded, expected] of [
    ['is the other end of the connection', '198.51.100.1', undefined, '198.51.100.1'],
    ['is not what a stranger says', '198.51.100.1', '203.0.113.1', '198.51.100.1'],
    ['is what a trusted proxy says', '10.1.2.3', '203.0.113.1', '203.0.113.1'],
    ['is the last that trusted proxies wrote', '10.1.2.3', '1.1.1.1, 203.0.113.1, 192.0.2.9', '203.0.113.1'],
    ['is not what stands before it', '10.1.2.3', '10.9.9.9,203.0.113.1', '203.0.113.1'],
    ['is a proxy where it names nobody', '10.1.2.3', '', '10.1.2.3'],
    ['is a proxy where it names nonsense', '10.1.2.3', '203.0.113.1, <script>', '10.1.2.3'],
    ['is the first where all are trusted', '10.1.2.3', '10.0.0.1,10.0.0.2', '10.0.0.1'],
    ['is without a port', '10.1.2.3', '203.0.113.1:4711', '203.0.113.1'],
    ['is without a port in IPv6 too', '10.1.2.3', '[2001:db8::1]:4711', '2001:db8::1'],
    ['is IPv4 where it is mapped into IPv6', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
    ['is trusted where it is mapped into IPv6', '::ffff:10.1.2.3', '203.0.113.1', '203.0.113.1'],
    ['is trusted in IPv6', '2001:db8:ffff::1', '2001:DB8:0::1', '2001:db8::1'],
    ['has no zone', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['is unknown when it is gone', undefined, undefined, 'unknown'],
  ] as const) {
    it(what, () => expect(addressBehind(proxies, peer, forwarded)).to.equal(expected));
  }

  it('is sought through 16 proxies at most', () => {
    const forwarded = ['203.0.113.1', ...Array.from({ length: 30_000 }, () => '10.0.0.1')].join(',');
    expect(addressBehind(proxies, '10.1.2.3', forwarded)).to.equal('10.0.0.1');
  });

  it('counts as itself in IPv4, and as what a customer has in IPv6', () => {
    expect(networkOf('198.51.100.1')).to.equal('198.51.100.1');
    expect(networkOf('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(networkOf('2001:db8:1:2::')).to.equal('2001:db8:1:2::/64');
    expect(networkOf('unknown')).to.equal('unknown');
  });
});

describe('the access log', () => {
  const service = useApp({ TRUST_PROXY: '127.0.0.1' });

  const lineOf = async (response: { readonly headers: Headers }) => {
    const requestId = response.headers.get('elements-request-id') ?? '';
    const find = () => service.logged.find((line) => line.includes(requestId) && line.includes('"msg":"request"'));
    await until(async () => find() !== undefined);
    return JSON.parse(find() ?? '');
  };

  it('names the address and the caller as far as they are known', async () => {
    const instance = await service.createInstance('odata', SHOP);
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const caller = { address: '203.0.113.7', accountId: 1, userId: 1 };
    const query = await lineOf(await service.call('/Products?pageSize=1', { token: instance.token, headers }));
    expect(query).to.include({ ...caller, instanceId: instance.id, status: 200 });
    const platform = await lineOf(await service.call('/elements', { headers }));
    expect(platform).to.include(caller).and.not.to.have.property('instanceId');
    const wrongToken = await lineOf(await service.call('/Products', { token: 'wrong', headers }));
    expect(wrongToken).to.include({ ...caller, status: 401 });
    const nobody = await lineOf(
      await service.call('/elements', { headers: { authorization: 'User x, Organization y' } }),
    );
    expect(nobody).to.include({ address: '127.0.0.1', status: 401 }).and.not.to.have.any.keys('accountId', 'userId');
  });
});
