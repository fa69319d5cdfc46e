import type { Config } from '#connector';
import {
  type Call,
  type Collection,
  changesOf,
  createBudget,
  createMovableClock,
  type PageStyle,
  type Routes,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  typed,
} from '#connector/simulator';
import { createBusinessRule } from './simulator/business-rule.ts';
import { noRecord, printFault, refusal, reply } from './simulator/fault.ts';
import { presenter } from './simulator/fields.ts';
import { contentOf, createInstance, type InstanceTables, isVisible, type TableSpec } from './simulator/instance.ts';
import { createLogin, HOST, INSTANCE, PASSWORD, USERNAME } from './simulator/login.ts';
import { compileQuery, type QueryContext, type TextRules } from './simulator/query.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN, HOST, INSTANCE, PASSWORD, USERNAME } from './simulator/login.ts';

/** Configuration of an instance on this simulator. With OAuth it needs only the name, and the access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION: Config = { 'company.name': INSTANCE, username: USERNAME, password: PASSWORD };

export interface ServiceNowSimulatorOptions extends SimulatorOptions, TextRules {
  /** Maximum number of calls per hour, which a rule of the instance sets. Default: no limit, so that tests need not wait. */
  readonly callsPerHour?: number;
}

const HOUR_MS = 3_600_000;
/** Maximum length of a URL. ServiceNow rejects longer ones, but does not document the exact limit. */
const LONGEST_URL = 8192;

/** Creates a simulator of an instance in memory. The README lists what it simulates. */
export function createSimulator(options: ServiceNowSimulatorOptions): Simulator {
  const clock = createMovableClock();
  const login = createLogin(options.memory, clock);
  const rule = createBusinessRule(options.send, clock);
  const instance = createInstance(clock, rule.notify);
  const { callsPerHour: calls } = options;
  const headers = ({ resetMs }: { readonly resetMs: number }) => ({
    'x-ratelimit-limit': String(calls),
    'x-ratelimit-reset': String(Math.ceil((clock.now() + resetMs) / 1000)),
  });
  const changing = Object.entries(instance).flatMap(([name, { table, ...rest }]) => {
    // Simulated changes exclude rows that the user may not see, and tables that define the instance.
    const visible = { ...rest, table: { ...table, rows: () => table.rows().filter(isVisible) } };
    return /^sys_(?:db_object|dictionary|audit_delete)$/.test(name) ? [] : [[name, visible]];
  });
  return simulate(
    {
      clock,
      print: (fault, { path }) => printFault(fault, path),
      // Other instances belong to somebody else.
      hosts: [HOST],
      authenticate: login.assertUser,
      open: login.routes,
      limits: { urlCharacters: LONGEST_URL },
      budget: calls === undefined ? undefined : createBudget({ calls, windowMs: HOUR_MS, clock, headers }),
      routes: {
        ...Object.assign(
          {},
          ...Object.values(instance).map((table) => tableRoutes(table, { instance, rules: options })),
        ),
        'GET /api/now/table/{table}': ({ params }) => {
          throw refusal(400, `Invalid table ${params.table}`);
        },
        ...attachmentRoutes(instance),
      },
      commands: { ...login.commands, ...rule.commands, ...changesOf(Object.fromEntries(changing)) },
    },
    options,
  );
}

/** Returns the routes of the Table API. */
function tableRoutes(collection: Collection<TableSpec>, context: Omit<QueryContext, 'table'>): Routes {
  const { name, isClosed, prefix, table } = collection;
  const path = `/api/now/table/${name}`;
  return recordRoutes(path, collection, {
    list: (call) => list(collection, call, { ...context, table: name }),
    show: (row, call, status) => reply({ result: presenter(context.instance, name, call)(row) }, status),
    can: isClosed === true ? ['get'] : ['get', 'create', 'update', 'remove'],
    complete: (values, _, old) => {
      const number = prefix + String(10_001 + table.version()).padStart(7, '0');
      return old === undefined && prefix !== undefined ? { number, ...values } : values;
    },
  });
}

const PAGING: PageStyle = {
  kind: 'offset',
  offset: 'sysparm_offset',
  size: 'sysparm_limit',
  usual: 10_000,
  most: Number.MAX_SAFE_INTEGER,
  refuse: (message, parameter) => refusal(400, `Invalid ${parameter}`, message),
};

/**
 * Responds with a list. The page is cut first, and then loses the rows that the user may not see. So it may be short or even empty without
 * being the last one.
 */
function list({ table, name }: Collection<TableSpec>, call: Call, context: QueryContext): SimulatedResponse {
  const { test, order, isTotal } = compileQuery(call.query.get('sysparm_query') ?? '', context);
  const found = table.rows().filter(test);
  // Rows that are equal in the order have another position on another page, as in a database.
  const isLater = !isTotal && Number(call.query.get('sysparm_offset') ?? 0) > 0;
  const { rows, total } = takePage(sortRows(isLater ? found.toReversed() : found, order), PAGING, call);
  const result = rows.filter(isVisible).map(presenter(context.instance, name, call));
  return reply({ result }, 200, { 'x-total-count': String(total) });
}

/** Returns the routes of the Attachment API: a record for each file, and its content. */
function attachmentRoutes(instance: InstanceTables): Routes {
  const { sys_attachment: attachments } = instance;
  if (attachments === undefined) return {};
  const files = new Map<string, Buffer>();
  const path = '/api/now/attachment';
  const show = (row: TableRow, call: Call, status?: number) =>
    reply({ result: presenter(instance, 'sys_attachment', call)(row) }, status);
  return {
    ...recordRoutes(path, attachments, { show, can: ['get', 'remove'] }),
    [`GET ${path}/{id}/file`]: ({ params: { id = '' } }) =>
      typed(String(attachments.get(id).content_type), files.get(id) ?? contentOf(id)),
    [`POST ${path}/file`]: (call) => {
      const row = attachments.table.insert(readUpload(instance, call));
      files.set(String(row.sys_id), call.body.bytes);
      return show(row, call, 201);
    },
  };
}

/**
 * Reads the description of an upload.
 * @throws Fault 400 for a missing parameter, 404 for a record that does not exist
 */
function readUpload(instance: InstanceTables, { query, body, headers }: Call): TableRow {
  const given = ['table_name', 'table_sys_id', 'file_name'].map((name) => [name, query.get(name) ?? '']);
  const missing = given.find(([, value]) => value === '');
  if (missing !== undefined) throw refusal(400, `Missing required parameter: ${missing[0]}`);
  const { table_name = '', table_sys_id = '', file_name = '' } = Object.fromEntries(given);
  const target = instance[table_name];
  if (target === undefined) throw noRecord();
  target.get(table_sys_id);
  return {
    ...{ table_name, table_sys_id, file_name: file_name.slice(0, 100) },
    content_type: headers['content-type'],
    size_bytes: String(body.bytes.length),
  };
}
