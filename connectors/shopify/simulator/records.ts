import { getNamedType } from 'graphql';
import {
  type Collection,
  type CollectionSpec,
  createCollections,
  cycle,
  Fault,
  type Member,
  type Members,
  type MovableClock,
  schemaMembers,
  sparse,
  type TableChange,
  type TableRow,
  times,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };
import { typeOf } from './schema.ts';

/** A kind of record: its type in the schema, the root fields, and what tells an input that is not valid. */
export interface Kind extends CollectionSpec {
  readonly type: string;
  readonly list: string;
  /** The root field of one record, and the beginning of its mutations. */
  readonly one: string;
  /** The topic of its webhooks, such as `ORDERS`. Absent: it has none. */
  readonly topic?: string;
  /** The past tense in the topic of changes. */
  readonly updateTopic?: string;
  /** Returns what is wrong with a record: the field and the message. */
  readonly wrong?: (row: TableRow) => readonly [field: string, message: string] | undefined;
  /** Returns members that follow from the record and from its input. */
  readonly derive?: (row: TableRow, input: TableRow) => TableRow;
}

export type Records = Readonly<Record<string, Collection<Kind>>>;

const ROWS = 36;

/** Returns the members of a type that are no objects. Those are filled by columns, or empty. */
function membersOf(type: string): Members {
  const isScalar = ([path, { type: kind }]: [string, Member]) =>
    kind !== 'object' && !/\.|^legacyResourceId$/.test(path);
  return Object.fromEntries(Object.entries(schemaMembers(official, type)).filter(isScalar));
}

const amount = (index: number) => [10, 0.5, 199.99, 1_000_000, 0, 12.34][index % 6]?.toFixed(2) ?? '0.00';
const moneyOf = (text: unknown) => ({ amount: String(text), currencyCode: 'USD' });
const bagOf = (text: unknown) => ({ shopMoney: moneyOf(text), presentmentMoney: moneyOf(text) });

/** Returns columns for amounts, and for scalars whose texts have a form. */
function columnsOf(type: string) {
  const entries = Object.values(typeOf(type).getFields()).flatMap((field, shift) => {
    const name = String(getNamedType(field.type));
    const column = COLUMNS[name];
    if (column === undefined || field.args.length > 0) return [];
    const filled = (index: number) => column(index + shift);
    return [[field.name, String(field.type).endsWith('!') ? filled : sparse(5, filled)] as const];
  });
  return Object.fromEntries(entries);
}

const COLUMNS: Readonly<Record<string, (index: number) => unknown>> = {
  MoneyBag: (index) => bagOf(amount(index)),
  MoneyV2: (index) => moneyOf(amount(index)),
  Money: amount,
  Decimal: amount,
  UnsignedInt64: (index) => String((index * 7) % 20),
  URL: (index) => `https://demo.myshopify.com/${index}`,
  MailingAddress: (index) => ({
    ...{ id: `gid://shopify/MailingAddress/${index}`, address1: `${index} Main Street`, city: 'Bern', zip: '3000' },
    ...{ country: 'Switzerland', countryCodeV2: 'CH', firstName: 'Zoë', lastName: "O'Brien" },
  }),
};

const gid = (type: string) => (index: number) => `gid://shopify/${type}/${1001 + index * 7}`;
const TAGS = cycle([[], ['vip'], ['b2b', 'new customer'], ["it's"]]);

/** The metafields that the shop has defined. */
export const DEFINITIONS = ['ORDER', 'PRODUCT', 'CUSTOMER', 'DRAFTORDER', 'PRODUCTVARIANT'].flatMap(
  (ownerType, owner) =>
    [
      ['motto', 'single_line_text_field'],
      ['rank', 'number_integer'],
      ['ratio', 'number_decimal'],
      ['since', 'date'],
      ['flagged', 'boolean'],
    ].map(([key = '', type = ''], index) => ({
      ...{ id: `gid://shopify/MetafieldDefinition/${owner * 10 + index}`, namespace: 'custom', key, ownerType },
      ...{ name: key, description: null, type: { name: type, category: 'TEXT', supportsDefinitionMigrations: false } },
    })),
);

const metafields = (index: number) =>
  index % 3 === 0
    ? []
    : [
        metafieldOf({ namespace: 'custom', key: 'motto', type: 'single_line_text_field', value: `It's ${index}` }),
        metafieldOf({ namespace: 'custom', key: 'rank', type: 'number_integer', value: String(index) }),
      ];

/** Returns a metafield as it is read. Its JSON is the value of its type. */
function metafieldOf(given: TableRow): TableRow {
  const { namespace = 'custom', type, value } = given;
  const isText = /text_field$|^date|^url$|^color$/.test(String(type)) && !String(type).startsWith('list.');
  return { ...given, namespace, jsonValue: isText ? value : JSON.parse(String(value)) };
}

const itemOf = (item: TableRow, index: number) => {
  const money = Object(item.originalUnitPriceWithCurrency ?? Object(item.priceSet).shopMoney ?? moneyOf('10.00'));
  const each = Number(money.amount);
  const total = (each * Number(item.quantity ?? 1)).toFixed(2);
  return {
    ...{ ...item, id: `gid://shopify/LineItem/${index + 1}`, name: item.title ?? 'Item', title: item.title ?? 'Item' },
    ...{ originalUnitPriceSet: bagOf(each.toFixed(2)), originalTotalSet: bagOf(total), total },
  };
};

/** Returns the items of a record and their total, where items were given. */
function withItems(_: TableRow, { lineItems: given }: TableRow): TableRow {
  if (!Array.isArray(given)) return {};
  const lineItems = given.map((item, index) => itemOf(Object(item), index));
  const total = bagOf(lineItems.reduce((sum, item) => sum + Number(item.total), 0).toFixed(2));
  return { lineItems, totalPriceSet: total, subtotalPriceSet: total, currentTotalPriceSet: total };
}

