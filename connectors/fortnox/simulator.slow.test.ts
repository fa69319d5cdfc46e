import { expect } from 'chai';
import { callProvider, type ServedSimulator, serveSimulator, type TestCall } from '#connector/testing';
import { ACCESS_TOKEN, CLIENT_SECRET, createSimulator, DEMO_AUTHORIZATION_CODE } from './simulator.ts';

const SECRET = { 'client-secret': CLIENT_SECRET };
const HEADERS = { ...SECRET, 'access-token': ACCESS_TOKEN, 'content-type': 'application/json' };

/**
 * Members and their kinds in recorded responses of Fortnox: a list, and a newly created record. A price and a VAT rate of articles were
 * null in all of them; the reference has texts.
 */
const RECORDED = {
  customers: {
    create: { Customer: { Name: 'A value' } },
    short: {
      text: '@url Address1 Address2 City CustomerNumber Email Name OrganisationNumber Phone ZipCode',
    },
    long: {
      text: '@url Currency CustomerNumber Email EmailInvoice EmailInvoiceBCC EmailInvoiceCC EmailOffer EmailOfferBCC EmailOfferCC EmailOrder EmailOrderBCC EmailOrderCC InvoiceRemark Name OrganisationNumber OurReference PriceList Project TermsOfDelivery TermsOfPayment Type VATNumber VATType WayOfDelivery WWW YourReference',
      null: 'Address1 Address2 City Country Comments CostCenter CountryCode DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryCountryCode DeliveryFax DeliveryName DeliveryPhone1 DeliveryPhone2 DeliveryZipCode ExternalReference Fax GLN GLNDelivery InvoiceAdministrationFee InvoiceDiscount InvoiceFreight Phone1 Phone2 SalesAccount VisitingAddress VisitingCity VisitingCountry VisitingCountryCode VisitingZipCode ZipCode',
      boolean: 'Active ShowPriceVATIncluded',
      object: 'DefaultDeliveryTypes DefaultTemplates',
    },
  },
  articles: {
    create: { Article: { Description: 'A value' } },
    short: {
      text: '@url ArticleNumber Description DisposableQuantity EAN PurchasePrice QuantityInStock ReservedQuantity StockValue',
      boolean: 'Housework WebshopArticle',
      'null/text': 'SalesPrice Unit VAT',
      null: 'StockPlace',
    },
    long: {
      text: '@url ArticleNumber Description EAN ManufacturerArticleNumber Note Type',
      boolean: 'Bulky Housework Active StockGoods WebshopArticle Expired',
      number:
        'ConstructionAccount Depth DisposableQuantity EUAccount EUVATAccount ExportAccount Height PurchaseAccount PurchasePrice QuantityInStock ReservedQuantity SalesAccount StockValue StockWarning VAT Weight Width',
      null: 'HouseworkType Manufacturer StockPlace SupplierName SupplierNumber Unit SalesPrice CostCalculationMethod StockAccount StockChangeAccount DirectCost FreightCost OtherCost DefaultStockPoint DefaultStockLocation',
    },
  },
  orders: {
    create: { Order: { CustomerNumber: '1' } },
    short: {
      text: '@url Currency CustomerName CustomerNumber DocumentNumber ExternalInvoiceReference1 ExternalInvoiceReference2 OrderDate OrderType Project',
      boolean: 'Cancelled Sent',
      'null/text': 'DeliveryDate',
      number: 'Total',
    },
    long: {
      text: '@url @urlTaxReductionList Address1 Address2 City Comments Country CostCenter Currency CustomerName CustomerNumber DeliveryState DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryName DeliveryZipCode DocumentNumber ExternalInvoiceReference1 ExternalInvoiceReference2 InvoiceReference Language OfferReference OrderDate OrderType OrganisationNumber OurReference Phone1 Phone2 PriceList PrintTemplate Project OutboundDate Remarks TermsOfDelivery TermsOfPayment WayOfDelivery YourReference YourOrderNumber ZipCode TaxReductionType',
      number:
        'AdministrationFee AdministrationFeeVAT BasisTaxReduction ContributionPercent ContributionValue CurrencyRate CurrencyUnit Freight FreightVAT Gross Net RoundOff Total TotalToPay TotalVAT',
      boolean: 'Cancelled CopyRemarks HouseWork NotCompleted WarehouseReady Sent VATIncluded',
      null: 'DeliveryDate TaxReduction TimeBasisReference StockPointCode StockPointId',
      object: 'EmailInformation',
      list: 'Labels OrderRows',
    },
  },
  invoices: {
    create: { Invoice: { CustomerNumber: '1' } },
    short: {
      text: '@url CostCenter Currency CurrencyRate CustomerName CustomerNumber DocumentNumber DueDate ExternalInvoiceReference1 ExternalInvoiceReference2 InvoiceDate InvoiceType OCR WayOfDelivery TermsOfPayment Project',
      number: 'Balance CurrencyUnit Total',
      boolean: 'Booked Cancelled NoxFinans Sent',
      'null/number': 'VoucherNumber VoucherYear',
      'null/text': 'VoucherSeries FinalPayDate',
    },
    long: {
      text: '@url @urlTaxReductionList Address1 Address2 City Comments Country CostCenter Credit CreditInvoiceReference Currency CustomerName CustomerNumber DeliveryAddress1 DeliveryAddress2 DeliveryCity DeliveryCountry DeliveryName DeliveryZipCode DocumentNumber DueDate ExternalInvoiceReference1 ExternalInvoiceReference2 InvoiceDate InvoicePeriodStart InvoicePeriodEnd InvoiceReference InvoiceType Language OCR OfferReference OrderReference OrganisationNumber OurReference PaymentWay Phone1 Phone2 PriceList PrintTemplate Project OutboundDate Remarks TermsOfDelivery TermsOfPayment WayOfDelivery YourOrderNumber YourReference ZipCode AccountingMethod TaxReductionType',
      number:
        'AdministrationFee AdministrationFeeVAT Balance BasisTaxReduction ContractReference ContributionPercent ContributionValue CurrencyRate CurrencyUnit Freight FreightVAT Gross Net Reminders RoundOff Total TotalToPay TotalVAT',
      boolean: 'Booked Cancelled EUQuarterlyReport HouseWork NotCompleted NoxFinans WarehouseReady Sent VATIncluded',
      null: 'DeliveryDate LastRemindDate TaxReduction TimeBasisReference VoucherNumber VoucherSeries VoucherYear FinalPayDate',
      object: 'EDIInformation EmailInformation',
      list: 'InvoiceRows Labels',
    },
  },
};

