import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { html, status } from '../support/misbehaving-server.ts';
import { PDF, useFiling } from './support/filing.ts';
import { OUTSIDE_CONNECTORS } from './support/outside-connectors.ts';

describe('the file of a record is never taken for a page of this service:', () => {
  const service = useSharedApp({ CONNECTORS_PATH: OUTSIDE_CONNECTORS });
  const filing = useFiling(service);

  const cases: readonly (readonly [
    type: string | undefined,
    given: string | undefined,
    type: string,
    disposition: string | null,
  ])[] = [
    ['text/html', undefined, 'text/html', 'attachment'],
    ['TEXT/HTML; charset=utf-8', 'inline', 'TEXT/HTML; charset=utf-8', 'attachment'],
    ['text/html', 'inline; filename="a.html"', 'text/html', 'attachment; filename="a.html"'],
    ['image/svg+xml', 'inline; filename=a.svg', 'image/svg+xml', 'attachment; filename=a.svg'],
    ['application/xhtml+xml', undefined, 'application/xhtml+xml', 'attachment'],
    ['application/xml', undefined, 'application/xml', 'attachment'],
    ['text/javascript', undefined, 'text/javascript', 'attachment'],
    ['application/zip', 'attachment; filename="a.zip"', 'application/zip', 'attachment; filename="a.zip"'],
    [PDF, 'inline; filename="a b.pdf"', PDF, 'inline; filename="a b.pdf"'],
    [
      PDF,
      "attachment; filename=a.pdf; filename*=UTF-8''%e2%82%ac.pdf",
      PDF,
      "attachment; filename=a.pdf; filename*=UTF-8''%e2%82%ac.pdf",
    ],
    [PDF, 'inline; filename="../../a.pdf"', PDF, 'attachment'],
    [PDF, 'inline; filename="a\\"; x.pdf"', PDF, 'attachment'],
    [PDF, 'form-data; name="x"', PDF, 'attachment'],
    [PDF, 'inline; filename="a.pdf"; creation-date="x"', PDF, 'attachment'],
    ['image/png', undefined, 'image/png', null],
    ['text/plain;charset=UTF-8', undefined, 'text/plain;charset=UTF-8', null],
    [undefined, undefined, 'application/octet-stream', null],
    ['nonsense', undefined, 'application/octet-stream', null],
    ['text/html, text/plain', undefined, 'application/octet-stream', null],
    ['text/plain; text/html', undefined, 'application/octet-stream', null],
  ];

  for (const [type, given, expectedType, expectedDisposition] of cases) {
    it(`${type} ${given ?? ''} is ${expectedType} ${expectedDisposition ?? ''}`, async () => {
      const headers = {
        ...(type !== undefined && { 'content-type': type }),
        ...(given !== undefined && { 'content-disposition': given }),
        'set-cookie': 'a=b',
        'access-control-allow-origin': '*',
      };
      filing.provider.answer('/files/7', status(200, headers, '<script>alert(1)</script>'));
      const response = await filing.get('/files/7', 'text/html');
      expect(response.status).to.equal(200);
      expect(response.bytes.toString()).to.equal('<script>alert(1)</script>');
      expect(response.headers.get('content-type')).to.equal(expectedType);
      expect(response.headers.get('content-disposition')).to.equal(expectedDisposition);
      expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(response.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
      expect([response.headers.has('set-cookie'), response.headers.has('access-control-allow-origin')]).to.deep.equal([
        false,
        false,
      ]);
    });
  }

  it('the page that a provider shows instead of a file is saved, not shown', async () => {
    filing.provider.answer('/invoices/7', html);
    const response = await filing.get('/invoices/7', PDF);
    expect(response.headers.get('content-disposition')).to.equal('attachment');
  });
});
