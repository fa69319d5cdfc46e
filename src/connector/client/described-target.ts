const HIDDEN = 'REDACTED';

/** Describes the target of a request for logs and traces. It hides the query, because filters and keys are in it. */
export function describeTarget({ origin, protocol, hostname, port, search }: URL, path: string) {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return {
    'url.full': `${origin}${path}${search === '' ? '' : `?${HIDDEN}`}`,
    'server.address': hostname,
    'server.port': port === '' ? usualPort : Number(port),
  };
}
