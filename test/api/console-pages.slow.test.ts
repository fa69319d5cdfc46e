import { expect } from 'chai';
import { useApp, useSharedApp } from '../support/app.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describe('the pages of the console', () => {
  const service = useSharedApp();
  const get = (path: string, init: RequestInit = {}) => fetch(service.app.url + path, init);

  for (const path of ['/console', '/console/instances', '/console/explore/5/Orders', '/console/no-such-page']) {
    it(`are at ${path}, in no frame, and may use what is theirs alone`, async () => {
      const { status, headers } = await get(path);
      expect(status).to.equal(200);
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(headers.get('content-security-policy')).to.equal(POLICY);
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin-allow-popups');
    });
  }

  it('have nothing inline, and nothing of another host', async () => {
    const html = await (await get('/console')).text();
    expect(html).to.not.match(/<style|style=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url]) => url);
    expect(links.filter((url) => !url?.startsWith('/console/assets/') && url !== 'data:,')).to.deep.equal([]);
    for (const url of links.filter((each) => each?.startsWith('/')))
      expect((await get(url ?? '')).status).to.equal(200);
  });

  it('are sent again only when they are others', async () => {
    const { headers } = await get('/console');
    const again = await get('/console', {
      headers: { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
    });
    expect(again.status).to.equal(304);
  });

  it('have no other files', async () => {
    for (const name of ['none.js', '..%2f..%2fpackage.json', 'bundle.json', '%00']) {
      const { status, headers } = await get(`/console/assets/${name}`);
      expect(status, name).to.equal(404);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    }
  });

  it('are no place to send something to', async () => {
    const { status, headers } = await get('/console', { method: 'POST' });
    expect(status).to.equal(405);
    expect(headers.get('allow')).to.equal('GET, HEAD');
  });
});

describe('a process that works only', () => {
  const service = useApp({ ROLE: 'worker' });

  it('has no console', async () => {
    expect((await fetch(`${service.app.url}/console`)).status).to.equal(404);
  });
});
