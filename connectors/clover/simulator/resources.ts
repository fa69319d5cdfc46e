import {
  type Column,
  createTable,
  cycle,
  DAY_MS,
  HOSTILE_TEXTS,
  type MovableClock,
  makeRows,
  sparse,
  type Table,
  type TableRow,
  times,
} from '#connector/simulator';
import { EMPLOYEE_ID } from './login.ts';

/** `code`: identifiers and fixed words; `time`: milliseconds since 1970. */
export type Kind = 'text' | 'code' | 'time' | 'integer' | 'number' | 'boolean';

/** A collection below a merchant, as Clover's reference describes it. */
export interface Resource {
  readonly table: Table;
  /** Of one record, in messages. */
  readonly noun: string;
  /** Fields that a filter may name. */
  readonly filters: Readonly<Record<string, Kind>>;
  /** Where a filter finds what stands elsewhere in the record. */
  readonly aliases?: Readonly<Record<string, string | ((row: TableRow) => unknown)>>;
  /** Of filters for equality in which a `*` stands for anything: seen by others at the sandbox, not documented. */
  readonly wildcards?: readonly string[];
  /** Members that are shown on demand only. */
  readonly expandable: readonly string[];
  /** Members that are never shown. */
  readonly hidden?: readonly string[];
  /** Members that callers may set. */
  readonly writable: Readonly<Record<string, Kind | 'list' | 'object'>>;
  /** Members that a new record must have. */
  readonly required?: readonly string[];
  /** In characters, where it is limited. */
  readonly longest?: Readonly<Record<string, number>>;
  readonly isWindowed?: boolean;
  /** Which records lists show. Default: all. */
  readonly isListed?: (row: TableRow) => boolean;
  readonly can: readonly ('create' | 'update' | 'delete')[];
}

/** What a filter on a field looks at: several values where it leads into a list, none where nothing is. */
export function valuesAt({ aliases }: Resource, row: TableRow, field: string): readonly unknown[] {
  const alias = aliases?.[field] ?? field;
  if (typeof alias !== 'string') return [alias(row)];
  return alias
    .split('.')
    .reduce<readonly unknown[]>((values, name) => values.flatMap((value) => Object(value)[name] ?? []), [row]);
}

export function makeId(letter: string, index: number): string {
  return letter + index.toString(36).toUpperCase().padStart(12, '0');
}

/** Clover's times are whole seconds, in milliseconds. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

const text = cycle(HOSTILE_TEXTS.flatMap((hostile, index) => [hostile, `Table ${index}`]));
const NAMES = [
  'Caesar Salad',
  'caesar salad',
  'Crème brûlée',
  "Chef's Special",
  '100% Beef*',
  'Beef_Wrap ',
  'Tee ☕',
  '-1',
];
const name = cycle(NAMES);
const short: Column = (index) => String(text(index)).slice(0, 64);
const id =
  (letter: string): Column =>
  (index) =>
    makeId(letter, index);
const reference = (letter: string, count: number) => (index: number) => ({ id: makeId(letter, index % count) });
const employee = reference('E', 12);
const elements = (values: readonly TableRow[]) => ({ elements: values });

const ORDERS = 60;

/** From yesterday, the newest first, back over thirteen months, with nothing at all for four of them. */
function createdAt(todayMs: number): (index: number) => number {
  return (index) => {
    const days = index < 40 ? index * 2.25 : 210 + (index - 40) * 9;
    return wholeSecond(todayMs - DAY_MS * (1 + days) + index * 61_000);
  };
}

