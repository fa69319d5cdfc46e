import { matchesHost } from '../src/connector/client/url.ts';
import type { Subject } from './subject.ts';
import { withDefaults } from './testing.ts';

/** Returns the hosts that were called and do not belong to the connector. */
export function findStrangeHosts({ target }: Subject): readonly string[] {
  const { connector, configuration, provider } = target;
  const config = withDefaults(connector, configuration);
  const hosts = typeof connector.hosts === 'function' ? connector.hosts(config) : connector.hosts;
  const seen = new Set((provider?.seen ?? []).flatMap(({ host }) => host ?? []));
  return [...seen]
    .filter((host) => !matchesHost(host, hosts))
    .map((host) => `${host} was called; its hosts are ${hosts}`);
}

/** Minimum length of a secret to search for. A shorter text may occur in responses for other reasons. */
const SHORTEST_SECRET = 6;

/** Returns the places where others can read a secret of the configuration. */
export function findLeaks({ target }: Subject): readonly string[] {
  const { connector, configuration, provider, logged, problems } = target;
  const keys = [...connector.configuration.filter(({ secret }) => secret).map(({ key }) => key), ...OAUTH_SECRETS];
  const secrets = keys.flatMap((key) => {
    const value = configuration[key];
    return typeof value === 'string' && value.length >= SHORTEST_SECRET ? [{ key, value }] : [];
  });
  const sources = {
    'a line of the log': logged,
    'an error': problems,
    'a URL': (provider?.seen ?? []).map(({ target: address }) => address),
  };
  return Object.entries(sources).flatMap(([source, texts]) =>
    secrets
      .filter(({ value }) => texts.some((text) => spellings(value).some((spelling) => text.includes(spelling))))
      .map(({ key }) => `the value of '${key}' occurs in ${source}`),
  );
}

const OAUTH_SECRETS = ['oauth.api.secret', 'oauth.user.token', 'oauth.user.refresh_token'];

/** Returns the spellings of a secret: unchanged, in a URL, and in JSON. */
function spellings(secret: string): readonly string[] {
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)];
}
