import { expect } from 'chai';
import type { ApiAnswer, ApiCall, TestApp } from '../../support/app.ts';

/** What the page of a connect session does. */
export interface PageClient {
  /** As `POST /connect/sessions` answered it. */
  readonly session: ApiAnswer['body'];
  /** The end of its URL. */
  readonly key: string;
  readonly call: (path?: string, call?: ApiCall) => Promise<ApiAnswer>;
  readonly connect: (body: object) => Promise<ApiAnswer>;
  /** What the server that made the session is told. */
  readonly read: () => Promise<ApiAnswer['body']>;
}

type Service = Pick<TestApp, 'app' | 'call'>;

/** @param service the page is of; another process of the same service may be its own */
export async function openPage(
  service: Service,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageClient> {
  const { status, body: session } = await service.call('/connect/sessions', { method: 'POST', body, headers });
  expect(status, JSON.stringify(session)).to.equal(200);
  return pageOf(service, session, headers);
}

export function pageOf(
  service: Service,
  session: ApiAnswer['body'],
  headers: Readonly<Record<string, string>> = {},
): PageClient {
  const key = session.url.slice(session.url.lastIndexOf('/') + 1);
  const call = (path = '', more: ApiCall = {}) =>
    service.call(`/connect/session${path}`, { ...more, headers: { ...more.headers, authorization: `Connect ${key}` } });
  return {
    session,
    key,
    call,
    connect: (given) => call('/instance', { method: 'POST', body: given }),
    read: async () => (await service.call(`/connect/sessions/${session.id}`, { headers })).body,
  };
}

/** Whose pages may show the page, and be returned to. */
export const PRODUCT = 'https://app.example.com';

export async function registerOrigins(service: Service, origins: readonly string[] = [PRODUCT]): Promise<void> {
  const response = await service.call('/organizations/me/connect-origins', { method: 'PUT', body: { origins } });
  expect(response.status, JSON.stringify(response.body)).to.equal(200);
}

/** A browser: it keeps cookies of the service, and follows nothing by itself. */
export function createBrowser() {
  const cookies = new Map<string, string>();
  return {
    cookies,
    open: async (url: string, headers: Readonly<Record<string, string>> = {}) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { ...headers, ...(cookie !== '' && { cookie }) },
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
}
