import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { OPERATIONS } from '../../generated/operations.ts';
import { useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { sendRaw } from './support/raw-request.ts';

const ROOT = resolve(import.meta.dirname, '../..');

describe('the pages of the documentation', () => {
  const service = useSharedApp();
  const get = async (path: string) => {
    const response = await fetch(service.app.url + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  /** Every page that the navigation names. */
  const findPages = async () => {
    const { text } = await get('/docs');
    return [...new Set([...text.matchAll(/href="(\/docs[^"#]*)/g)].map(([, path = '']) => path))].filter(
      (path) => !path.startsWith('/docs/assets/'),
    );
  };

  it('are the reference, the README, every guide and every connector', async () => {
    const guides = ['tutorials', 'how-to', 'reference', 'explanation'].flatMap((kind) =>
      readdirSync(join(ROOT, 'docs', kind)).map((name) => `/docs/${kind}/${name.replace('.md', '')}`),
    );
    const elements = readdirSync(join(ROOT, 'connectors')).map((key) => `/docs/elements/${key}`);
    expect(await findPages()).to.have.members(['/docs', '/docs/guides/readme', ...guides, ...elements]);
  });

  it('let nothing in but what the service serves, and nothing that is inline', async () => {
    for (const path of await findPages()) {
      const { headers, text } = await get(path);
      expect(headers.get('content-type'), path).to.match(/^text\/html/);
      expect(headers.get('content-security-policy')).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(text, path).not.to.match(/<script(?! src="\/docs\/assets\/docs\.js" defer><\/script>)|<style|<img/);
      expect(text, path).not.to.match(/<[^>]* (?:style|on\w+)=/);
      const loaded = [...text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]*)"/g)].map(([, url]) => url);
      expect(loaded).to.deep.equal(['data:,', '/docs/assets/docs.css', '/docs/assets/docs.js']);
    }
  });

  it('have links that lead somewhere, to the very heading', async () => {
    const pages = new Map<string, string>();
    for (const path of await findPages()) pages.set(path, (await get(path)).text);
    for (const [path, text] of pages) {
      const links = [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);
      expect(links.length).to.be.greaterThan(50);
      for (const link of new Set(links.filter((href) => !href.startsWith('http')))) {
        const { pathname, hash } = new URL(link, `http://127.0.0.1${path}`);
        const target = pages.get(pathname);
        expect(target, `${path} ${link}`).to.be.a('string');
        if (hash !== '')
          expect(target?.includes(`id="${decodeURIComponent(hash.slice(1))}"`), `${path} ${link}`).to.equal(true);
      }
    }
  });

  it('have no id twice, whatever a heading is called', async () => {
    for (const path of await findPages()) {
      const ids = [...(await get(path)).text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(
        ids.filter((id, index) => ids.indexOf(id) !== index),
        path,
      ).to.deep.equal([]);
    }
  });

  it('have every operation, and every error once', async () => {
    const { text } = await get('/docs');
    for (const id of Object.keys(OPERATIONS)) {
      expect(text).to.include(`<section class="operation" id="${id}">`).and.include(`href="/docs#${id}"`);
    }
    expect(text.match(/&quot;code&quot;: &quot;UNAUTHENTICATED/g)).to.have.length(1);
  });

  it('redirect the former paths of guides', async () => {
    const response = await fetch(`${service.app.url}/docs/guides/where`, { redirect: 'manual' });
    expect(response.status).to.equal(302);
    expect(response.headers.get('location')).to.equal('/docs/reference/where');
  });

  it('are a 404 where there is none', async () => {
    for (const path of [
      '/docs/guides/nothing',
      '/docs/elements/nothing',
      '/docs/guides/..%2fpackage',
      '/docs/elements/odata%2f..',
    ])
      expectProblem(await sendRaw(service.app.url, { path }), 'NOT_FOUND', /^There is no page /);
  });

  it('have no other files beside them', async () => {
    for (const file of ['docs.js', 'docs.css']) expect((await get(`/docs/assets/${file}`)).status).to.equal(200);
    for (const path of [
      ...['/docs/assets/package.json', '/docs/assets/../layout.ts', '/docs/assets/..%2flayout.ts'],
      ...['/docs/assets/%2e%2e/%2e%2e/service.ts', '/docs/assets/', '/docs/assets/docs.css/../../layout.ts'],
      ...['/docs/assets/docs.css%00.html', '/docs/assets//etc/passwd'],
    ]) {
      expect((await sendRaw(service.app.url, { path })).status, path).to.equal(404);
    }
  });
});
