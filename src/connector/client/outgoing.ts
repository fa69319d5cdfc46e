import type { EgressRequest } from '../../egress/index.ts';
import type { ProviderRequest } from '../contract.ts';
import { type Binding, lowerCaseNames } from './binding.ts';

type Headers = Readonly<Record<string, string>>;

/** What of a request stays the same over retries and redirects. */
export interface Outgoing {
  readonly method: NonNullable<EgressRequest['method']>;
  readonly headers: Headers;
  /** For a redirect to another origin. */
  readonly headersWithoutAuth: Headers;
  readonly body: string | undefined;
}

export function prepareOutgoing(binding: Binding, request: ProviderRequest): Outgoing {
  const method = request.method ?? 'GET';
  const { type, body } = encodeBody(request);
  const { headersWithoutAuth } = binding;
  const headers = request.anonymous === true ? headersWithoutAuth : binding.headers;
  if (request.headers === undefined && type === undefined) return { method, headers, headersWithoutAuth, body };
  const own: Headers = { ...(type !== undefined && { 'content-type': type }), ...lowerCaseNames(request.headers) };
  const { authorization: _authorization, cookie: _cookie, ...ownWithoutAuth } = own;
  return {
    method,
    headers: { ...headers, ...own },
    headersWithoutAuth: { ...headersWithoutAuth, ...ownWithoutAuth },
    body,
  };
}

function encodeBody(request: ProviderRequest): { readonly type?: string; readonly body?: string } {
  if (request.json !== undefined) return { type: 'application/json', body: JSON.stringify(request.json) };
  if (request.form === undefined) return {};
  return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(request.form).toString() };
}
