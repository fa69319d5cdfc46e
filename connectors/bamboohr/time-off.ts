import { can, codec, defineObject, type Inputs, inputs, json, list } from '#connector';

/** The query of a list of time off requests. */
export type TimeOffFilter = Inputs;

/**
 * Translates conditions on time off requests. A request never ends before it begins, so a bound of one date also bounds the other: `start`
 * finds the requests that end on its day or later, `end` those that begin on its day or earlier. Everything is pushed as a superset: one
 * call returns all rows, so a second check of them costs nothing.
 */
export const timeOffTranslator = inputs({
  id: 'id',
  employeeId: 'employeeId',
  typeId: 'type',
  status: 'status',
  start: { from: 'start', to: 'end' },
  end: { from: 'start', to: 'end' },
});

// Ids, amounts and the members of `dates` are texts in responses, although the schema has other types.
const INTEGER = { type: 'integer', ...codec.blank(codec.integer) } as const;
const DATE = { type: 'date', ...codec.blank(codec.day) } as const;
const AMOUNT = codec.blank(codec.money);

const WINDOW = { ...can.only('superset', '='), ...can.order('superset') };
const LISTED = can.only('superset', '=', 'IN');

/** The window of a list without bounds. BambooHR always requires a window. */
const ALWAYS = { start: '1900-01-01', end: '2199-12-31' };

/** Requests for time off, of everybody or of one employee. BambooHR returns all requests of a window at once. */
export const timeOff = defineObject<TimeOffFilter>({
  label: 'Time off requests',
  native: 'time_off/requests',
  fields: {
    id: { ...INTEGER, nullable: false, filter: can.only('superset', '=') },
    employeeId: { ...INTEGER, nullable: false, filter: can.only('superset', '=') },
    employeeName: { type: 'string', native: 'name' },
    start: { ...DATE, nullable: false, filter: WINDOW },
    end: { ...DATE, nullable: false, filter: WINDOW },
    created: DATE,
    status: { type: 'string', native: 'status.status', collation: 'cs', filter: LISTED },
    statusChangedDate: { ...DATE, native: 'status.lastChanged' },
    statusChangedByUserId: { ...INTEGER, native: 'status.lastChangedByUserId' },
    typeId: { ...INTEGER, native: 'type.id', filter: LISTED },
    typeName: { type: 'string', native: 'type.name' },
    unit: { type: 'string', native: 'amount.unit', values: ['hours', 'days'] },
    amount: { type: 'number', native: 'amount.amount', ...AMOUNT },
    dates: { type: 'object', label: 'Amount per day', ...codec.each(AMOUNT) },
    employeeNote: { type: 'string', native: 'notes.employee' },
    managerNote: { type: 'string', native: 'notes.manager' },
  },
  shape: { kind: 'and' },
  translator: timeOffTranslator,
  list: list({
    request: ({ filter, parentId }) => ({
      path: '/api/v1/time_off/requests',
      query: { ...ALWAYS, ...filter, ...(parentId !== undefined && { employeeId: parentId }) },
    }),
    // The order of the response is not documented, but pages need a stable one.
    rows: (body) => json.objects(body, 'the time off requests').toSorted((a, b) => Number(a.id) - Number(b.id)),
    paging: { kind: 'whole' },
  }),
});

export const timeOffTypes = defineObject<never>({
  label: 'Time off types',
  native: 'meta/time_off/types',
  fields: {
    id: { ...INTEGER, nullable: false },
    name: { type: 'string' },
    units: { type: 'string', values: ['hours', 'days'] },
    color: { type: 'string' },
    icon: { type: 'string' },
    source: { type: 'string', values: ['internal', 'remote'] },
  },
  list: list({
    request: () => ({ path: '/api/v1/meta/time_off/types' }),
    rows: (body) => json.array(json.at(body, 'timeOffTypes'), 'the time off types'),
    paging: { kind: 'whole' },
  }),
});

export const timeOffPolicies = defineObject<never>({
  label: 'Time off policies',
  native: 'meta/time_off/policies',
  fields: {
    id: { ...INTEGER, nullable: false },
    timeOffTypeId: INTEGER,
    name: { type: 'string' },
    type: { type: 'string', values: ['accruing', 'discretionary', 'manual'] },
  },
  list: list({
    request: () => ({ path: '/api/v1/meta/time_off/policies' }),
    rows: (body) => json.array(body, 'the time off policies'),
    paging: { kind: 'whole' },
  }),
});