const isBlank = (value: unknown) => value == null || String(value).trim() === '';
const items = (index: number) => [
  itemOf({ title: `Item ${index}`, quantity: 1 + (index % 3), sku: `SKU-${index}` }, 0),
];

/** Creates the records of the shop, with hostile texts. */
export function createRecords(clock: MovableClock, onChange: (name: string, change: TableChange) => void): Records {
  const kind = (type: string, list: string, own: Partial<Kind>): Kind => ({
    ...{ type, list, one: type.charAt(0).toLowerCase() + type.slice(1), rows: ROWS, ...own },
    members: membersOf(type),
    makeId: gid(type),
    vary: { ...columnsOf(type), tags: TAGS, metafields, ...own.vary },
    created: ['createdAt'],
    changed: ['updatedAt'],
  });
  const customer = cycle([null, ...times(5, gid('Customer'))]);
  const of: Readonly<Record<string, Kind>> = {
    customers: kind('Customer', 'customers', {
      topic: 'CUSTOMERS',
      label: 'note',
      vary: {
        defaultEmailAddress: sparse(4, (index) => ({ emailAddress: `customer${index}@example.com` })),
        defaultPhoneNumber: sparse(3, (index) => ({ phoneNumber: `+4131300${1000 + index}` })),
      },
      wrong: ({ firstName, lastName, defaultEmailAddress, defaultPhoneNumber }) =>
        [firstName, lastName, defaultEmailAddress, defaultPhoneNumber].every(isBlank)
          ? ['', 'A name, phone number, or email address must be present']
          : undefined,
      derive: (row) => ({ displayName: [row.firstName, row.lastName].filter((part) => !isBlank(part)).join(' ') }),
      initial: { state: 'DISABLED', numberOfOrders: '0', amountSpent: moneyOf('0.00') },
    }),
    products: kind('Product', 'products', {
      topic: 'PRODUCTS',
      label: 'title',
      wrong: ({ title }) => (isBlank(title) ? ['title', "Title can't be blank"] : undefined),
      derive: ({ descriptionHtml }) =>
        descriptionHtml == null ? {} : { description: String(descriptionHtml).replace(/<[^>]*>/g, '') },
      initial: { status: 'ACTIVE', hasOnlyDefaultVariant: true },
    }),
    productVariants: kind('ProductVariant', 'productVariants', {
      vary: { product: cycle(times(ROWS, gid('Product'))) },
    }),
    orders: kind('Order', 'orders', {
      ...{ topic: 'ORDERS', updateTopic: 'UPDATED', label: 'note' },
      vary: { customer, lineItems: items, number: (index) => 1001 + index, name: (index) => `#${1001 + index}` },
      wrong: ({ lineItems }) =>
        Array.isArray(lineItems) && lineItems.length > 0
          ? undefined
          : ['order', 'Line items must have at least one line item'],
      derive: withItems,
      initial: () => ({
        ...{
          currencyCode: 'USD',
          presentmentCurrencyCode: 'USD',
          displayFulfillmentStatus: 'UNFULFILLED',
          name: '#2000',
        },
        processedAt: new Date(clock.now()).toISOString(),
      }),
    }),
    draftOrders: kind('DraftOrder', 'draftOrders', {
      ...{ topic: 'DRAFT_ORDERS', label: 'note2' },
      vary: { customer, lineItems: items, name: (index) => `#D${1 + index}` },
      wrong: ({ lineItems }) =>
        Array.isArray(lineItems) && lineItems.length > 0 ? undefined : ['lineItems', 'Add at least 1 product'],
      derive: withItems,
      initial: { status: 'OPEN', currencyCode: 'USD', presentmentCurrencyCode: 'USD', name: '#D99' },
    }),
  };
  return createCollections({
    ...{ of, clock, onChange },
    refuse: () => undefined,
    absent: ({ type }) => new Fault(404, 'NOT_FOUND', `${type} does not exist`),
  });
}

function addressOf(given: unknown): unknown {
  if (given == null) return null;
  const { countryCode, ...address } = Object(given);
  return { ...address, countryCodeV2: countryCode ?? null, id: 'gid://shopify/MailingAddress/1' };
}

const CONTACTS: Readonly<Record<string, readonly [name: string, inner: string]>> = {
  email: ['defaultEmailAddress', 'emailAddress'],
  phone: ['defaultPhoneNumber', 'phoneNumber'],
};

/** Returns the values that an input sets in a record of the kind. */
export function valuesOf({ type }: Kind, { id: _, ...input }: TableRow, old: TableRow = {}): TableRow {
  const parts = Object.entries(input).map(([name, value]): TableRow => {
    const contact = type === 'Customer' ? CONTACTS[name] : undefined;
    if (contact !== undefined) return { [contact[0]]: isBlank(value) ? null : { [contact[1]]: value } };
    if (name === 'note' && type === 'DraftOrder') return { note2: value };
    if (name === 'metafields') return { metafields: mergeMetafields(old.metafields, value) };
    if (name === 'tags') return { tags: [...new Set((value ?? []) as readonly string[])].toSorted() };
    return { [name]: name.endsWith('Address') ? addressOf(value) : value };
  });
  return Object.assign({}, ...parts);
}

function mergeMetafields(old: unknown, given: unknown): readonly TableRow[] {
  const keyOf = ({ namespace = 'custom', key }: TableRow) => `${namespace}.${key}`;
  const lists = [old, given].map((list) => (Array.isArray(list) ? list.map(Object) : []));
  const merged = new Map(lists.flat().map((each: TableRow) => [keyOf(each), metafieldOf(each)]));
  return [...merged.values()];
}
