import {
  defineObject,
  type Fields,
  type ListInput,
  type ListPage,
  type ProviderRequest,
  type ProviderResponse,
} from '#connector';
import { getArray, getObject, type Json } from './answer.ts';
import { cursorAt, takePage } from './paging.ts';
import { type TimeOffFilter, timeOffTranslator } from './time-off-where.ts';
import { readAmount, readAmounts, readDate, readInteger } from './values.ts';

const WINDOW = { '=': 'superset', '<': 'superset', '<=': 'superset', '>': 'superset', '>=': 'superset' } as const;
const LISTED = { '=': 'superset', IN: 'superset' } as const;

const FIELDS: Fields = {
  // Ids, amounts and what is in `dates` are texts in the answers, whatever the schema says.
  id: { type: 'integer', nullable: false, filter: { '=': 'superset' }, read: readInteger },
  employeeId: { type: 'integer', nullable: false, filter: { '=': 'superset' }, read: readInteger },
  employeeName: { type: 'string', native: 'name' },
  start: { type: 'date', nullable: false, filter: WINDOW, read: readDate },
  end: { type: 'date', nullable: false, filter: WINDOW, read: readDate },
  created: { type: 'date', read: readDate },
  status: { type: 'string', native: 'status.status', collation: 'cs', filter: LISTED },
  statusChangedDate: { type: 'date', native: 'status.lastChanged', read: readDate },
  statusChangedByUserId: { type: 'integer', native: 'status.lastChangedByUserId', read: readInteger },
  typeId: { type: 'integer', native: 'type.id', filter: LISTED, read: readInteger },
  typeName: { type: 'string', native: 'type.name' },
  unit: { type: 'string', native: 'amount.unit', values: ['hours', 'days'] },
  amount: { type: 'number', native: 'amount.amount', read: readAmount },
  dates: { type: 'object', label: 'Amount per day', read: readAmounts },
  employeeNote: { type: 'string', native: 'notes.employee' },
  managerNote: { type: 'string', native: 'notes.manager' },
};

/** BambooHR wants a window always. This is the one for "all". */
const ALWAYS = { start: '1900-01-01', end: '2199-12-31' };

/** Requests for time off: of everybody, or below an employee. BambooHR answers all of a window at once. */
export const timeOff = defineObject<TimeOffFilter>({
  label: 'Time off requests',
  native: 'time_off/requests',
  fields: FIELDS,
  shape: { kind: 'and' },
  translator: timeOffTranslator,
  list: { request: requestTimeOff, read: readTimeOff, maxPageSize: 5000, cursorAt },
});

function requestTimeOff({ filter, parentId }: ListInput<TimeOffFilter>): ProviderRequest {
  const ofParent = parentId !== undefined && { employeeId: parentId };
  return { path: '/api/v1/time_off/requests', query: { ...ALWAYS, ...filter, ...ofParent } };
}

/** The order of the answer is not documented; pages need one. */
function readTimeOff({ body }: ProviderResponse, input: ListInput<TimeOffFilter>): ListPage {
  const requests = getArray(body, 'the time off requests').map((request) => getObject(request, 'a time off request'));
  return takePage([...requests].sort(byId), input);
}

function byId(left: Json, right: Json): number {
  return Number(left.id) - Number(right.id);
}
