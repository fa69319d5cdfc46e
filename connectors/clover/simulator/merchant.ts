import {
  type Collection,
  type CollectionSpec,
  type Column,
  createCollections,
  cycle,
  DAY_MS,
  Fault,
  type MovableClock,
  membersOf,
  sparse,
  type TableRow,
  times,
} from '#connector/simulator';
import { customers, employees, items, orders, payments } from '../objects.ts';
import official from '../official.json' with { type: 'json' };
import { EMPLOYEE_ID } from './login.ts';

export interface Resource extends CollectionSpec {
  /** Name of a single record, for messages. */
  readonly noun: string;
  /** Names of the fields that filters and orders accept. */
  readonly filters: readonly string[];
  /** Members that are included only on request. */
  readonly expandable: readonly string[];
}

type Merchant = Readonly<Record<keyof typeof official.filters, Collection<Resource>>>;

/** Rounds a time in milliseconds down to whole seconds. */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

const makeId = (letter: string) => (index: number) => letter + index.toString(36).toUpperCase().padStart(12, '0');
const reference = (letter: string, count: number) => (index: number) => ({ id: makeId(letter)(index % count) });
const elements = (values: readonly TableRow[]) => ({ elements: values });
/** Names of people and food. They are needed, too, because the service pushes no filter for most hostile texts. */
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

/**
 * Creates the data of a merchant relative to today: orders and payments over thirteen months, the newest first, with a gap of four months.
 */
export function createMerchant(clock: MovableClock): Merchant {
  const todayMs = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const createdTime = (index: number) => {
    const days = index < 40 ? index * 2.25 : 210 + (index - 40) * 9;
    return wholeSecond(todayMs - DAY_MS * (1 + days) + index * 61_000);
  };
  const modifiedTime: Column = (index) => Math.min(createdTime(index) + (index % 4) * 3_600_000, todayMs);
  const sale = {
    ...{ createdTime, modifiedTime, clientCreatedTime: (index: number) => createdTime(index) - 1000 },
    ...{ employee: reference('E', 12), device: sparse(2, reference('D', 3)) },
  };
  const objects = { customers, employees, items, orders, payments };
  const about = (key: keyof Merchant, noun: string) => ({
    noun,
    filters: official.filters[key].split(' '),
    expandable: official.expandable[key].split(' '),
    makeId: makeId(noun.charAt(0)),
    members: membersOf(objects[key].fields),
  });
  const madeBy = { employee: { id: EMPLOYEE_ID } };
  return createCollections<keyof Merchant, Resource>({
    clock,
    writeTime: wholeSecond,
    readTime: (value) => (Number.isSafeInteger(value) ? Number(value) : undefined),
    refuse: ([complaint]) => badRequest(complaint?.message ?? ''),
    absent: ({ noun }) => new Fault(404, 'NO_RECORD', `${noun} not found`),
    of: {
      orders: {
        ...about('orders', 'Order'),
        rows: 60,
        vary: {
          ...sale,
          currency: () => 'USD',
          state: cycle(['open', 'locked', 'locked', 'open', 'locked', null]),
          total: cycle([0, 1, 5293, 1200, null, -100, 99_999_999]),
          orderType: () => null,
          lineItems: (index) => elements(times(index % 3, (n) => ({ name: name(index + n), price: n * 250 }))),
        },
        created: ['createdTime', 'clientCreatedTime'],
        changed: ['modifiedTime'],
        initial: {
          currency: 'USD',
          taxRemoved: false,
          isVat: false,
          testMode: false,
          manualTransaction: false,
          ...madeBy,
        },
        // No list contains an order without a state.
        made: { state: 'open' },
        label: 'title',
      },
      payments: {
        ...about('payments', 'Payment'),
        rows: 60,
        vary: { ...sale, order: (index) => ({ id: makeId('O')(index) }), tender: reference('N', 2) },
        created: ['createdTime', 'clientCreatedTime'],
        changed: ['modifiedTime'],
        label: 'note',
      },
      customers: {
        ...about('customers', 'Customer'),
        rows: 40,
        vary: {
          lastName: sparse(5, cycle(["O'Brien", 'Müller', 'müller', 'van der Berg', '李', 'Smith '])),
          emailAddresses: (index) =>
            elements(times(index % 3, (n) => ({ emailAddress: `c${index}+${n}%x@example.com` }))),
          phoneNumbers: (index) => elements(times(index % 2, () => ({ phoneNumber: `+1 (555) 01${index}` }))),
        },
        created: ['customerSince'],
        initial: { marketingAllowed: false },
      },
      items: {
        ...about('items', 'Item'),
        rows: 66,
        vary: {
          modifiedTime,
          name,
          price: cycle([1200, 0, 999, 100_000_000, 1]),
          sku: sparse(5, (index) => `sku-${'aAbB'[index % 4]}${Math.floor(index / 4)}`),
        },
        changed: ['modifiedTime'],
        initial: { hidden: false, available: true, autoManage: false, priceType: 'FIXED', isRevenue: true },
      },
      employees: {
        ...about('employees', 'Employee'),
        rows: 36,
        vary: { role: (index) => (index === 0 ? 'OWNER' : cycle(['ADMIN', 'MANAGER', 'EMPLOYEE'])(index)) },
        initial: { role: 'EMPLOYEE', isOwner: false, inviteSent: false },
      },
    },
  });
}

export function badRequest(message: string): Fault {
  return new Fault(400, 'BAD_REQUEST', message);
}
