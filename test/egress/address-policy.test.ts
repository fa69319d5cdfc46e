import { expect } from 'chai';
import { createAddressPolicy, isPublicAddress } from '../../src/egress/address-policy.ts';
import { createEgress, type EgressError, type EgressReason } from '../../src/egress/index.ts';
import { catchError } from './await.ts';

/** Each with what it is. None may be called unless it is allowed by hand. */
const FORBIDDEN_ADDRESSES: Record<string, string> = {
  '0.0.0.0': 'unspecified',
  '0.1.2.3': 'this network',
  '10.0.0.1': 'private',
  '10.255.255.255': 'private, last',
  '100.64.0.1': 'carrier-grade NAT',
  '100.100.100.200': 'metadata of one cloud, in carrier-grade NAT',
  '127.0.0.1': 'loopback',
  '127.255.255.254': 'loopback, last',
  '168.63.129.16': 'platform channel of one cloud, in public space',
  '169.254.169.254': 'metadata',
  '169.254.0.1': 'link-local',
  '172.16.0.1': 'private',
  '172.31.255.255': 'private, last',
  '192.0.0.192': 'metadata of one cloud, in protocol assignments',
  '192.0.2.1': 'documentation',
  '192.88.99.1': '6to4 relay',
  '192.168.1.1': 'private',
  '198.18.0.1': 'benchmarking',
  '198.51.100.7': 'documentation',
  '203.0.113.9': 'documentation',
  '224.0.0.1': 'multicast',
  '239.255.255.250': 'multicast',
  '240.0.0.1': 'reserved',
  '255.255.255.255': 'broadcast',
  '::': 'unspecified',
  '::1': 'loopback',
  '::127.0.0.1': 'IPv4-compatible',
  '::8.8.8.8': 'IPv4-compatible, public',
  '::ffff:127.0.0.1': 'mapped loopback',
  '::ffff:10.0.0.1': 'mapped private',
  '::ffff:a9fe:a9fe': 'mapped metadata',
  '::ffff:0:127.0.0.1': 'translated (SIIT)',
  '64:ff9b::7f00:1': 'NAT64 of loopback',
  '64:ff9b::a9fe:a9fe': 'NAT64 of metadata',
  '64:ff9b:1::a00:1': 'local NAT64',
  '64:ff9b:1::808:808': 'local NAT64 of a public address',
  '100::1': 'discard',
  '2001::1': 'Teredo',
  '2001:0:4136:e378:8000:63bf:f5ff:fffe': 'Teredo of 10.0.0.1',
  '2001:2::1': 'benchmarking',
  '2001:20::1': 'ORCHID',
  '2001:db8::1': 'documentation',
  '2002:7f00:1::': '6to4 of loopback',
  '2002:a9fe:a9fe::1': '6to4 of metadata',
  '3fff::1': 'documentation',
  '4000::1': 'outside global unicast',
  '5f00::1': 'segment routing',
  'fc00::1': 'unique local',
  'fd00:ec2::254': 'metadata',
  'fe80::1': 'link-local',
  'fec0::1': 'site-local',
  'ff02::1': 'multicast',
};

const PUBLIC_ADDRESSES = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80b::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
];

describe('the addresses egress may call', () => {
  for (const [address, what] of Object.entries(FORBIDDEN_ADDRESSES)) {
    it(`refuses ${address} (${what}), as a literal and behind a name`, async () => {
      const literal = address.includes(':') ? `[${address}]` : address;
      expect(await request(`https://${literal}/`, {})).to.equal('refused');
      expect(await request('https://api.example.com/', { 'api.example.com': [address] })).to.equal('refused');
    });
  }

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

/** Written so that only a reader who decodes them sees the address. */
const DISGUISED_URLS: Record<string, EgressReason> = {
  'https://2130706433/': 'refused',
  'https://0x7f000001/': 'refused',
  'https://0x7f.1/': 'refused',
  'https://0177.0.0.1/': 'refused',
  'https://127.1/': 'refused',
  'https://127.0.0.1./': 'refused',
  'https://１２７.０.０.１/': 'refused',
  'https://%31%32%37.0.0.1/': 'refused',
  'https://[::ffff:7f00:1]/': 'refused',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/': 'refused',
  'https://localhost/': 'refused',
  'https://LOCALHOST./': 'refused',
  'https:\\\\127.0.0.1\\': 'refused',
  'https:127.0.0.1': 'refused',
  'https://api.example.com@127.0.0.1/': 'invalid',
  'https://user:password@api.example.com/': 'invalid',
  'https://@user@api.example.com/': 'invalid',
  'https://[fe80::1%25eth0]/': 'invalid',
  'https://api.example.com/\r\nhost: internal': 'invalid',
  'https://api.example.com/a\u0000b': 'invalid',
  'https://api.exa\tmple.com/': 'invalid',
  'https://api.example.com:99999/': 'invalid',
  'https://': 'invalid',
  '//api.example.com/': 'invalid',
  '/relative': 'invalid',
  '': 'invalid',
  'ftp://api.example.com/': 'invalid',
  'file:///etc/passwd': 'invalid',
  'gopher://127.0.0.1:25/': 'invalid',
  'data:text/plain,x': 'invalid',
  'javascript:alert(1)': 'invalid',
  'ws://api.example.com/': 'invalid',
  'unix:/var/run/docker.sock': 'invalid',
  'http+unix://%2Fvar%2Frun%2Fdocker.sock/': 'invalid',
};

const LOCAL_NAMES = { localhost: ['127.0.0.1', '::1'], 'localhost.': ['127.0.0.1'] };

describe('the URLs egress takes', () => {
  for (const [url, reason] of Object.entries(DISGUISED_URLS)) {
    it(`answers ${JSON.stringify(url)} with '${reason}'`, async () => {
      expect(await request(url, LOCAL_NAMES)).to.equal(reason);
    });
  }

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
    return await catchError(egress.request({ url, timeoutMs: 2000 }));
  } finally {
    await egress.close();
  }
}

async function lookUp(names: Record<string, string[]>, hostname: string) {
  const addresses = names[hostname];
  if (addresses === undefined) throw new Error(`ENOTFOUND ${hostname}`);
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}
