import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { DEMO_CONFIGURATION, deliver } from '../../connectors/twilio/simulator.ts';
import { type ApiAnswer, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';

const AUTH_TOKEN = 'the token of the tests';
const FORM = 'application/x-www-form-urlencoded';

/** `0&1&2…`: as many names as bytes allow. */
const names = (count: number) => Array.from({ length: count }, (_, n) => n).join('&');

describe('the members of a request', () => {
  const service = useSharedApp();

  async function open(): Promise<string> {
    const { eventUrl } = await service.createInstance('twilio', {
      simulator: true,
      ...DEMO_CONFIGURATION,
      'auth.token': AUTH_TOKEN,
    });
    return eventUrl;
  }

  async function send(url: string, init: RequestInit): Promise<ApiAnswer> {
    const response = await fetch(url, init);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  }

  function post(url: string, body: string, type = FORM): Promise<ApiAnswer> {
    return send(url, { method: 'POST', headers: { 'content-type': type, 'x-twilio-signature': 'wrong' }, body });
  }

  describe('of a webhook', () => {
    it('are at most 1,000 fields of a form, counted before its signature is looked for', async () => {
      const url = await open();
      for (const type of [FORM, 'application/json', 'text/plain']) {
        expectProblem(await post(url, names(40_000), type), 'PAYLOAD_TOO_LARGE', 'The form has more than 1000 fields.');
      }
      expectProblem(await post(url, '&'.repeat(1_000_000)), 'PAYLOAD_TOO_LARGE', /1000 fields/);
      expectProblem(await post(url, names(1_000)), 'UNAUTHENTICATED', /signature/);
    });

    it('are verified where there are 1,000, names that repeat among them', async () => {
      const url = await open();
      const form: Readonly<Record<string, string>> = {
        MessageSid: 'SM1',
        MessageStatus: 'received',
        ...Object.fromEntries(Array.from({ length: 998 }, (_, n) => [`n${n}`, 'x'])),
      };
      const { headers, body } = deliver({ form } as Parameters<typeof deliver>[0], url, AUTH_TOKEN);
      const response = await send(url, { method: 'POST', headers: { ...headers }, body });
      expect([response.status, response.body]).to.deep.equal([
        200,
        '<?xml version="1.0" encoding="UTF-8"?><Response/>',
      ]);
    });

    it('are at most 20,000 tags of XML, and 1,000 parameters of the address', async () => {
      const url = await open();
      expectProblem(await post(url, `<a>${'<b/>'.repeat(20_000)}</a>`, 'text/xml'), 'PAYLOAD_TOO_LARGE', /20000 tags/);
      const many = 'The query string has more than 1000 parameters.';
      expectProblem(await send(`${url}?${names(1_001)}`, {}), 'REQUEST_INVALID', many);
      expectProblem(await send(`${url}?${names(1_000)}`, {}), 'UNAUTHENTICATED');
    });
  });

  describe('of a query string', () => {
    const MANY = 'The query string has more than 1000 parameters.';

    it('are at most 1,000: none is dropped without a word', async () => {
      // Read by Node's parser alone, the `where` behind them would not be there.
      const query = `${'tags%5B%5D=a&'.repeat(1_000)}where=name='x'`;
      expectProblem(await service.call(`/instances?${query}`), 'REQUEST_INVALID', MANY);
      expectProblem(await service.call(`/instances?${names(9_000)}`), 'REQUEST_INVALID', MANY);
      expect((await service.call(`/instances?${'&'.repeat(999)}pageSize=1`)).status).to.equal(200);
    });

    it('are so for pages without authorization as well', async () => {
      const { origin } = new URL(service.app.baseUrl);
      const paths = ['/oauth/callback', '/oauth/callback?code=x'] as const;
      for (const path of paths) {
        const url = `${origin}${path}${path.includes('?') ? '&' : '?'}${names(1_001)}`;
        expectProblem(await send(url, {}), 'REQUEST_INVALID', MANY);
      }
    });
  });

  it('of a form with a file are at most 1,000 parts, whatever they are', async () => {
    const { token } = await service.createInstance('bamboohr', {
      username: 'demo-key',
      'company.name': 'acme',
      simulator: true,
    });
    const body = `${'--x\r\nx-a: b\r\n\r\n\r\n'.repeat(1_002)}--x--\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const response = await service.send('POST', '/employee-files', body, { token, headers });
    expectProblem(response, 'PAYLOAD_TOO_LARGE', /^The fields of the form are more than 1000/);
  });

  it('are read from a header of blanks at once', async () => {
    const { hostname, port } = new URL(service.app.baseUrl);
    const socket = connect({ host: hostname, port: Number(port) });
    const blanks = ' '.repeat(58_000);
    socket.write(
      `GET /elements/api-v2/elements HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: causeway-session=a${blanks}x\r\n\r\n`,
    );
    const [head] = await once(socket, 'data');
    expect(String(head)).to.match(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });
});
