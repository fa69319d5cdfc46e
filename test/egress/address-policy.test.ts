import { expect } from 'chai';
import { createAddressPolicy, isPublicAddress } from '../../src/egress/address-policy.ts';
import { createEgress, type EgressError, type EgressReason } from '../../src/egress/index.ts';
import { refusalOf } from './await.ts';

const PUBLIC_ADDRESSES = [
  ...['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255'],
  ...['172.32.0.0', '192.167.255.255', '223.255.255.255', '2606:4700:4700::1111', '2a00:1450:4001:80b::200e'],
  ...['::ffff:8.8.8.8', '64:ff9b::808:808'],
];

describe('the addresses egress may call', () => {
  for (const address of PUBLIC_ADDRESSES) {
    it(`takes ${address} for public`, () => {
      expect(isPublicAddress(address)).to.equal(true);
    });
  }

  it('takes nothing for public that is not an address', () => {
    for (const text of ['', 'localhost', '8.8.8', '0x8.8.8.8', '8.8.8.8 ', '1.1.1.1/32']) {
      expect(isPublicAddress(text), text).to.equal(false);
    }
  });

  it('refuses a link-local address with a zone', () => {
    expect(isPublicAddress('fe80::1%eth0')).to.equal(false);
  });
});

describe('the URLs egress takes', () => {
  it('refuses plain http to a public address', async () => {
    const error = await requestError('http://api.example.com/', { 'api.example.com': ['8.8.8.8'] });
    expect(error.reason).to.equal('refused');
    expect(error.message).to.equal('api.example.com may not be called without TLS: use https.');
  });

  it('refuses a name when one of its addresses is not public', async () => {
    for (const addresses of [
      ['8.8.8.8', '127.0.0.1'],
      ['::1', '2606:4700:4700::1111'],
    ]) {
      expect(await request('https://api.example.com/', { 'api.example.com': addresses })).to.equal('refused');
    }
  });

  it('does not tell to which address a name resolves', async () => {
    const error = await requestError('https://api.example.com/', { 'api.example.com': ['10.20.30.40'] });
    expect(error.message).to.equal('api.example.com has an address that is neither public nor allowed here.');
  });

  it('says so when a name cannot be resolved or has no address', async () => {
    expect((await requestError('https://nowhere.example.com/', {})).message).to.equal(
      'The host name nowhere.example.com could not be resolved.',
    );
    expect((await requestError('https://empty.example.com/', { 'empty.example.com': [] })).message).to.equal(
      'The host name empty.example.com has no address.',
    );
  });
});

describe('the list of allowed addresses', () => {
  it('covers networks, addresses and names, however they are written', () => {
    const policy = createAddressPolicy(['10.0.0.0/8', '::1', 'LocalHost.', 'fd12::/16', '192.168.7.7']);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '::1', 'fd12::9', '192.168.7.7']) {
      expect(policy.allowsAddress(address), address).to.equal(true);
    }
    for (const address of ['11.0.0.1', '::2', 'fd13::1', '192.168.7.8', 'localhost']) {
      expect(policy.allowsAddress(address), address).to.equal(false);
    }
    expect(policy.allowsHost('localhost')).to.equal(true);
    expect(policy.allowsHost('localhost.')).to.equal(true);
    expect(policy.allowsHost('sub.localhost')).to.equal(false);
  });

  it('names every entry that is none of them', () => {
    expect(() => createAddressPolicy(['10.0.0.0/33', 'localhost', 'a b', '1.2.3', 'https://x'])).to.throw(
      'Not a CIDR, an address or a host name in the list of allowed addresses: 10.0.0.0/33, a b, 1.2.3, https://x',
    );
  });
});

async function request(url: string, names: Record<string, string[]>): Promise<EgressReason> {
  return (await requestError(url, names)).reason;
}

async function requestError(url: string, names: Record<string, string[]>): Promise<EgressError> {
  const egress = createEgress({ allow: [], lookup: (hostname) => lookUp(names, hostname), connectTimeoutMs: 1000 });
  try {
    return await refusalOf(egress.request({ url, timeoutMs: 2000 }));
  } finally {
    await egress.close();
  }
}

async function lookUp(names: Record<string, string[]>, hostname: string) {
  const addresses = names[hostname];
  if (addresses === undefined) throw new Error(`ENOTFOUND ${hostname}`);
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
