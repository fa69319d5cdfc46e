import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { endless, json, redirect, resetBeforeAnswer, status } from '../support/misbehaving-server.ts';
import { expectProblem } from './support/expect-problem.ts';
import { API_KEY, BYTES, PDF, useFiling } from './support/filing.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

describe('the file of a record', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const filing = useFiling(service);
  const { get } = filing;

  describe('is answered', () => {
    it('byte for byte with the provider’s type, at both addresses of the record', async () => {
      for (const path of ['/invoices/7', '/hubs/documents/invoices/7']) {
        const response = await get(path, PDF);
        expect(response.status).to.equal(200);
        expect(response.bytes.equals(BYTES), path).to.equal(true);
        expect(response.headers.get('content-type')).to.equal(PDF);
        expect(response.headers.get('content-length')).to.equal(String(BYTES.length));
        expect(response.headers.get('content-disposition')).to.equal(null);
        expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
        expect(response.headers.get('cache-control')).to.equal('no-store');
        expect(response.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
        expect(response.headers.get('elements-request-id')).to.match(/^[0-9a-f-]{36}$/);
        expect(response.headers.get('elements-element-instance-id')).to.equal(String(filing.instance.id));
        expect(response.headers.get('elements-provider-calls')).to.equal('1');
      }
      expectProblem(await get('/hubs/crm/invoices/7', PDF), 'NOT_FOUND');
    });

    it('with 4 MB, packed on its way or not', async () => {
      const large = randomBytes(4 * 1024 * 1024);
      filing.provider.answer(
        '/files/7',
        status(200, { 'content-type': 'video/mp4' }, large),
        status(200, { 'content-type': 'video/mp4', 'content-encoding': 'gzip' }, gzipSync(large, { level: 1 })),
      );
      for (let times = 0; times < 2; times++) {
        const response = await get('/files/7', 'application/octet-stream');
        expect(response.bytes.equals(large)).to.equal(true);
        expect(response.headers.get('content-encoding')).to.equal(null);
        expect(response.headers.get('content-type')).to.equal('video/mp4');
      }
    });

    it('empty when it is empty', async () => {
      filing.provider.answer('/files/7', status(200, { 'content-type': 'text/plain' }));
      const response = await get('/files/7', 'text/plain');
      expect([response.status, response.bytes.length]).to.deep.equal([200, 0]);
    });

    it('with the budget that the provider tells', async () => {
      filing.provider.answer(
        '/files/7',
        status(200, { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '3' }, BYTES),
      );
      const { headers } = await get('/files/7', 'image/*');
      expect([headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]).to.deep.equal(['100', '3']);
    });

    it('with the credentials and the type that was asked for, and without the caller’s other headers', async () => {
      await get('/invoices/7', PDF, { range: 'bytes=0-9', 'if-none-match': '"x"', cookie: 'a=b', 'x-own': '1' });
      const [sent] = filing.provider.requests.filter(({ url }) => url === '/invoices/7');
      expect(sent?.headers).to.include({ accept: PDF, 'x-api-key': API_KEY });
      expect(sent?.headers).not.to.have.any.keys('range', 'if-none-match', 'cookie', 'x-own', 'authorization');
    });

    it('in the type that the caller likes best', async () => {
      await get('/invoices/7', 'application/pdf;q=0.5, application/xml');
      await get('/invoices/7', 'application/pdf;q=0.5, application/xml;q=0.4');
      const sent = filing.provider.requests.filter(({ url }) => url === '/invoices/7');
      expect(sent.map(({ headers }) => headers.accept)).to.deep.equal(['application/xml', PDF]);
    });

    it('whole, whatever range or condition the caller names', async () => {
      const response = await get('/invoices/7', PDF, { range: 'bytes=0-9', 'if-none-match': '*' });
      expect([response.status, response.bytes.length]).to.deep.equal([200, BYTES.length]);
    });

    it('after a failure that passes, and over a redirect of the provider’s', async () => {
      filing.provider.answer(
        '/files/7',
        resetBeforeAnswer,
        status(503, { 'retry-after': '0' }),
        redirect('/elsewhere'),
      );
      filing.provider.answer('/elsewhere', status(200, { 'content-type': 'image/png' }, BYTES));
      const response = await get('/files/7', 'image/png');
      expect([response.status, response.bytes.equals(BYTES)]).to.deep.equal([200, true]);
      expect(response.headers.get('elements-provider-calls')).to.equal('4');
    });
  });

  describe('or the record, as Accept has it:', () => {
    const choices: readonly (readonly [path: string, accept: string, type: string])[] = [
      ['/invoices/7', '', 'application/json'],
      ['/invoices/7', '*/*', 'application/json'],
      ['/invoices/7', 'application/json', 'application/json'],
      ['/invoices/7', 'application/*', 'application/json'],
      ['/invoices/7', 'application/pdf, application/json', 'application/json'],
      ['/invoices/7', 'application/pdf, */*', 'application/json'],
      ['/invoices/7', 'application/pdf;q=0.5, application/json', 'application/json'],
      ['/invoices/7', 'application/pdf, application/json;q=0.9', PDF],
      ['/invoices/7', 'application/pdf, */*;q=0.8', PDF],
      ['/invoices/7', 'APPLICATION/PDF ; Q=1', PDF],
      ['/invoices/7', 'text/html, application/pdf;q=0.1', PDF],
      ['/invoices/7', 'application/pdf;version=1.7', PDF],
      ['/invoices/7', 'application/json;q=0, */*', PDF],
      ['/invoices/7', 'application/json;q=0, application/xml;q=0.1, application/*', PDF],
      ['/invoices/7', 'text/html,application/xhtml+xml,*/*;q=0.8', 'application/json'],
      ['/files/7', '*/*', 'application/json'],
      ['/files/7', 'application/json, image/png;q=0.9', 'application/json'],
      ['/files/7', 'application/vnd.api+json, */*;q=0.9', 'application/json'],
      ['/files/7', 'application/json;q=0, */*', 'image/png'],
      ['/files/7', 'application/octet-stream', 'image/png'],
      ['/files/7', 'image/*, application/json;q=0.9', 'image/png'],
      ['/files/7', 'anything/else', 'image/png'],
      ['/notes/7', 'application/pdf, */*;q=0.1', 'application/json'],
    ];

    for (const [path, accept, type] of choices) {
      it(`${path} with '${accept}' is ${type}`, async () => {
        const response = await get(path, accept);
        expect(response.status, response.bytes.toString()).to.equal(200);
        expect(response.headers.get('content-type')?.split(';')[0]).to.equal(type);
        if (type === 'application/json') expect(response.body).to.deep.equal({ id: 7 });
        else expect(response.bytes.equals(BYTES)).to.equal(true);
      });
    }

    for (const [path, accept, message] of [
      [
        '/notes/7',
        PDF,
        "A record of 'notes' is available as application/json. The Accept header requests 'application/pdf'.",
      ],
      [
        '/invoices/7',
        'image/png',
        "A record of 'invoices' is available as application/json or application/pdf or application/xml. The Accept header requests 'image/png'.",
      ],
      [
        '/files/7',
        'nonsense, application/json;q=0, image/png;q=0, text/plain;q=2',
        "A record of 'files' is available as application/json or any other type. The Accept header requests 'nonsense, application/json;q=0, image/png;q=0, text/plain;q=2'.",
      ],
    ] as const) {
      it(`${path} with '${accept}' is neither, which says what there is`, async () => {
        const response = await get(path, accept);
        expectProblem(response, 'NOT_ACCEPTABLE', message);
        expect(response.body.details[0]).to.include({ path: '/headers/accept' });
        expect(response.body.details[0].expected[0]).to.equal('application/json');
        expect(filing.provider.requests.map(({ url }) => url)).to.deep.equal(['/me']);
      });
    }

    it('an object with files only has no JSON', async () => {
      filing.provider.answer('/scans/7', status(200, { 'content-type': 'image/png' }, BYTES));
      expectProblem(await get('/scans/7', '*/*'), 'OPERATION_UNSUPPORTED');
      expect((await get('/scans/7', 'image/png')).bytes.equals(BYTES)).to.equal(true);
    });

    it('other operations answer JSON and nothing else', async () => {
      for (const path of ['/objects', '/objects/invoices/metadata', '/invoices', '/instances']) {
        const message = 'This path returns JSON. Send Accept: application/json.';
        expectProblem(await get(path, PDF), 'NOT_ACCEPTABLE', message);
      }
    });
  });

  describe('that the provider does not give', () => {
    for (const [what, does, code, calls] of [
      ['a 404', json({ message: 'No such file' }, 404), 'NOT_FOUND', 1],
      ['a 401', json({ message: `Not with ${API_KEY}` }, 401), 'INSTANCE_CREDENTIALS_FAILED', 1],
      ['a 406', json({ message: 'No PDF' }, 406), 'PROVIDER_REJECTED', 1],
      ['a 429', status(429, { 'retry-after': '60' }), 'PROVIDER_RATE_LIMITED', 1],
      ['a 500', html500(), 'PROVIDER_UNAVAILABLE', 1],
      ['a refusal with status 200, as its connector knows', json({ refused: 'Not yet' }), 'PROVIDER_REJECTED', 1],
      ['more than 32 MB', endless(40 * 1024 * 1024, { 'content-type': PDF }), 'PROVIDER_PROTOCOL', 1],
      ['a broken connection', resetBeforeAnswer, 'PROVIDER_UNAVAILABLE', 3],
      ['a redirect to another host', redirect('https://elsewhere.example/x'), 'PROVIDER_PROTOCOL', 1],
    ] as const) {
      it(`is ${code} for ${what}`, async () => {
        filing.provider.answer('/files/7', does);
        const response = await get('/files/7', PDF);
        expectProblem(response, code);
        expect(JSON.stringify(response.body)).not.to.include(API_KEY);
        expect(filing.provider.requests.filter(({ url }) => url === '/files/7')).to.have.length(calls);
      });
    }

    it('makes the instance invalid when its credentials are refused, and a file makes it valid again', async () => {
      const isValid = async () => (await service.get(`/instances/${filing.instance.id}`)).valid;
      filing.provider.answer('/files/7', status(401), status(200, {}, BYTES));
      expectProblem(await get('/files/7', PDF), 'INSTANCE_CREDENTIALS_FAILED');
      expect(await isValid()).to.equal(false);
      expect((await get('/files/7', PDF)).status).to.equal(200);
      expect(await isValid()).to.equal(true);
    });

    it('names the record that is not there', async () => {
      expectProblem(await get('/files/8', PDF), 'NOT_FOUND', "There is no record '8' in 'files'.");
    });

    it('is FORBIDDEN on a disabled instance', async () => {
      await service.send('DELETE', `/instances/${filing.instance.id}/enabled`);
      expectProblem(await get('/files/7', PDF), 'FORBIDDEN');
    });
  });
});

function html500() {
  return status(500, { 'content-type': 'text/html' }, '<html><body>Oops</body></html>');
}
