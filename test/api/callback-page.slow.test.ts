import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';

const HOSTILE = `<script>alert(1)</script>"'&amp;`;
const ESCAPED = '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;amp;';

describe('the page at /oauth/callback', () => {
  const service = useSharedApp();

  async function open(query: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${service.app.url}/oauth/callback?${new URLSearchParams(query)}`);
    return { response, text: await response.text() };
  }

  it('shows code and state, and the request that makes an instance of them', async () => {
    const { response, text } = await open({ realmId: '7', state: 'shop', code: '4/P7q' });
    expect(response.status).to.equal(200);
    expect(text).to.include('<h1>Authorized</h1>');
    const [, body = ''] = /<pre><code>(.*)<\/code><\/pre>/s.exec(text) ?? [];
    const unescaped = body.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    expect(JSON.parse(unescaped).providerData).to.deep.equal({ code: '4/P7q', state: 'shop', realmId: '7' });
  });

  it('shows an error in plain words, without a next step that cannot work', async () => {
    const { text } = await open({ error: 'access_denied', error_description: 'The user said no', state: 'shop' });
    expect(text).to.include('Access was not authorized').and.include('The user said no');
    expect(text).not.to.include('<pre>');
  });

  it('says what it is for when nothing came', async () => {
    const { response, text } = await open();
    expect(response.status).to.equal(200);
    expect(text).to.include('GET /elements/{keyOrId}/oauth/url').and.not.include('<table>');
  });

  it('escapes whatever it is sent, names included', async () => {
    const { text } = await open({ code: HOSTILE, [HOSTILE]: HOSTILE });
    expect(text).to.include(`<th scope="row">${ESCAPED}</th><td><code>${ESCAPED}</code></td>`);
    expect(text).not.to.include('<script>');
  });

  it('is kept nowhere, runs nothing but the script that tells the console, and tells nobody else', async () => {
    const { response, text } = await open({ code: 'x' });
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none'; style-src 'sha256-[^']+'/);
    expect(response.headers.get('content-security-policy')).to.match(/; script-src 'self'$/);
    const [[, path] = [], ...others] = text.matchAll(/<script src="([^"]*)"><\/script>/g);
    expect([others.length, text.split('<script').length]).to.deep.equal([0, 2]);
    expect((await fetch(service.app.url + path)).status).to.equal(200);
    expect(service.logged.join('\n')).to.include('/oauth/callback').and.not.include('code=');
  });
});
