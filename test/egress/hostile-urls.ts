import type { EgressReason } from '../../src/egress/index.ts';

/** A URL that must not lead to a connection, and why it does not. */
export interface HostileUrl {
  /** `{port}` stands for one that is listened to on the loopback. */
  readonly url: string;
  readonly reason: EgressReason;
  readonly what: string;
  /** What the resolver answers for the name in it. */
  readonly addresses?: readonly string[];
}

/** Each with what it is. None may be called unless it is allowed by hand, as a literal or behind a name. */
export const HOSTILE_ADDRESSES: Record<string, string> = {
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

type Group = Readonly<Record<string, readonly string[]>>;

const LOOPBACK = ['127.0.0.1', '::1'];
const METADATA = ['169.254.169.254'];

/** Hosts that a URL parser reads as an address which must not be called. */
const ADDRESSES_IN_DISGUISE: Group = {
  'decimal IPv4': ['2130706433', '3232235777', '2852039166', '0', '167772161'],
  'hexadecimal IPv4': ['0x7f000001', '0X7F000001', '0x7F.0x0.0x0.0x1', '0x7f.1', '0xa9fea9fe', '0x0'],
  'octal IPv4': ['0177.0.0.1', '017700000001', '0300.0250.1.1', '0251.0376.0251.0376', '00000177.0.0.1'],
  'mixed bases': ['0x7f.0.0.01', '0251.254.0xa9.254', '0xa.0.0.1'],
  'short IPv4': ['127.1', '127.0.1', '10.1', '192.168.257', '169.254.43518'],
  'a dot at the end': ['127.0.0.1.', '0x7f.1.', '2130706433.'],
  'digits of other scripts that Unicode folds': ['１２７.０.０.１', '①②⑦.⓪.⓪.①', '𝟏𝟐𝟕.𝟎.𝟎.𝟏', '１２７。１'],
  'dots of other scripts': ['127。0。0。1', '127．0．0．1', '127｡0｡0｡1'],
  'characters that vanish': ['127.0.\u00ad0.1', '127\u200b.0.0.1', '\u2060127.0.0.1', '127.0.0.1\ufe0f'],
  'percent-encoding': ['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '%30%78%37%66%2e1', '%EF%BC%91%EF%BC%92%EF%BC%97.1'],
  'IPv6 in other spellings': [
    ...['[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:0000:0000:0001]', '[::0.0.0.1]'],
    ...['[0:0:0:0:0:ffff:127.0.0.1]', '[::FFFF:7F00:1]', '[::ffff:169.254.169.254]', '[64:ff9b::127.0.0.1]'],
    ...['[64:FF9B::169.254.169.254]', '[FD00:EC2::254]', '[FE80:0:0:0::1]'],
  ],
};

/** Hosts that are none. */
const BROKEN_HOSTS: Group = {
  'a number too large': ['4294967296', '256.0.0.1', '127.0.0.256', '0x100000000', '1.2.3.4.5'],
  'no octal number': ['08.0.0.1', '0189.0.0.1'],
  'empty parts': ['127..0.1', '.127.0.0.1'],
  'a zone': ['[fe80::1%25eth0]', '[fe80::1%eth0]', '[::1%25lo]', '[::1%251]'],
  'no IPv6 address': [
    ...['[::1', '::1', '[127.0.0.1]', '[v1.fe80::a]', '[::ffff:0x7f.0.0.1]', '[1:2:3:4:5:6:7:8:9]', '[::1::]', '[]'],
  ],
  'forbidden characters': [
    ...['api.example.com%00', '127.0.0.1%20', '127.0.0.1%09', 'api.example.com%0d%0ahost:x', 'api.example.com%2f'],
    ...['api.example.com%40', 'api<example', 'api|example', 'api^example', 'a b', '\u00ad'],
  ],
};

/** URLs that are not of the form `https://host/`, each with what a sloppy reader makes of it. */
const CONFUSING: Readonly<Record<string, EgressReason>> = {
  'https:\\\\127.0.0.1\\': 'refused',
  'https:\\127.0.0.1': 'refused',
  'https:127.0.0.1': 'refused',
  'https:/127.0.0.1/': 'refused',
  'https:///127.0.0.1/': 'refused',
  'https:////127.0.0.1/': 'refused',
  'https:/\\127.0.0.1/': 'refused',
  'HTTPS://127.0.0.1/': 'refused',
  '  https://127.0.0.1/  ': 'refused',
  'https://127.0.0.1\\@api.example.com/': 'refused',
  'https://127.0.0.1#@api.example.com/': 'refused',
  'https://127.0.0.1?@api.example.com/': 'refused',
  'https://127.0.0.1/@api.example.com/': 'refused',
  'https://127.0.0.1/#https://api.example.com/': 'refused',
  'https://127.0.0.1:{port}/': 'refused',
  'https://[::1]:{port}/': 'refused',
  'https://[::ffff:127.0.0.1]:{port}/': 'refused',
  'http://127.0.0.1:{port}/': 'refused',
  'hTTp://2130706433:{port}/': 'refused',
  'http://0:{port}/': 'refused',
  'http://0.0.0.0:{port}/': 'refused',
  'http://[::]:{port}/': 'refused',
  'http://[::1]:{port}/': 'refused',
  'https://127.0.0.1:0/': 'refused',
  'https://127.0.0.1:00443/': 'refused',
  'https://127.0.0.1:/': 'refused',
  'http://8.8.8.8/': 'refused',
  'http://[2606:4700:4700::1111]/': 'refused',
  'https://api.example.com@127.0.0.1/': 'invalid',
  'https://127.0.0.1@api.example.com/': 'invalid',
  'https://user:password@api.example.com/': 'invalid',
  'https://:password@api.example.com/': 'invalid',
  'https://@user@api.example.com/': 'invalid',
  'https://api.example.com:443@127.0.0.1:{port}/': 'invalid',
  'https://api.example.com%3a443@127.0.0.1/': 'invalid',
  'https://api.example.com/\r\nhost: internal': 'invalid',
  'https://api.example.com/ HTTP/1.1\r\n\r\nGET /': 'invalid',
  'https://api.example.com/?a=\n': 'invalid',
  'https://api.example.com/#\r': 'invalid',
  'https://api.example.com/a\u0000b': 'invalid',
  'https://api.example.com/a\u0085b': 'invalid',
  'https://api.exa\tmple.com/': 'invalid',
  'ht\ntps://127.0.0.1/': 'invalid',
  '\thttps://api.example.com/': 'invalid',
  'https://127.0.0.1/\n': 'invalid',
  'https://api.example.com:99999/': 'invalid',
  'https://api.example.com:65536/': 'invalid',
  'https://api.example.com:-1/': 'invalid',
  'https://api.example.com:80a/': 'invalid',
  'https://api.example.com:0x50/': 'invalid',
  'https://127.0.0.1:{port}:443/': 'invalid',
  'https://': 'invalid',
  'https:///': 'invalid',
  'https://?x': 'invalid',
  'https://:443/': 'invalid',
  'https://@/': 'invalid',
  https: 'invalid',
  '127.0.0.1:{port}': 'invalid',
  'localhost:{port}/': 'invalid',
  '//api.example.com/': 'invalid',
  '\\\\127.0.0.1\\share': 'invalid',
  '/relative': 'invalid',
  '?query': 'invalid',
  '': 'invalid',
  ' ': 'invalid',
};

const OTHER_SCHEMES = [
  ...['ftp://api.example.com/', 'sftp://127.0.0.1/', 'tftp://127.0.0.1:69/x', 'file:///etc/passwd'],
  ...['file://127.0.0.1/etc/passwd', 'gopher://127.0.0.1:25/', 'dict://127.0.0.1:11211/stats', 'ldap://127.0.0.1/'],
  ...['data:text/plain,x', 'javascript:alert(1)', 'blob:https://127.0.0.1/id', 'about:blank'],
  ...['view-source:https://127.0.0.1/', 'jar:https://127.0.0.1/x!/', 'ws://api.example.com/'],
  ...['wss://127.0.0.1:{port}/', 'unix:/var/run/docker.sock', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/'],
  ...['https+x://127.0.0.1/', 'mailto:a@example.com'],
];

/** Names, with what the resolver answers. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: LOOPBACK,
  'LOCALHOST.': LOOPBACK,
  'sub.localhost': LOOPBACK,
  'localhost.localdomain': LOOPBACK,
  'ip6-localhost': ['::1'],
  'lo\u00adcalhost': LOOPBACK,
  ｌｏｃａｌｈｏｓｔ: LOOPBACK,
  'ⓛocalhost': LOOPBACK,
  '%6c%6f%63alhost': LOOPBACK,
  'metadata.google.internal': METADATA,
  'METADATA.google.internal.': METADATA,
  'instance-data': METADATA,
  '127.0.0.1.example.com': ['127.0.0.1'],
  '169-254-169-254.example.com': METADATA,
  '0x7f000001.example.com': ['127.0.0.1'],
  'zero.example.com': ['0.0.0.0'],
  'zero6.example.com': ['::'],
  'mapped.example.com': ['::ffff:169.254.169.254'],
  'nat64.example.com': ['64:ff9b::a00:1'],
  'zoned.example.com': ['fe80::1%eth0'],
  'public-first.example.com': ['8.8.8.8', '127.0.0.1'],
  'public-last.example.com': ['::1', '2606:4700:4700::1111'],
  'one-in-many.example.com': ['8.8.8.8', '1.1.1.1', '9.9.9.9', '10.0.0.1'],
  'no-address.example.com': ['localhost'],
};
const LOCAL_NAMES_WITH_PORT = [
  'https://localhost:{port}/',
  'http://localhost:{port}/',
  'http://public-first.example.com:{port}/',
];

export const HOSTILE_URLS: readonly HostileUrl[] = [
  ...Object.entries(HOSTILE_ADDRESSES).flatMap(([address, what]): HostileUrl[] => [
    { url: `https://${address.includes(':') ? `[${address}]` : address}/`, reason: 'refused', what },
    { url: 'https://api.example.com/', reason: 'refused', what: `${what}, behind a name`, addresses: [address] },
  ]),
  ...inGroups(ADDRESSES_IN_DISGUISE, 'refused'),
  ...inGroups(BROKEN_HOSTS, 'invalid'),
  ...Object.entries(CONFUSING).map(([url, reason]): HostileUrl => ({ url, reason, what: 'confusing' })),
  ...OTHER_SCHEMES.map((url): HostileUrl => ({ url, reason: 'invalid', what: 'another scheme' })),
  ...Object.entries(NAMES).map(
    ([name, addresses]): HostileUrl => ({ url: `https://${name}/`, reason: 'refused', what: 'a name', addresses }),
  ),
  ...LOCAL_NAMES_WITH_PORT.map(
    (url): HostileUrl => ({
      url,
      reason: 'refused',
      what: 'a name of this machine',
      addresses: ['8.8.8.8', ...LOOPBACK],
    }),
  ),
  { url: 'https://١٢٧.٠.٠.١/', reason: 'invalid', what: 'digits of other scripts that Unicode does not fold' },
  // To the parser they are names. Whatever a resolver made of them would be looked at as an address.
  { url: 'https://127.0.0.1../', reason: 'connect', what: 'two dots at the end' },
  { url: 'https://127.0.0.1../', reason: 'refused', what: 'two dots at the end, resolved', addresses: ['127.0.0.1'] },
  { url: 'https://xn--/', reason: 'connect', what: 'an empty name in Punycode' },
  { url: 'https://127.0.0.1.example.com./', reason: 'connect', what: 'a name without an address', addresses: [] },
];

function inGroups(groups: Group, reason: EgressReason): readonly HostileUrl[] {
  return Object.entries(groups).flatMap(([what, hosts]) =>
    hosts.map((host) => ({ url: `https://${host}/`, reason, what })),
  );
}
