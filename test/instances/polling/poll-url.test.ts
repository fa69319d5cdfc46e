import { expect } from 'chai';
import { parsePollUrl } from '../../../src/instances/polling/poll-url.ts';

const AT_MS = Date.parse('2030-01-02T03:04:05.678Z');

describe('the URL of a poll', () => {
  const PATHS: readonly (readonly [url: string, names: object])[] = [
    ['/contacts', { hub: undefined, objectName: 'contacts', child: undefined }],
    ['contacts', { hub: undefined, objectName: 'contacts', child: undefined }],
    ['/hubs/crm/contacts', { hub: 'crm', objectName: 'contacts', child: undefined }],
    ['/elements/api-v2/hubs/crm/contacts?', { hub: 'crm', objectName: 'contacts', child: undefined }],
    [
      'https://API.example.com/elements/api-v2/contacts',
      { origin: 'https://api.example.com', hub: undefined, objectName: 'contacts', child: undefined },
    ],
    [
      "https://example.com:8443/proxy/elements/api-v2/hubs/crm/contacts?where=at >= '${gmtDate:yyyy}'",
      {
        origin: 'https://example.com:8443',
        local: "/hubs/crm/contacts?where=at >= '${gmtDate:yyyy}'",
        hub: 'crm',
        objectName: 'contacts',
      },
    ],
    ['http://127.0.0.1:8080/contacts', { origin: 'http://127.0.0.1:8080', objectName: 'contacts' }],
    ['ftp://example.com/contacts', { origin: 'ftp://example.com', objectName: 'contacts' }],
    ['mailto:contacts', { origin: undefined, objectName: 'mailto:contacts' }],
    ['/affiliates/commissions', { objectName: 'affiliates/commissions', child: undefined }],
    [
      '/hubs/crm/affiliates/commissions/7/notes',
      { objectName: 'affiliates/commissions', child: { id: '7', name: 'notes' } },
    ],
    ['/orders/4711/lines', { hub: undefined, objectName: 'orders', child: { id: '4711', name: 'lines' } }],
    ['/hubs/erp/orders/a%2Fb/lines', { hub: 'erp', objectName: 'orders', child: { id: 'a/b', name: 'lines' } }],
  ];
  for (const [url, names] of PATHS) {
    it(`names a list: ${url}`, () => {
      expect(parsePollUrl(url, 'UTC', ['affiliates/commissions'])).to.deep.include(names);
    });
  }

  it('asks with the time in the place of each placeholder', () => {
    const { parametersAt, granularityMs, pageSize } = parsePollUrl(
      "/contacts?where=modified>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss'Z'}' and day >= ${date:yyyy-MM-dd}&orderBy=modified desc&fields=id,modified&pageSize=5000",
      'UTC',
    );
    expect(parametersAt(AT_MS)).to.deep.equal({
      where: "modified>='2030-01-02T03:04:05Z' and day >= 2030-01-02",
      orderBy: 'modified desc',
      fields: 'id,modified',
    });
    expect([granularityMs, pageSize]).to.deep.equal([86_400_000, 5000]);
  });

  it('may be encoded', () => {
    const where = "name = 'a&b' and modified >= '${dateTimeZone:{+02:00}:HH:mm}'";
    expect(parsePollUrl(`/contacts?where=${encodeURIComponent(where)}`, 'UTC').parametersAt(AT_MS)).to.deep.equal({
      where: "name = 'a&b' and modified >= '05:04'",
    });
  });

  it('asks for the same at any time when it has no placeholder; what is empty is absent', () => {
    const query = parsePollUrl('/contacts?where=&fields=id&pageSize=', 'UTC');
    expect(query.parametersAt(AT_MS)).to.deep.equal({ fields: 'id' });
    expect([query.granularityMs, query.pageSize]).to.deep.equal([undefined, undefined]);
  });

  const FAULTY: readonly (readonly [url: string, says: string])[] = [
    ['', "'' is not the path of a list. Expected: /{objectName}, "],
    ['/hubs/crm', "'/hubs/crm' is not the path of a list"],
    ['/contacts/7', "'/contacts/7' is not the path of a list"],
    ['/orders/7/lines/8', 'is not the path of a list'],
    ['//contacts', 'is not the path of a list'],
    ['https://exa mple.com/contacts', "'https://exa mple.com' is not an address."],
    ['https://api.example.com', "'' is not the path of a list"],
    ['/%E0%A4%A', 'is not the path of a list'],
    ['/contacts?page=2', "Unknown parameter 'page'. Known parameters: where, orderBy, fields, pageSize."],
    ['/contacts?where=a = 1&where=b = 2', "It has the parameter 'where' more than once."],
    ['/contacts?pageSize=0', "Its pageSize must be from 1 to 5000, not '0'."],
    ['/contacts?pageSize=5001', "not '5001'."],
    ['/contacts?where=a >= ${date:Q}', "'Q' is not a pattern letter"],
    // They are read with a time put in.
    ['/contacts?where=modified >=', 'The filter cannot be read at position 11: Expected a value, found the end.'],
    ["/contacts?where=a > '${date:HH''mm}'", 'The filter cannot be read'],
    ['/contacts?where=a >= ${date:HH:mm}', 'The filter cannot be read'],
    ['/contacts?orderBy=-modified', "Write the direction after the field: 'modified desc'."],
    ['/contacts?fields=id,,name', 'The field list cannot be read at position 3'],
  ];
  for (const [url, says] of FAULTY) {
    it(`is refused: '${url}'`, () => {
      expect(() => parsePollUrl(url, 'UTC')).to.throw(says);
    });
  }
});
