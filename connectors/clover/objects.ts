import {
  can,
  codec,
  decimalsOfCurrency,
  defineObject,
  type FieldSpec,
  type Fields,
  type Inputs,
  json,
  type Objects,
  path,
  records,
} from '#connector';
import { inUnits } from './amounts.ts';
import { createTranslator, expandOf, listOf } from './lists.ts';
import { listInWindows, WINDOWED } from './windows.ts';

const WRITTEN = { createable: true, updateable: true } as const;

/** Clover does not document whether a missing value differs from every value. */
const OTHER = can.only('superset', '!=');
const NUMBERS = { ...can.only('exact', '='), ...can.order('exact'), ...OTHER };

const isId = (text: string) => /^[0-9A-Z]{13}$/.test(text);
const IDS = { text: { possible: isId, certain: isId } } as const;
const ID = {
  type: 'string',
  nullable: false,
  domain: IDS,
  filter: { ...can.only('exact', '=', 'IN'), ...OTHER },
} as const;
const REFERENCE = { type: 'string', domain: IDS, filter: { ...can.only('exact', '='), ...OTHER } } as const;

/**
 * Texts that are safe in a condition. Clover does not document how it compares text, nor how it reads quotes, operators, blanks at the ends
 * and words such as NULL. So conditions contain none of these, and every returned row is checked again.
 */
