import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { renderMarkdown } from '../../src/api/docs/markdown.ts';
import { createDocsSite } from '../../src/api/docs/pages.ts';
import { createTemporaryFolder } from '../support/database.ts';

const html = (markdown: string) => renderMarkdown(markdown).html.trim();

describe('the markdown of the documentation', () => {
  it('becomes text where it is raw HTML, and nothing where it is a comment', () => {
    expect(html('a <script>alert(1)</script> <b onclick="x()">b</b>')).to.equal(
      '<p>a &lt;script&gt;alert(1)&lt;/script&gt; &lt;b onclick=&quot;x()&quot;&gt;b&lt;/b&gt;</p>',
    );
    expect(html('<!-- for the makers -->\n\ntext')).to.equal('<p>text</p>');
    expect(html('<div><img src=x onerror=alert(1)></div>')).to.match(/^&lt;div&gt;/);
  });

  it('has no link that runs anything or leads to another host by its form', () => {
    for (const href of [
      ...['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'vbscript:x', '//evil.example'],
    ])
      expect(html(`[a](<${href}>)`), href).to.equal('<p>a</p>');
    expect(html('[a](https://example.com/?a=1&b=%22)')).to.equal(
      '<p><a href="https://example.com/?a=1&amp;b=%22">a</a></p>',
    );
  });

  it('has no picture', () => {
    expect(html('![<b>](https://example.com/a.png)')).to.match(/^<p>&(?:amp;)?lt;b&(?:amp;)?gt;<\/p>$/);
  });

  it('has an id for every heading, as GitHub makes them', () => {
    const { headings } = renderMarkdown('# Where they go\n## `PUT`, and *more*\n## Where they go\n### Über Öl');
    expect(headings.map(({ id }) => id)).to.deep.equal(['where-they-go', 'put-and-more', 'where-they-go-1', 'über-öl']);
  });

  it('leads where it is told to, or nowhere', () => {
    const { html } = renderMarkdown('[a](a.md#b) [c](c.ts)', (href) => (href === 'a.md#b' ? '/docs/a#b' : undefined));
    expect(html.trim()).to.equal('<p><a href="/docs/a#b">a</a> c</p>');
  });
});

describe('the README of a connector from outside', () => {
  it('is among the pages, whatever is in it', async () => {
    const folder = await createTemporaryFolder();
    await mkdir(join(folder, 'notes'));
    await mkdir(join(folder, 'without'));
    await writeFile(join(folder, 'notes/README.md'), '# Notes <script>alert(1)</script>\n\n[x](javascript:alert(1))\n');
    try {
      const { pages } = await createDocsSite({}, [folder]);
      expect([...pages.keys()])
        .to.include('/docs/elements/notes')
        .and.not.include('/docs/elements/without');
      const { html } = pages.get('/docs/elements/notes') ?? { html: '' };
      expect(html).to.include('Notes &lt;script&gt;alert(1)&lt;/script&gt;</h1>').and.include('<p>x</p>');
      expect(html).not.to.match(/javascript:|<script>/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