/** All of a merchant, as of today. */
export function createResources(clock: MovableClock): Readonly<Record<string, Resource>> {
  const todayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const created = createdAt(todayMs);
  const later: Column = (index) => Math.min(created(index) + (index % 4) * 3_600_000, todayMs);
  const tableOf = (
    letter: string,
    rows: readonly TableRow[],
    options: { stamps?: readonly string[]; initial: () => TableRow },
  ) => {
    let next = 1000;
    return createTable({
      rows,
      keyOf: (row) => String(row.id),
      initial: () => ({ id: makeId(letter, next++), ...options.initial() }),
      stamps: { clock, write: wholeSecond, created: options.stamps ?? [], changed: ['modifiedTime'] },
    });
  };
  const now = () => wholeSecond(clock.now());
  return {
    orders: {
      noun: 'Order',
      table: tableOf(
        'O',
        makeRows(ORDERS, {
          id: id('O'),
          currency: () => 'USD',
          employee,
          total: cycle([0, 1, 5293, 1200, null, -100, 99_999_999]),
          externalReferenceId: sparse(3, (index) => `REF-${index}`),
          paymentState: cycle(['PAID', 'OPEN', 'PARTIALLY_PAID', 'REFUNDED']),
          title: sparse(4, short),
          note: sparse(7, (index) => text(index + 1), 2),
          taxRemoved: (index) => index % 6 === 0,
          isVat: () => false,
          state: cycle(['open', 'locked', 'locked', 'open', 'locked', null]),
          manualTransaction: (index) => index % 5 === 0,
          groupLineItems: () => true,
          testMode: (index) => index % 9 === 8,
          payType: cycle(['FULL', null, 'SPLIT_GUEST', 'SPLIT_ITEM', 'SPLIT_CUSTOM']),
          createdTime: created,
          clientCreatedTime: (index) => created(index) - 1000,
          modifiedTime: later,
          device: sparse(2, reference('D', 3)),
          lineItems: (index) =>
            elements(
              times(index % 3, (n) => ({ id: makeId('L', index * 3 + n), name: name(index + n), price: n * 250 })),
            ),
          customers: (index) => elements(index % 2 === 0 ? [reference('C', 40)(index)] : []),
          payments: (index) => elements([{ id: makeId('P', index) }]),
        }),
        {
          stamps: ['createdTime'],
          initial: () => ({
            ...{ currency: 'USD', employee: { id: EMPLOYEE_ID }, taxRemoved: false, isVat: false, testMode: false },
            ...{ manualTransaction: false, groupLineItems: true, clientCreatedTime: now() },
          }),
        },
      ),
      filters: {
        ...{ id: 'code', 'employee.id': 'code', 'employee.name': 'text', 'device.id': 'code', orderType: 'code' },
        ...{ note: 'text', title: 'text', externalReferenceId: 'text', 'cardTransaction.last4': 'code' },
        ...{ createdTime: 'time', modifiedTime: 'time', clientCreatedTime: 'time', deletedTime: 'time' },
        ...{ total: 'integer', payType: 'code', state: 'code' },
        ...{ testMode: 'boolean', manualTransaction: 'boolean', touched: 'boolean' },
      },
      expandable: [
        ...['lineItems', 'serviceCharge', 'discounts', 'credits', 'payments', 'customers', 'orderFulfillmentEvent'],
        'refunds',
      ],
      writable: {
        ...{ currency: 'code', employee: 'object', total: 'integer', externalReferenceId: 'text', title: 'text' },
        ...{ note: 'text', orderType: 'object', taxRemoved: 'boolean', state: 'code', manualTransaction: 'boolean' },
        ...{ groupLineItems: 'boolean', testMode: 'boolean', payType: 'code', clientCreatedTime: 'time' },
      },
      isWindowed: true,
      // Orders without a state are in no list ("Create custom orders").
      isListed: ({ state }) => (state ?? null) !== null,
      can: ['create', 'update', 'delete'],
    },
    customers: {
      noun: 'Customer',
      table: tableOf(
        'C',
        makeRows(40, {
          id: id('C'),
          firstName: sparse(6, short),
          lastName: sparse(5, cycle(["O'Brien", 'Müller', 'müller', 'van der Berg', '李', 'Smith '])),
          marketingAllowed: (index) => index % 3 === 0,
          customerSince: sparse(8, created),
          emailAddresses: (index) =>
            elements(
              times(index % 3, (n) => ({
                id: makeId('M', index * 3 + n),
                emailAddress: `c${index}+${n}%x@example.com`,
              })),
            ),
          phoneNumbers: (index) =>
            elements(times(index % 2, () => ({ id: makeId('T', index), phoneNumber: `+1 (555) 01${index}` }))),
          addresses: () => elements([]),
          cards: () => elements([]),
          metadata: sparse(2, (index) => ({ note: text(index), modifiedTime: later(index) })),
        }),
        { stamps: ['customerSince'], initial: () => ({ marketingAllowed: false }) },
      ),
      filters: {
        ...{ id: 'code', customerSince: 'time', deletedTime: 'time', firstName: 'text', lastName: 'text' },
        ...{ fullName: 'text', emailAddress: 'text', phoneNumber: 'text', marketingAllowed: 'boolean' },
      },
      aliases: {
        fullName: ({ firstName, lastName }) => [firstName, lastName].filter((part) => part != null).join(' '),
        emailAddress: 'emailAddresses.elements.emailAddress',
        phoneNumber: 'phoneNumbers.elements.phoneNumber',
      },
      expandable: ['addresses', 'emailAddresses', 'phoneNumbers', 'cards', 'metadata'],
      hidden: ['modifiedTime'],
      writable: {
        ...{ firstName: 'text', lastName: 'text', marketingAllowed: 'boolean', customerSince: 'time' },
        ...{ emailAddresses: 'list', phoneNumbers: 'list', addresses: 'list', metadata: 'object' },
      },
      longest: { firstName: 64, lastName: 64 },
      can: ['create', 'update', 'delete'],
    },
    items: {
      noun: 'Item',
      table: tableOf(
        'I',
        makeRows(66, {
          id: id('I'),
          name: (index) => (index % 2 === 0 ? name(index / 2) : short(index)),
          alternateName: sparse(4, short),
          code: sparse(3, (index) => String(4_006_381_333_900 + index)),
          sku: sparse(5, (index) => `sku-${'aAbB'[index % 4]}${Math.floor(index / 4)}`),
          price: cycle([1200, 0, 999, 100_000_000, 1]),
          priceType: cycle(['FIXED', 'VARIABLE', 'PER_UNIT']),
          unitName: sparse(3, cycle(['pound', 'm²']), 0),
          cost: sparse(4, cycle([0, 450, 1]), 1),
          hidden: (index) => index % 7 === 0,
          available: (index) => index % 5 !== 0,
          autoManage: (index) => index % 4 === 0,
          defaultTaxRates: () => true,
          isRevenue: (index) => index % 6 !== 5,
          deleted: () => false,
          modifiedTime: later,
          itemStock: sparse(2, (index) => ({ item: { id: makeId('I', index) }, quantity: (index % 10) - 0.5 })),
          tags: (index) => elements(index % 3 === 0 ? [{ id: makeId('G', index % 2), name: `Tag ${index % 2}` }] : []),
          categories: () => elements([]),
        }),
        {
          initial: () => ({
            ...{ hidden: false, available: true, autoManage: false, priceType: 'FIXED', defaultTaxRates: true },
            ...{ isRevenue: true, deleted: false },
          }),
        },
      ),
      filters: {
        ...{ id: 'code', 'item.id': 'code', name: 'text', alternateName: 'text', sku: 'text', itemCode: 'text' },
        ...{ price: 'integer', modifiedTime: 'time', 'itemStock.quantity': 'number', minimumAge: 'integer' },
        ...{ hidden: 'boolean', available: 'boolean', autoManage: 'boolean', defaultTaxRates: 'boolean' },
        ...{ isRevenue: 'boolean', deleted: 'boolean', lowStock: 'boolean', isAgeRestricted: 'boolean' },
        ...{ 'option.id': 'code', 'modifierGroup.id': 'code', 'itemGroup.id': 'code', ageRestrictedType: 'code' },
        ...{ 'tags.id': 'code', 'tags.name': 'text' },
      },
      aliases: { 'item.id': 'id', itemCode: 'code', 'tags.id': 'tags.elements.id', 'tags.name': 'tags.elements.name' },
      wildcards: ['name'],
      expandable: ['tags', 'categories', 'taxRates', 'modifierGroups', 'itemStock', 'options', 'ageRestricted'],
      writable: {
        ...{ name: 'text', alternateName: 'text', code: 'text', sku: 'text', price: 'integer', priceType: 'code' },
        ...{ unitName: 'text', cost: 'integer', hidden: 'boolean', available: 'boolean', autoManage: 'boolean' },
        ...{ defaultTaxRates: 'boolean', isRevenue: 'boolean', colorCode: 'code', priceWithoutVat: 'integer' },
      },
      required: ['name', 'price'],
      can: ['create', 'update', 'delete'],
    },
    payments: {
      noun: 'Payment',
      table: tableOf(
        'P',
        makeRows(ORDERS, {
          id: id('P'),
          order: (index) => ({ id: makeId('O', index) }),
          device: sparse(3, reference('D', 3)),
          tender: reference('N', 2),
          amount: cycle([1200, 1, 5293, 250]),
          tipAmount: cycle([0, 150]),
          taxAmount: cycle([99, 0, 8]),
          cashbackAmount: () => 0,
          cashTendered: sparse(2, () => 2000),
          externalPaymentId: sparse(3, short),
          externalReferenceId: sparse(5, (index) => `ext ${index}`),
          employee,
          createdTime: created,
          clientCreatedTime: (index) => created(index) - 1000,
          modifiedTime: later,
          offline: (index) => index % 8 === 0,
          result: cycle(['SUCCESS', 'SUCCESS', 'FAIL', 'VOIDED', 'AUTH']),
          voided: (index) => index % 5 === 3,
          cardTransaction: sparse(2, (index) => ({ cardType: cycle(['VISA', 'MC'])(index), last4: '0042' })),
        }),
        {
          stamps: ['createdTime'],
          initial: () => ({
            ...{ employee: { id: EMPLOYEE_ID }, offline: false, result: 'SUCCESS', voided: false, tipAmount: 0 },
            ...{ clientCreatedTime: now() },
          }),
        },
      ),
      filters: {
        ...{ id: 'code', 'device.id': 'code', 'tender.id': 'code', 'employee.id': 'code', result: 'code' },
        ...{ createdTime: 'time', modifiedTime: 'time', clientCreatedTime: 'time', 'order.modifiedTime': 'time' },
        ...{ externalReferenceId: 'text', externalPaymentId: 'text', cardType: 'code', amount: 'integer' },
        ...{ offline: 'boolean', voided: 'boolean' },
      },
      aliases: { cardType: 'cardTransaction.cardType' },
      expandable: [
        ...['germanInfo', 'lineItemPayments', 'cardTransaction', 'dccInfo', 'refunds', 'transactionInfo'],
        ...['oceanGatewayInfo', 'taxRates', 'additionalCharges', 'appTracking', 'paymentAttributes'],
      ],
      hidden: ['voided'],
      writable: {
        ...{ tender: 'object', amount: 'integer', tipAmount: 'integer', taxAmount: 'integer', employee: 'object' },
        ...{ cashTendered: 'integer', externalPaymentId: 'text', externalReferenceId: 'text', result: 'code' },
      },
      required: ['tender', 'amount'],
      isWindowed: true,
      can: [],
    },
    employees: {
      noun: 'Employee',
      table: tableOf(
        'E',
        makeRows(36, {
          id: id('E'),
          name: (index) => `${short(index)} ${index}`,
          nickname: sparse(3, short),
          customId: sparse(4, (index) => String(index).padStart(4, '0')),
          email: sparse(5, (index) => `e${index}@example.com`),
          inviteSent: (index) => index % 2 === 0,
          claimedTime: sparse(2, created),
          role: (index) => (index === 0 ? 'OWNER' : cycle(['ADMIN', 'MANAGER', 'EMPLOYEE'])(index)),
          isOwner: (index) => index === 0,
          modifiedTime: later,
          pin: () => 'hashed',
          roles: (index) => elements([{ id: makeId('R', index % 3) }]),
          shifts: () => elements([]),
        }),
        { initial: () => ({ role: 'EMPLOYEE', isOwner: false, inviteSent: false }) },
      ),
      filters: {
        ...{
          id: 'code',
          'role.id': 'code',
          role: 'code',
          modifiedTime: 'time',
          deletedTime: 'time',
          deleted_time: 'time',
        },
        ...{ name: 'text', nickname: 'text', customId: 'text', email: 'text' },
      },
      aliases: { 'role.id': 'roles.elements.id', deleted_time: 'deletedTime' },
      expandable: ['roles', 'shifts'],
      hidden: ['modifiedTime'],
      writable: { name: 'text', nickname: 'text', customId: 'text', email: 'text', role: 'code', pin: 'code' },
      required: ['name'],
      can: ['create', 'update', 'delete'],
    },
  };
}
