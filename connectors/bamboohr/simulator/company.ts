import {
  type Call,
  dayAfter,
  json,
  type Routes,
  type SimulatedResponse,
  type Table,
  times,
} from '#connector/simulator';
import { EMPLOYEE_COUNT, FIRST_ID, findEmployee } from './employees.ts';
import { isDay, refusal } from './fault.ts';

const TYPES = [
  { id: '78', name: 'Vacation', units: 'days', color: '56afdd', icon: 'palm-trees', source: 'internal' },
  { id: '79', name: 'Sick Leave', units: 'hours', color: null, icon: null, source: 'internal' },
];

const POLICIES = [
  { id: 4, timeOffTypeId: 78, name: 'Vacation Full-Time', type: 'accruing' },
  { id: 5, timeOffTypeId: 79, name: 'Sick "as needed"', type: 'discretionary' },
];

const STATUSES = ['approved', 'denied', 'superceded', 'requested', 'canceled'];
const STARTS = ['2024-12-30', '2025-01-01', '2025-02-28', '2024-02-29', '2026-07-01'];

const REQUESTS = times(120, (index) => {
  const start = STARTS[index % STARTS.length] ?? '';
  const end = dayAfter(start, index % 4);
  const type = TYPES[index % TYPES.length];
  return {
    // All values are texts, although the schema has numbers.
    id: String(1300 + index),
    employeeId: String(FIRST_ID + ((index * 7) % EMPLOYEE_COUNT)),
    status: { lastChanged: '2024-12-01', lastChangedByUserId: '2340', status: STATUSES[index % STATUSES.length] },
    ...{ start, end, created: '2024-11-30', type },
    amount: { unit: type?.units, amount: String(1 + (index % 4) + 0.5) },
    dates: { [start]: '1', [end]: '0.5' },
    notes: index % 2 === 0 ? { employee: "It's a “break” \\o/ 🏖" } : {},
  };
});

function listRequests(employees: Table, { query }: Call): SimulatedResponse {
  const [start, end] = [readDay(query, 'start'), readDay(query, 'end')];
  const has = (name: string, value: unknown) => query.get(name)?.split(',').includes(String(value)) ?? true;
  const found = REQUESTS.filter(
    (request) =>
      request.end >= start &&
      request.start <= end &&
      has('id', request.id) &&
      has('employeeId', request.employeeId) &&
      has('type', request.type?.id) &&
      has('status', request.status.status),
  );
  const named = found.map((request) => {
    const { firstName = '', lastName = '' } = employees.find(request.employeeId) ?? {};
    return { ...request, name: `${firstName} ${lastName}` };
  });
  // The order is not documented, and differs from the order of ids.
  return json(named.reverse());
}

function readDay(query: URLSearchParams, name: string): string {
  const day = query.get(name) ?? '';
  if (!isDay(day)) throw refusal(400, `Invalid or missing ${name} date`);
  return day;
}

const COMPANY_FILES = [
  companyFile(470, 'Employee Handbook', 'handbook.pdf', 'yes'),
  companyFile(471, 'Men\'s "dress" code \\ 2025', 'Über uns – 👔.docx', 'no'),
];

function companyFile(id: number, name: string, originalFileName: string, shareWithEmployees: 'yes' | 'no') {
  // The size is a text here, but a number in the files of an employee.
  const made = { size: String(id * 1000), dateCreated: '2025-02-11T22:30:07+0000', createdBy: "Pat O'Brien" };
  return { id, name, originalFileName, ...made, shareWithEmployees, canRenameFile: 'yes', canDeleteFile: 'no' };
}

const employeeFile = (employee: number, number: number) => ({
  id: employee * 10 + number,
  name: `Contract ${number}`,
  originalFileName: `contract-${number}.pdf`,
  size: 1000 * number,
  dateCreated: `2024-01-1${number}T23:59:59+0000`,
  createdBy: 'Ashley Smith',
  shareWithEmployee: number === 1 ? 'yes' : 'no',
  ...{ canRenameFile: 'yes', canDeleteFile: 'yes' },
});

/** Lists the files of an employee. One employee in three has files. */
function listEmployeeFiles(employees: Table, { params }: Call): SimulatedResponse {
  const id = Number(findEmployee({ table: employees }, params.id).eeid);
  if (id % 3 !== 0) throw refusal(404, 'The employee has no accessible file categories');
  return json({
    categories: [
      { id: 12, name: 'Signed Documents', files: [employeeFile(id, 1)] },
      { id: 13, name: 'Tasklist Attachments', files: [employeeFile(id, 2)] },
    ],
  });
}

/** Returns the routes for time off and files. */
export function companyRoutes(employees: Table): Routes {
  const categories = [
    { id: 112, name: 'New Hire Docs', files: COMPANY_FILES },
    { id: 113, name: 'Empty', files: [] },
  ];
  return {
    'GET /api/v1/meta/time_off/types': () => json({ timeOffTypes: TYPES }),
    'GET /api/v1/meta/time_off/policies': () => json(POLICIES),
    'GET /api/v1/time_off/requests': (call) => listRequests(employees, call),
    'GET /api/v1/files/view': () => json({ categories }),
    'GET /api/v1/employees/{id}/files/view': (call) => listEmployeeFiles(employees, call),
  };
}
