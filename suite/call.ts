/** A request in a test of a simulator. */
export interface TestCall {
  /** Default: `GET` without a body, `POST` with one. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A body. Objects are sent as JSON. */
  readonly body?: string | FormData | URLSearchParams | object | undefined;
}

/**
 * Sends a request without following redirects. JSON in the response is parsed. Its type is not checked, because tests compare every member
 * that they read.
 */
export async function callProvider(url: string, { body, method = body ? 'POST' : 'GET', headers }: TestCall) {
  const isSent = typeof body === 'string' || body instanceof FormData || body instanceof URLSearchParams;
  const type = isSent || body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: isSent ? body : JSON.stringify(body) };
  const response = await fetch(url, { method, redirect: 'manual', headers: { ...type, ...headers }, ...sent });
  const text = await response.text();
  const location = new URL(response.headers.get('location') ?? url, url);
  const parsed = /^[{[]/.test(text) ? JSON.parse(text) : {};
  return { status: response.status, headers: response.headers, location, text, body: parsed };
}