type Kinds = Readonly<Record<string, string>>;

function parseKinds(byKind: Kinds): Kinds {
  return Object.fromEntries(
    Object.entries(byKind).flatMap(([kind, names]) => names.split(' ').map((name) => [name, kind])),
  );
}

/** Returns the kinds of values of each member, over all rows. */
function kindsOf(rows: readonly Row[]): Kinds {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.fromEntries(
    [...names].map((name) => [name, [...new Set(rows.map((row) => kindOf(row[name])))].sort().join('/')]),
  );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return typeof value === 'string' ? 'text' : typeof value;
}

describe('the Fortnox simulator', () => {
  let simulator: ServedSimulator;

  before(async () => {
    simulator = await serveSimulator('fortnox', createSimulator);
  });
  after(() => simulator.stop());
  beforeEach(() => simulator.reset());

  const call = (path: string, options: TestCall = {}) =>
    callProvider(`${simulator.url}/3/${path}`, { headers: HEADERS, ...options });

  const exchange = (code: string, headers: Headers = SECRET, path = '') =>
    call(path, { headers: { ...headers, 'authorization-code': code } });
  const write = (method: string, path: string, body: object) => call(path, { method, body });

  /** Returns the rows of a list, at most 500. */
  async function list(name: string, query: Readonly<Record<string, string>> = {}): Promise<readonly Row[]> {
    const { body } = await call(`${name}?${new URLSearchParams({ limit: '500', ...query })}`);
    return Object.values<readonly Row[]>(body).find((member) => Array.isArray(member)) ?? [];
  }
  const columnOf = async (name: string, column: string, query: Readonly<Record<string, string>>) =>
    (await list(name, query)).map((row) => row[column]);

  it('exchanges each code once, at any path, for a token that stays', async () => {
    const first = await exchange(DEMO_AUTHORIZATION_CODE);
    const { AccessToken: token } = first.body.Authorization ?? {};
    const again = await exchange(DEMO_AUTHORIZATION_CODE);
    expect(again.status).to.equal(403);
    expect(again.body).to.deep.equal({
      ErrorInformation: { Error: 1, Message: 'Ogiltig inloggning', Code: 2000310 },
    });
    const headers = { ...SECRET, 'access-token': String(token) };
    const statuses = await Promise.all([
      call('customers', { headers }),
      exchange('demo-2', SECRET, 'invoices'),
      exchange('demo-3', { 'client-secret': 'wrong' }),
      exchange('demo-3'),
      exchange('other'),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([200, 200, 403, 200, 403]);
  });

  it('ends the token too where a code that is shown twice does', async () => {
    const strict = await serveSimulator('fortnox', (options) =>
      createSimulator({ ...options, deactivatesOnReuse: true }),
    );
    const get = async (headers: Headers) => (await callProvider(`${strict.url}/3/customers`, { headers })).body;
    const code = { ...SECRET, 'authorization-code': 'demo-1' };
    const { Authorization } = await get(code);
    await get(code);
    const ended = await get({ ...SECRET, 'access-token': Authorization.AccessToken });
    await strict.stop();
    expect(ended.ErrorInformation.Code).to.equal(2000310);
  });

  it('remembers tokens, and takes its codes again, after a restart', async () => {
    let saved: unknown;
    const memory = {
      load: () => saved,
      save: (value: unknown) => {
        saved = value;
      },
    };
    const kept = await serveSimulator('fortnox', (options) => createSimulator({ ...options, memory }));
    const get = (headers: Headers) => callProvider(`${kept.url}/3/customers`, { headers });
    const code = { ...SECRET, 'authorization-code': 'demo-1' };
    const { Authorization } = (await get(code)).body;
    kept.reset();
    const responses = [await get({ ...SECRET, 'access-token': Authorization.AccessToken }), await get(code)];
    await kept.stop();
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('wants a token with its secret, or as a bearer, at its own host', async () => {
    const callers: readonly Headers[] = [
      { 'access-token': ACCESS_TOKEN },
      { ...SECRET, 'access-token': 'wrong' },
      { authorization: `Bearer ${ACCESS_TOKEN}` },
      { authorization: 'Bearer wrong' },
      { ...HEADERS, forwarded: 'host=api.fortnox.se' },
      { ...HEADERS, forwarded: 'host=apps.fortnox.se' },
    ];
    const responses = await Promise.all(callers.map((headers) => call('customers', { headers })));
    expect(responses.map(({ status }) => status)).to.deep.equal([403, 403, 200, 401, 200, 404]);
    expect(responses.map(({ body }) => body.ErrorInformation?.Code).slice(0, 2)).to.deep.equal([2000311, 2000310]);
    expect(responses[3]?.body).to.deep.equal({ message: 'unauthorized' });
  });

  for (const [name, { short, long, create }] of Object.entries(RECORDED)) {
    it(`writes ${name} as recorded answers do`, async () => {
      expect(kindsOf(await list(name))).to.deep.equal(parseKinds(short));
      const { status, headers, body } = await write('POST', name, create);
      expect([status, headers.get('location')]).to.deep.equal([201, name]);
      const [made] = Object.values(body);
      expect(kindsOf([made as Row])).to.deep.equal(parseKinds(long));
    });
  }

  it('counts what is found, 100 a page unless told, and answers nothing behind the end', async () => {
    const pages = await Promise.all(
      ['', '?page=2', '?limit=50&page=4', '?name=nothing', '?limit=40&offset=100'].map((q) => call(`customers${q}`)),
    );
    expect(pages.map(({ body }) => [Object.values(body.MetaInformation ?? {}), body.Customers?.length])).to.deep.equal([
      [[130, 2, 1], 100],
      [[130, 2, 2], 30],
      [[130, 3, 4], 0],
      [[0, 0, 1], 0],
      [[130, 1, 1], 30],
    ]);
  });

  it('searches anywhere in a text in any case, joined by AND, and takes signs of patterns for what they are', async () => {
    expect(new Set(await columnOf('customers', 'City', { city: 'klipp' }))).to.deep.equal(
      new Set(['KLIPPAN', 'Klippan']),
    );
    const both = await list('customers', { city: 'klippan', zipcode: '264' });
    expect(both.length).to.be.within(1, (await list('customers', { city: 'klippan' })).length - 1);
    expect(new Set(await columnOf('articles', 'ArticleNumber', { articlenumber: 'a1' }))).to.deep.equal(
      new Set(['A100', '1A100']),
    );
    expect(await list('customers', { name: 'te%_a' })).to.have.length(
      (await list('customers', { name: 'test 100' })).length,
    );
    expect(await list('customers', { name: '' })).to.have.length(130);
    expect(new Set(await columnOf('invoices', 'Sent', { sent: 'true' }))).to.deep.equal(new Set([true]));
  });

  it('filters by a word, and by days with both ends', async () => {
    const inactive = await list('customers', { filter: 'inactive' });
    expect(inactive.length + (await list('customers', { filter: 'active' })).length).to.equal(130);
    const paid = await list('invoices', { filter: 'fullypaid' });
    expect(paid.every(({ Balance, FinalPayDate }) => Balance === 0 && FinalPayDate !== null)).to.equal(true);
    const [unpaid, overdue] = [
      await list('invoices', { filter: 'unpaid' }),
      await list('invoices', { filter: 'unpaidoverdue' }),
    ];
    expect(overdue.length).to.be.within(1, unpaid.length - 1);
    const days = (await columnOf('orders', 'OrderDate', { fromdate: '2024-01-03', todate: '2024-01-06' })).toSorted();
    expect([days.at(0), days.at(-1)]).to.deep.equal(['2024-01-03', '2024-01-06']);
    expect(await list('orders', { filter: 'invoicecreated' })).to.have.length(28);
  });

  it('knows what changed since a minute, by the clocks of Sweden', async () => {
    const changed = async (lastmodified: string) => (await list('customers', { lastmodified })).length;
    // 22:58 UTC is 23:58 in Sweden in winter.
    expect(await changed('2024-02-28 23:58')).to.equal(130);
    expect(await changed('2024-02-28 23:58:01')).to.equal(128);
    expect(await changed('2024-02-29')).to.equal(128);
    // Summer time begins on March 31. From then on Sweden is two hours ahead.
    expect([await changed('2024-03-31 14:00'), await changed('2024-03-31 14:10')]).to.deep.equal([4, 2]);
    const minute = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'Europe/Stockholm',
      dateStyle: 'short',
      timeStyle: 'short',
    });
    const now = minute.format(Date.now());
    await write('PUT', 'customers/3', { Customer: { Name: 'Changed' } });
    expect(await columnOf('customers', 'CustomerNumber', { lastmodified: now })).to.deep.equal(['3']);
  });

  it('sorts numbers by size, words as Swedes do', async () => {
    expect((await columnOf('customers', 'CustomerNumber', {})).slice(0, 5)).to.deep.equal(['1', '2', '3', '4', '10']);
    const names = await columnOf('customers', 'Name', { name: 's', sortby: 'name', sortorder: 'descending' });
    expect(names.indexOf('Östers Bygg')).to.be.below(names.indexOf('Åhléns AB')).and.be.above(-1);
    const totals = await columnOf('invoices', 'Total', { sortby: 'total' });
    expect(totals).to.deep.equal(totals.toSorted((a, b) => Number(a) - Number(b)));
  });

  it('leaves what is null or empty as it was, empties by API_BLANK, and keeps the numbers of what was deleted', async () => {
    await write('POST', 'customers', { Customer: { CustomerNumber: 'N-1', Name: 'N', City: 'Åre', Comments: 'c' } });
    const left = await write('PUT', 'customers/N-1', { Customer: { City: '', Comments: null } });
    expect(left.body.Customer).to.include({ City: 'Åre', Comments: 'c' });
    const blank = await write('PUT', 'customers/N-1', { Customer: { City: 'API_BLANK' } });
    expect(blank.body.Customer).to.include({ City: null, Name: 'N' });
    expect((await call('customers/N-1', { method: 'DELETE' })).status).to.equal(204);
    const gone = await call('customers/N-1');
    expect(gone.body.ErrorInformation).to.deep.equal({ Error: 1, Message: 'Kan inte hitta kunden.', Code: 2000433 });
    const taken = await write('POST', 'customers', { Customer: { CustomerNumber: 'N-1', Name: 'N' } });
    expect(taken.body.ErrorInformation?.code).to.equal(2000637);
  });

  it('sums the rows of an invoice, books and cancels it, and deletes none', async () => {
    const InvoiceRows = [{ ArticleNumber: '1', Price: 10.5, DeliveredQuantity: 2 }];
    const made = await write('POST', 'invoices', { Invoice: { CustomerNumber: '1', InvoiceRows } });
    expect(made.body.Invoice).to.deep.include({ DocumentNumber: '161', Total: 21, Balance: 21 });
    expect((await write('PUT', 'invoices/161/bookkeep', {})).body.Invoice).to.include({
      Booked: true,
      VoucherSeries: 'B',
    });
    expect((await write('PUT', 'invoices/161/cancel', {})).body.Invoice).to.include({ Cancelled: true, Balance: 0 });
    expect((await call('invoices/161', { method: 'DELETE' })).status).to.equal(405);
  });

  const REFUSED: readonly (readonly [number, string, object?])[] = [
    [2000588, 'customers?nope=1'],
    [2000588, 'customers?Name=x'],
    [2000588, 'customers?fromdate=2024-01-01'],
    [2000588, 'customers?limit=501'],
    [2000588, 'customers?sortby=city'],
    [2000588, 'invoices?todate=yesterday'],
    [2000588, 'invoices?lastmodified=2024-13-01'],
    [2000587, 'invoices?filter=doesntexist'],
    [2000587, 'suppliers?filter=active'],
    [2001392, 'customers', { Name: 'not wrapped' }],
    [2001392, 'customers', { Customer: { City: 'no name' } }],
    [2001399, 'customers', { Customer: { Name: 'x', Nope: 1 } }],
    [2000359, 'customers', { Customer: { Name: 'a<b>' } }],
    [2000106, 'customers', { Customer: { Name: 'x', CustomerNumber: 'a b' } }],
    [2000134, 'customers', { Customer: { Name: 'x', Active: 'perhaps' } }],
    [2000108, 'articles', { Article: { Description: 'x', PurchasePrice: 'much' } }],
    [2000013, 'articles', { Article: { Description: 'x', ArticleNumber: '1' } }],
    [2000433, 'orders', { Order: { CustomerNumber: '999' } }],
  ];
  for (const [code, path, body] of REFUSED) {
    it(`refuses ${path} ${JSON.stringify(body ?? '')} by ${code}`, async () => {
      const response = await call(path, { body });
      expect([response.status, response.body.ErrorInformation?.code]).to.deep.equal([400, code]);
      expect(response.body.ErrorInformation?.message).to.be.a('string').and.not.equal('');
    });
  }

  it('limits calls where it is told to, without a time to wait', async () => {
    const limited = await serveSimulator('fortnox', (options) =>
      createSimulator({ ...options, callsPerFiveSeconds: 0 }),
    );
    const { status, headers } = await fetch(`${limited.url}/3/customers`, { headers: HEADERS });
    await limited.stop();
    expect([status, headers.get('retry-after')]).to.deep.equal([429, null]);
  });
});

type Headers = Readonly<Record<string, string>>;
type Row = Readonly<Record<string, unknown>>;
