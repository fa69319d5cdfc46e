import type { ApiAnswer, TestApp } from '../../support/app.ts';
import { json, type MisbehavingServer, startMisbehavingServer, status } from '../../support/misbehaving-server.ts';

export const API_KEY = 'the-key-of-the-files';
export const PDF = 'application/pdf';

/** Every byte there is, and sequences that are no UTF-8. */
export const BYTES = Buffer.concat([
  Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  Buffer.from('c328ff00efbbbf', 'hex'),
]);

export interface FileAnswer extends ApiAnswer {
  readonly bytes: Buffer;
}

export interface Filing {
  readonly provider: MisbehavingServer;
  readonly instance: { readonly id: number; readonly token: string };
  readonly get: (path: string, accept: string, headers?: Readonly<Record<string, string>>) => Promise<FileAnswer>;
}

/** An instance of the connector `filing` and its provider, new for each test: record 7 of each object, and its file. */
export function useFiling(service: TestApp): Filing {
  let provider: MisbehavingServer;
  let instance: Filing['instance'];

  beforeEach(async () => {
    provider = await startMisbehavingServer();
    provider.answer('/me', json({}));
    provider.answer('/invoices/7', (response, request) => {
      const wantsPdf = request.headers.accept === PDF;
      (wantsPdf ? status(200, { 'content-type': PDF }, BYTES) : json({ id: 7 }))(response, request);
    });
    provider.answer('/files/7', status(200, { 'content-type': 'image/png' }, BYTES));
    provider.answer('/files/7/info', json({ id: 7 }));
    provider.answer('/notes/7', json({ id: 7 }));
    instance = await service.createInstance('filing', { 'base.url': provider.url, 'api.key': API_KEY });
  });
  afterEach(() => provider.close());

  const filing: Filing = {
    get provider() {
      return provider;
    },
    get instance() {
      return instance;
    },
    get: async (path, accept, headers = {}) => {
      const authorization = `User ${service.userSecret}, Element ${filing.instance.token}`;
      const response = await fetch(service.app.baseUrl + path, { headers: { authorization, accept, ...headers } });
      const bytes = Buffer.from(await response.arrayBuffer());
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      const body = isJson ? JSON.parse(bytes.toString()) : undefined;
      return { status: response.status, headers: response.headers, bytes, body };
    },
  };
  return filing;
}
