import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import { ERROR_STATUS } from '../../src/errors.ts';
import {
  FORMULA_EVENT_TYPES,
  INSTANCE_EVENT_TYPES,
  OPERATIONAL_EVENT_TYPES,
  RECORD_EVENT_TYPES,
} from '../../src/events/event-types.ts';
import { useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { sendRaw } from './support/raw-request.ts';

const KIT = ['kit', 'kit-connector', 'kit-contract', 'kit-simulator', 'kit-tests'];
const ROOT = resolve(import.meta.dirname, '../..');

describe('the pages of the documentation', () => {
  const service = useSharedApp();
  const get = async (path: string) => {
    const response = await fetch(service.app.url + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const pages = new Map<string, Awaited<ReturnType<typeof get>>>();
  const findPages = () => [...pages.keys()];

  /** Every page that the navigation names, each requested once. */
  before(async () => {
    const { text } = await get('/docs');
    const paths = new Set([...text.matchAll(/href="(\/docs[^"#]*)/g)].map(([, path = '']) => path));
    for (const path of paths) if (!path.startsWith('/docs/assets/')) pages.set(path, await get(path));
  });

  it('are the reference, the README, every guide and every connector', () => {
    const guides = ['tutorials', 'how-to', 'reference', 'explanation'].flatMap((kind) =>
      readdirSync(join(ROOT, 'docs', kind)).map((name) => `/docs/${kind}/${name.replace('.md', '')}`),
    );
    const elements = readdirSync(join(ROOT, 'connectors')).map((key) => `/docs/elements/${key}`);
    const tags = new Set(Object.values(document.tags).map(({ name }) => name));
    const reference = [...[...tags].map((tag) => `api-${tag}`), 'errors', 'event-types', 'schemas', ...KIT].map(
      (name) => `/docs/reference/${name}`,
    );
    expect(findPages()).to.have.members(['/docs', '/docs/guides/readme', ...guides, ...elements, ...reference]);
  });

  it('lead a newcomer from the first page to the first steps', () => {
    const [, main = ''] = pages.get('/docs')?.text.split('<main') ?? [];
    expect(main.split('</p>')[0]).to.include('<a href="/docs/guides/readme">First steps</a>');
  });

  it('are in the order in which they are read, also where two kinds have a page of one name', () => {
    const order = (kind: string) => findPages().flatMap((path) => path.split(`/docs/${kind}/`)[1] ?? []);
    const tutorials = ['first-query', 'first-event', 'mappings', 'formulas', 'connect-page', 'connector'];
    expect(order('tutorials')).to.deep.equal(tutorials);
    expect(order('how-to').slice(0, 5)).to.deep.equal(['connect-by-oauth', 'files', 'map-objects', 'formulas', 'bulk']);
  });

  it('let nothing in but what the service serves, and nothing that is inline', () => {
    for (const [path, { headers, text }] of pages) {
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

  it('have links that lead somewhere, to the very heading', () => {
    const idsOf = (text: string) => new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));
    const ids = new Map([...pages].map(([path, { text }]) => [path, idsOf(text)]));
    for (const [path, { text }] of pages) {
      const links = [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);
      expect(links.length).to.be.greaterThan(50);
      for (const link of new Set(links.filter((href) => !href.startsWith('http')))) {
        const [pathname = '', fragment] = link.split('#');
        const target = ids.get(pathname === '' ? path : pathname);
        expect(target, `${path} ${link}`).not.to.equal(undefined);
        if (fragment !== undefined && target?.has(decodeURIComponent(fragment)) !== true)
          expect.fail(`${path} ${link}: there is no such heading.`);
      }
    }
  });

  it('have no id twice, whatever a heading is called', () => {
    for (const [path, { text }] of pages) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect(
        ids.filter((id, index) => ids.indexOf(id) !== index),
        path,
      ).to.deep.equal([]);
    }
  });

  it('have every operation on the page of its tag, with its request, and lead to it', () => {
    const index = pages.get('/docs')?.text;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const operation of Object.values(methods)) {
        const { operationId, tags } = Object(operation);
        if (operationId === undefined) continue;
        const page = `/docs/reference/api-${tags[0]}`;
        expect(index, path).to.include(`href="${page}#${operationId}"`);
        const [, section = ''] = pages.get(page)?.text.split(`<section class="operation" id="${operationId}">`) ?? [];
        expect(section.split('</section>')[0], operationId)
          .to.include('<summary>curl</summary>')
          .and.include('curl --request');
      }
    }
  });

  it('have each error code with its status, causes and remedy', () => {
    const text = pages.get('/docs/reference/errors')?.text ?? '';
    for (const [code, status] of Object.entries(ERROR_STATUS)) {
      const [, section = ''] = text.split(`<section id="${code}">`);
      expect(section.split('</section>')[0], code)
        .to.include(`Status ${status}.`)
        .and.include('Remedy:')
        .and.include('<li>');
    }
    expect(text.match(/&quot;code&quot;: &quot;UNAUTHENTICATED/g)).to.have.length(1);
  });

  it('link the list of all elements to the page of each', () => {
    const text = pages.get('/docs/reference/elements')?.text ?? '';
    const [, main = ''] = text.split('id="all-elements"');
    for (const key of readdirSync(join(ROOT, 'connectors'))) expect(main).to.include(`href="/docs/elements/${key}"`);
  });

  it('have each event type with its receivers and an example', () => {
    const text = pages.get('/docs/reference/event-types')?.text ?? '';
    const types = [RECORD_EVENT_TYPES, INSTANCE_EVENT_TYPES, FORMULA_EVENT_TYPES, OPERATIONAL_EVENT_TYPES].flatMap(
      Object.keys,
    );
    for (const type of types) {
      const [, section = ''] = text.split(`<section id="${type}">`);
      expect(section.split('</section>')[0], type)
        .to.include('<dt>Receivers</dt>')
        .and.match(new RegExp(`&quot;type&quot;: &quot;(?:\\w+\\.)?${type.replace('.', '\\.')}&quot;`));
    }
  });

  it('have the filters of each provider on the page of its element', () => {
    const where = pages.get('/docs/reference/where')?.text ?? '';
    expect(where)
      .to.include('href="/docs/elements/bamboohr#filters-that-bamboohr-evaluates"')
      .and.not.include('workEmail');
    expect(pages.get('/docs/elements/bamboohr')?.text).to.match(/Filters that BambooHR evaluates<[\s\S]*workEmail/);
  });

  it('redirect the former paths of guides', async () => {
    for (const [former, present] of [
      ['/docs/guides/where', '/docs/reference/where'],
      ['/docs/tutorials/connect-sessions', '/docs/reference/connect-sessions'],
    ]) {
      const response = await fetch(service.app.url + former, { redirect: 'manual' });
      expect(response.status, former).to.equal(302);
      expect(response.headers.get('location')).to.equal(present);
    }
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
