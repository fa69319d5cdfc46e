const HIDDEN = 'REDACTED';

/** Where a request goes. Of a query nothing is said: filters and keys stand there. */
export function describeTarget({ origin, protocol, hostname, port, search }: URL, path: string) {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return {
    'url.full': `${origin}${path}${search === '' ? '' : `?${HIDDEN}`}`,
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
  };
}
