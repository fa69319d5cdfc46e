import type { ProviderRequest } from '../contract.ts';

type Query = NonNullable<ProviderRequest['query']>;

/** `a=1&b=x%20y`: blanks as %20, an array repeats its key, `undefined` is left out. */
function encodeQuery(query: Query): string {
  return Object.entries(query)
    .flatMap(([key, value]) => encodeParameter(key, value))
    .join('&');
}

function encodeParameter(key: string, value: Query[string]): string[] {
  if (value === undefined) return [];
  const values = typeof value === 'object' ? value : [value];
  return values.map((single) => `${encodeKey(key)}=${encodeURIComponent(single)}`);
}

/** OData options ($filter) keep their dollar sign: not every server decodes it in a name. */
function encodeKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%24', '$');
}

/** Adds the query to a URL or path that may have one already. */
export function appendQuery(url: string, query: Query | undefined): string {
  const encoded = query === undefined ? '' : encodeQuery(query);
  if (encoded === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${encoded}`;
}
