import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { docsPage } from '../../src/api/docs-page.ts';

const page = docsPage({ documentUrl: '/openapi.json', assetsUrl: '/docs' });

describe('the page of the rendered reference', () => {
  it('loads nothing from other hosts', () => {
    expect(page.html).not.to.match(/https?:|src="\/\//);
    expect(page.html.match(/(?:src|href)="[^"]*"/g)).to.deep.equal([
      'href="data:,"',
      'href="/docs/swagger-ui.css"',
      'src="/docs/swagger-ui-bundle.js"',
    ]);
  });

  it('lets in its own inline script by hash, and nothing else that is inline', () => {
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(page.html) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page.contentSecurityPolicy).to.include(`script-src 'self' 'sha256-${hash}';`);
    expect(page.contentSecurityPolicy).to.include("default-src 'none'").and.not.to.include('unsafe');
  });

  it('switches off the validator on the internet', () => {
    expect(page.html).to.include('"validatorUrl":null');
  });

  it('cannot be broken out of by an address', () => {
    const { html } = docsPage({ documentUrl: '/</script><script>alert(1)', assetsUrl: '/"><script>alert(2)' });
    expect(html.match(/<script>/g)).to.have.length(1);
  });
});