const PLAIN = /^[\p{L}\p{M}\p{N}.,;:@_+#&/()[\]{}$?^-]+(?: [\p{L}\p{M}\p{N}.,;:@_+#&/()[\]{}$?^-]+)*$/u;
const WORDS = /\b(?:null|and|or|in|is|like|not)\b/i;
const isPlain = (text: string) => PLAIN.test(text) && !WORDS.test(text) && !/[\u{10000}-\u{10ffff}]/u.test(text);
const TEXT = { type: 'string', domain: { text: { askable: isPlain } }, filter: can.only('superset', '=') } as const;

const FLAG = { type: 'boolean', filter: can.only('exact', '=') } as const;
/** An amount in the smallest unit of the merchant's currency. */
const CENTS = {
  type: 'integer',
  range: ['-9007199254740991', '9007199254740991'],
  filter: NUMBERS,
} as const satisfies FieldSpec;
const TIME = {
  type: 'datetime',
  ...codec.epochMilliseconds,
  domain: { step: 'millisecond', first: '1970-01-01T00:00:00Z', last: '9999-12-31T23:59:59.999Z' },
} as const satisfies FieldSpec;
const CREATED = {
  ...TIME,
  nullable: false,
  sortable: true,
  filter: { ...can.only('exact', '='), ...can.order('exact') },
} as const;
const MODIFIED = { ...TIME, filter: { ...can.only('superset', '='), ...can.order('superset') } } as const;

/**
 * Fields of orders whose conditions restrict the list to the last 90 days. Requests for older windows leave them out, so every row is
 * checked again. Sources: "Clover API updates - May 2023", "Get all orders".
 */
const RECENT_FIELDS = [
  'state',
  'title',
  'note',
  'total',
  'payType',
  'manualTransaction',
  'testMode',
  'externalReferenceId',
];
const RECENT_FLAG = { ...FLAG, filter: can.only('superset', '=') } as const;
const RECENT_CENTS = { ...CENTS, filter: { ...can.only('superset', '=', '!='), ...can.order('superset') } } as const;

/** A field with documented values. Requests contain no other values. */
function oneOf(...values: readonly string[]) {
  const isKnown = (text: string) => values.includes(text);
  return {
    type: 'string',
    values,
    domain: { text: { nonEmpty: true, askable: isKnown, certain: isKnown } },
    filter: can.only('superset', '=', '!='),
  } as const satisfies FieldSpec;
}

/** Returns a field without its filter, for lists that Clover cannot filter by this field. */
function shown<Spec extends FieldSpec>(spec: Spec): Omit<Spec, 'filter'> {
  const { filter, ...rest } = spec;
  return rest;
}

/** Returns the names of the fields that can be filtered, except the fields of the windows. */
function filteredIn(fields: Fields, windowed: readonly string[] = []): readonly string[] {
  return Object.keys(fields).filter((name) => fields[name]?.filter !== undefined && !windowed.includes(name));
}

interface Abilities {
  readonly expandable?: readonly string[];
  /** Values of every creation that the caller does not set. */
  readonly initial?: Readonly<Record<string, unknown>>;
}

/** Returns the operations on single records. An update is a POST. A written record is read back. */
function recordsOf(collection: string, { expandable = [], initial = {} }: Abilities = {}) {
  return records({
    get: (id, natives) => ({
      path: path`/${collection}/${id}`,
      query: { expand: expandOf(natives, expandable) },
    }),
    create: {
      request: (values) => ({ method: 'POST', path: `/${collection}`, json: { ...initial, ...values } }),
      id: ({ body }) => json.text(json.at(body, 'id'), 'the id of the new record'),
    },
    update: (id, values) => ({ method: 'POST', path: path`/${collection}/${id}`, json: values }),
    remove: (id) => ({ method: 'DELETE', path: path`/${collection}/${id}` }),
  });
}

const ORDER_FIELDS = {
  id: ID,
  createdTime: CREATED,
  modifiedTime: MODIFIED,
  clientCreatedTime: TIME,
  state: { ...TEXT, ...WRITTEN, label: 'State: open, locked' },
  title: { ...TEXT, ...WRITTEN },
  note: { ...TEXT, ...WRITTEN },
  total: { ...RECENT_CENTS, updateable: true, label: 'Total, in cents' },
  unpaidBalance: { ...shown(CENTS), label: 'Unpaid balance, in cents' },
  currency: { type: 'string' },
  payType: oneOf('SPLIT_GUEST', 'SPLIT_ITEM', 'SPLIT_CUSTOM', 'FULL'),
  paymentState: shown(oneOf('OPEN', 'PAID', 'REFUNDED', 'CREDITED', 'PARTIALLY_PAID', 'PARTIALLY_REFUNDED')),
  manualTransaction: { ...RECENT_FLAG, ...WRITTEN },
  testMode: { ...RECENT_FLAG, ...WRITTEN },
  taxRemoved: { type: 'boolean', ...WRITTEN },
  groupLineItems: { type: 'boolean', ...WRITTEN },
  isVat: { type: 'boolean' },
  externalReferenceId: TEXT,
  employeeId: { ...REFERENCE, native: 'employee.id' },
  deviceId: { ...shown(REFERENCE), native: 'device.id' },
  orderTypeId: { ...shown(REFERENCE), native: 'orderType.id' },
} as const satisfies Fields;

export const orders = defineObject<Inputs>({
  label: 'Orders',
  description: 'Sales, paid or not. Orders without a state are in no list; read them by id.',
  fields: ORDER_FIELDS,
  limits: { maxInSize: 100 },
  translator: createTranslator(filteredIn(ORDER_FIELDS, WINDOWED), { times: WINDOWED, recent: RECENT_FIELDS }),
  list: listInWindows('orders'),
  changes: { updated: 'modifiedTime', created: 'createdTime' },
  // No list contains an order without a state. Source: "Create custom orders".
  ...recordsOf('orders', { initial: { state: 'open' } }),
});

const PAYMENT_FIELDS = {
  id: ID,
  createdTime: CREATED,
  modifiedTime: MODIFIED,
  clientCreatedTime: TIME,
  amount: { ...CENTS, label: 'Amount, in cents' },
  tipAmount: { ...shown(CENTS), label: 'Tip, in cents' },
  taxAmount: { ...shown(CENTS), label: 'Tax, in cents' },
  cashbackAmount: { ...shown(CENTS), label: 'Cash back, in cents' },
  cashTendered: { ...shown(CENTS), label: 'Cash tendered, in cents' },
  result: oneOf(
    'SUCCESS',
    'FAIL',
    'INITIATED',
    'VOIDED',
    'VOIDING',
    'VOID_FAILED',
    'AUTH',
    'AUTH_COMPLETED',
    'DISCOUNT',
    'OFFLINE_RETRYING',
    'PENDING',
  ),
  offline: FLAG,
  externalPaymentId: TEXT,
  externalReferenceId: TEXT,
  note: { type: 'string' },
  orderId: { ...shown(REFERENCE), native: 'order.id' },
  employeeId: { ...REFERENCE, native: 'employee.id' },
  tenderId: { ...REFERENCE, native: 'tender.id' },
  deviceId: { ...shown(REFERENCE), native: 'device.id' },
} as const satisfies Fields;

export const payments = defineObject<Inputs>({
  label: 'Payments',
  description: 'Payments for orders.',
  fields: PAYMENT_FIELDS,
  limits: { maxInSize: 100 },
  translator: createTranslator(filteredIn(PAYMENT_FIELDS, WINDOWED), { times: WINDOWED }),
  list: listInWindows('payments'),
  changes: { updated: 'modifiedTime', created: 'createdTime' },
  ...records({ get: (id) => ({ path: path`/payments/${id}` }) }),
});

const CUSTOMER_LISTS = ['addresses', 'emailAddresses', 'phoneNumbers'] as const;

const CUSTOMER_FIELDS = {
  id: ID,
  firstName: { ...TEXT, ...WRITTEN },
  lastName: { ...TEXT, ...WRITTEN },
  customerSince: { ...TIME, filter: NUMBERS },
  marketingAllowed: FLAG,
  addresses: { type: 'array', native: 'addresses.elements' },
  emailAddresses: { type: 'array', native: 'emailAddresses.elements' },
  phoneNumbers: { type: 'array', native: 'phoneNumbers.elements' },
} as const satisfies Fields;

export const customers = defineObject<Inputs>({
  label: 'Customers',
  fields: CUSTOMER_FIELDS,
  limits: { maxInSize: 100 },
  translator: createTranslator(filteredIn(CUSTOMER_FIELDS)),
  list: listOf('customers', CUSTOMER_LISTS),
  ...recordsOf('customers', { expandable: CUSTOMER_LISTS }),
});

const ITEM_FIELDS = {
  id: ID,
  name: { ...TEXT, ...WRITTEN, nullable: false, required: true },
  alternateName: { ...TEXT, ...WRITTEN },
  sku: { ...TEXT, ...WRITTEN, label: 'Stock keeping unit' },
  code: { type: 'string', ...WRITTEN, label: 'Product code (UPC, EAN)' },
  price: { ...CENTS, ...WRITTEN, nullable: false, required: true, sortable: true, label: 'Price, in cents' },
  priceType: { ...shown(oneOf('FIXED', 'VARIABLE', 'PER_UNIT')), ...WRITTEN },
  priceWithoutVat: { ...shown(CENTS), label: 'Price without value-added tax, in cents' },
  cost: { ...shown(CENTS), ...WRITTEN, label: 'Cost, in cents' },
  unitName: { type: 'string', ...WRITTEN },
  hidden: { ...FLAG, ...WRITTEN },
  available: { ...FLAG, ...WRITTEN },
  autoManage: FLAG,
  defaultTaxRates: { ...FLAG, ...WRITTEN },
  isRevenue: { ...FLAG, ...WRITTEN },
  modifiedTime: { ...TIME, sortable: true, filter: NUMBERS },
  deletedTime: TIME,
} as const satisfies Fields;

export const items = defineObject<Inputs>({
  label: 'Items',
  description: 'Items that the merchant sells: the inventory.',
  fields: ITEM_FIELDS,
  limits: { maxInSize: 100 },
  translator: createTranslator(filteredIn(ITEM_FIELDS)),
  list: listOf('items'),
  // Items have no time of creation.
  changes: { updated: 'modifiedTime' },
  ...recordsOf('items'),
});

const EMPLOYEE_FIELDS = {
  id: ID,
  name: { ...TEXT, ...WRITTEN, nullable: false, required: true },
  nickname: { ...TEXT, ...WRITTEN },
  customId: { ...TEXT, ...WRITTEN },
  email: { ...TEXT, ...WRITTEN, format: 'email' },
  role: { ...oneOf('OWNER', 'ADMIN', 'MANAGER', 'EMPLOYEE'), ...WRITTEN },
  isOwner: { type: 'boolean' },
  inviteSent: { type: 'boolean' },
  claimedTime: TIME,
  deletedTime: TIME,
} as const satisfies Fields;

export const employees = defineObject<Inputs>({
  label: 'Employees',
  description: 'Employees of the merchant.',
  fields: EMPLOYEE_FIELDS,
  limits: { maxInSize: 100 },
  translator: createTranslator(filteredIn(EMPLOYEE_FIELDS)),
  list: listOf('employees'),
  ...recordsOf('employees'),
});

/** Returns the objects of a merchant. Clover stores amounts in the smallest unit of the merchant's currency. */
export function objectsIn(currency: string): Objects {
  const decimals = decimalsOfCurrency(currency);
  return {
    items: inUnits(items, { amounts: 'price priceWithoutVat cost', decimals }),
    customers,
    employees,
    orders: inUnits(orders, { amounts: 'total unpaidBalance', decimals }),
    payments: inUnits(payments, { amounts: 'amount tipAmount taxAmount cashbackAmount cashTendered', decimals }),
  };
}
