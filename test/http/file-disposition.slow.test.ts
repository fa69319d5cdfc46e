import { expect } from 'chai';
import { fileResponse, writeDisposition } from '../../src/http/file-headers.ts';

describe('the name of a file', () => {
  const cases: readonly (readonly [name: string, disposition: string | undefined])[] = [
    ['a.pdf', 'attachment; filename="a.pdf"'],
    ['a b(1).pdf', 'attachment; filename="a b(1).pdf"'],
    ['Über "x".pdf', `attachment; filename="Uber _x_.pdf"; filename*=UTF-8''%C3%9Cber%20%22x%22.pdf`],
    ["d'été*.txt", `attachment; filename="d'ete_.txt"; filename*=UTF-8''d%27%C3%A9t%C3%A9%2A.txt`],
    ['日本.csv', `attachment; filename="__.csv"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.csv`],
    ['100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
    ['../../etc/passwd', 'attachment; filename="passwd"'],
    ['C:\\docs\\a.pdf', 'attachment; filename="a.pdf"'],
    ['a\r\nSet-Cookie: x=y', `attachment; filename="aSet-Cookie_ x=y"; filename*=UTF-8''aSet-Cookie%3A%20x%3Dy`],
    ['lone \ud800 half', 'attachment; filename="lone  half"'],
    ['/', undefined],
    ['', undefined],
  ];

  for (const [name, disposition] of cases) {
    it(`is written for ${JSON.stringify(name)}`, () => {
      expect(writeDisposition(name)).to.equal(disposition);
    });
  }

  it('gives way to the name that the provider sent', () => {
    const file = { bytes: Buffer.of(), contentType: 'image/png', name: 'b.png', providerCalls: 1 };
    const dispositionOf = (contentDisposition: string | undefined) =>
      fileResponse({ ...file, contentDisposition }).headers['Content-Disposition'];
    expect(dispositionOf('inline; filename="a.png"')).to.equal('inline; filename="a.png"');
    expect(dispositionOf(undefined)).to.equal('attachment; filename="b.png"');
    expect(fileResponse({ ...file, name: undefined, contentDisposition: undefined }).headers).to.include({
      'Content-Disposition': undefined,
    });
  });
});
