import { EMPLOYEE_COUNT, FIRST_ID, type Row } from './simulator-data.ts';
import { isDate } from './simulator-filter.ts';
import { type Answer, json, Refusal } from './simulator-http.ts';

const TYPES = [
  { id: '78', name: 'Vacation', units: 'days', color: '56afdd', icon: 'palm-trees', source: 'internal' },
  { id: '79', name: 'Sick Leave', units: 'hours', color: null, icon: null, source: 'internal' },
];

const POLICIES = [
  { id: 4, timeOffTypeId: 78, name: 'Vacation Full-Time', effectiveDate: null, type: 'accruing' },
  { id: 5, timeOffTypeId: 79, name: 'Sick "as needed"', effectiveDate: null, type: 'discretionary' },
];

const DEFAULT_HOURS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'].map((name) => ({ name, amount: '8' }));

export function listTypes(): Answer {
  return json({ timeOffTypes: TYPES, defaultHours: DEFAULT_HOURS });
}

export function listPolicies(): Answer {
  return json(POLICIES);
}

const REQUEST_COUNT = 120;
const STATUSES = ['approved', 'denied', 'superceded', 'requested', 'canceled'];
const STARTS = ['2024-12-30', '2025-01-01', '2025-02-28', '2024-02-29', '2026-07-01'];

const REQUESTS = Array.from({ length: REQUEST_COUNT }, (_, index) => {
  const start = STARTS[index % STARTS.length] ?? '';
  const end = addDays(start, index % 4);
  const type = TYPES[index % TYPES.length];
  return {
    // Texts throughout, although the schema has numbers.
    id: String(1300 + index),
    employeeId: String(FIRST_ID + ((index * 7) % EMPLOYEE_COUNT)),
    status: { lastChanged: '2024-12-01', lastChangedByUserId: '2340', status: STATUSES[index % STATUSES.length] ?? '' },
    start,
    end,
    created: '2024-11-30',
    type: { id: type?.id, name: type?.name, icon: type?.icon ?? '' },
    amount: { unit: type?.units, amount: String(1 + (index % 4) + 0.5) },
    actions: { view: true, edit: true, cancel: false, approve: false, deny: false, bypass: false },
    dates: { [start]: '1', [end]: '0.5' },
    notes: index % 2 === 0 ? { employee: "It's a “break” \\o/ 🏖" } : {},
  };
});

function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);
}

export function listRequests(rows: ReadonlyMap<number, Row>, query: URLSearchParams): Answer {
  const start = readDay(query, 'start');
  const end = readDay(query, 'end');
  const ids = readList(query, 'id');
  const employees = readList(query, 'employeeId');
  const types = readList(query, 'type');
  const statuses = readList(query, 'status');
  const found = REQUESTS.filter(
    (request) =>
      request.end >= start &&
      request.start <= end &&
      has(ids, request.id) &&
      has(employees, request.employeeId) &&
      has(types, request.type.id) &&
      has(statuses, request.status.status),
  );
  // The order is not documented, and not that of the ids.
  return json(found.map((request) => ({ ...request, name: getName(rows.get(Number(request.employeeId))) })).reverse());
}

function readDay(query: URLSearchParams, name: string): string {
  const day = query.get(name) ?? '';
  if (!isDate(day)) throw new Refusal(400, `Invalid or missing ${name} date`);
  return day;
}

function readList(query: URLSearchParams, name: string): readonly string[] | undefined {
  return query.get(name)?.split(',');
}

function has(list: readonly string[] | undefined, value: unknown): boolean {
  return list === undefined || list.includes(String(value));
}

function getName(row: Row | undefined): string {
  return `${row?.firstName ?? ''} ${row?.lastName ?? ''}`;
}
