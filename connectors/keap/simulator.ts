import {
  type Call,
  changesOf,
  createBudget,
  createMovableClock,
  createOfficialJudges,
  type Deviation,
  type Fault,
  json,
  type MovableClock,
  type PageStyle,
  type Routes,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  sortRows,
  type TableRow,
  type TextRule,
  takePage,
  typed,
  withNullMembers,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { badRequest, compileAll, fieldOf } from './simulator/filter.ts';
import { createFirstVersion } from './simulator/first.ts';
import { createHooks } from './simulator/hooks.ts';
import { API_HOSTS, createLogin, TENANT } from './simulator/login.ts';
import { contentOf, createRecords, expand, type Records, type Resource } from './simulator/records.ts';

export { CLIENTS, DEMO_ACCESS_KEY, DEMO_ACCESS_TOKEN } from './simulator/login.ts';

/** Configuration of an instance on this simulator. Its access token is `DEMO_ACCESS_TOKEN`. */
export const DEMO_CONFIGURATION = {};

export interface KeapSimulatorOptions extends SimulatorOptions {
  /** The rule for comparing texts. Keap documents it only for prefixes, which ignore case. Default `ignoring case`. */
  readonly text?: TextRule;
  /** Maximum number of calls per minute. Keap allows 1,500. Default: no limit, so that tests need not wait. */
  readonly callsPerMinute?: number;
}

const ROOT = '/crm/rest/v2';

const UNJUDGED = ['query', 'body', 'response'] as const;

/** The reasons why Keap's description of the second version is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...['GET', 'POST', 'PATCH', 'PUT', 'DELETE'].map(
    (method): Deviation => ({
      ...{ operation: `${method} /rest/v1/{rest*}`, unjudged: UNJUDGED },
      reason: 'The first version of the API has a document of its own, of which only copies of parts are public.',
    }),
  ),
  ...['GET /rest/v2/taskAppointments', 'GET /rest/v2/sales/transactions'].map(
    (operation): Deviation => ({ operation, unjudged: UNJUDGED, reason: 'Only later clients of Keap have it.' }),
  ),
  {
    ...{ operation: 'GET /rest/v2/files/{file_id}:data', unjudged: ['response'] },
    reason: 'The content of a file is bytes, which the description has as base64.',
  },
  ...['GET /app/oauth/authorize', 'POST /token'].map(
    (operation): Deviation => ({ operation, unjudged: UNJUDGED, reason: 'The log-in is in no description.' }),
  ),
];

/** Schemas of responses, whose members without a value are null. */
const SHOWN: readonly Deviation[] = Object.keys(official.schemas)
  .filter((schema) => !/Request/.test(schema))
  .map((schema) => ({
    schema,
    reason: 'Recorded responses have null for members without a value.',
    change: withNullMembers,
  }));

const createJudge = createOfficialJudges(official, [...DEVIATIONS, ...SHOWN]);

/** Creates a simulator of one Keap application in memory, with both versions of its API. */
export function createSimulator(options: KeapSimulatorOptions): Simulator {
  const { memory, send, text: rule = 'ignoring case' } = options;
  const clock = createMovableClock();
  const login = createLogin(shareMemory(memory, 'login'), clock);
  const hooks = createHooks({ memory: shareMemory(memory, 'hooks'), clock, send });
  const records = createRecords(clock, hooks.notify);
  return simulate(
    {
      clock,
      print,
      official: createJudge((path) => path.replace(/^\/crm\//, '/')),
      budget: createRates(clock, options.callsPerMinute),
      hosts: API_HOSTS,
      authenticate: login.authenticate,
      open: login.routes,
      routes: {
        ...Object.assign({}, ...Object.values(records).map((collection) => routesOf(records, collection, rule))),
        ...createFirstVersion(records),
        ...hooks.routes,
      },
      commands: { ...login.commands, ...hooks.commands, ...changesOf(records) },
    },
    options,
  );
}

type Of = Records[keyof Records];

function routesOf(records: Records, collection: Of, rule: TextRule): Routes {
  const { name, path } = collection;
  const list = (call: Call) => respondWithList(records, collection, call, rule);
  const show = (row: TableRow, call: Call, status = 200) =>
    json(
      present(collection, expand(row, name, records), { fields: readFields(collection, call), isWhole: true }),
      status,
    );
  if (name === 'transactions' || name === 'appointments' || name === 'commissions')
    return { [`GET ${ROOT}/${path}`]: list };
  if (name === 'files') return fileRoutes(records.files, { list, show });
  return {
    ...recordRoutes(`${ROOT}/${path}`, collection, {
      list,
      show,
      // An e-mail cannot be changed.
      can: name === 'emails' ? ['get', 'create', 'remove'] : ['get', 'create', 'update', 'remove'],
      // Only the members in the mask are changed.
      body: ({ body, query }) => {
        const mask = query.has('update_mask')
          ? query.getAll('update_mask').flatMap((names) => names.split(','))
          : undefined;
        const said = Object.entries(body.object()).filter(([member]) => mask?.includes(member) !== false);
        return Object.fromEntries(said);
      },
      complete: ({ order_title, ...values }) => ({
        ...values,
        ...(order_title !== undefined && { title: order_title }),
      }),
    }),
  };
}

const SIZES = { size: 'page_size', usual: 1000, most: 1000, beyond: 'refused', refuse: badRequest } as const;
const WORDS: PageStyle = { ...SIZES, kind: 'cursor', cursor: 'page_token' };
/** Paging of tags. In a recorded response the token is a whole URL. */
const ADDRESSES: PageStyle = { ...SIZES, kind: 'link', token: 'page_token' };

function respondWithList(records: Records, collection: Of, call: Call, rule: TextRule): SimulatedResponse {
  const { name, table, filters, members, orders, list } = collection;
  const query = new URLSearchParams(call.query);
  if (query.get('page_size') === '0') query.delete('page_size');
  const test = compileAll(query.get('filter'), { filters, members, rule });
  const isListed = ({ sales_affiliate_id }: TableRow) =>
    name !== 'commissions' || sales_affiliate_id === call.params.affiliate;
  const found = table
    .rows()
    .map((row) => expand(row, name, records))
    .filter((row) => isListed(row) && test(row));
  // An order such as `create_time desc`.
  const order = query.get('order_by');
  const [, key = '', direction] = /^(\w+)(?: (asc|desc))?$/.exec(order ?? '') ?? [];
  const written = Object.hasOwn(orders, key) ? orders[key] : undefined;
  if (order !== null && written === undefined) throw badRequest(`Invalid order_by: ${order}`, 'order_by');
  const { term } = fieldOf(written ?? '', rule);
  const terms = written === undefined ? [] : [{ ...term, descending: direction === 'desc' }];
  const { rows, next } = takePage(sortRows(found, terms), name === 'tags' ? ADDRESSES : WORDS, { ...call, query });
  const fields = readFields(collection, call);
  return json({ [list]: rows.map((row) => present(collection, row, { fields })), next_page_token: next ?? '' });
}

/**
 * Returns the requested fields.
 * @throws Fault 400 for a field that cannot be requested
 */
function readFields({ optional, isSparse }: Resource, { query }: Call): readonly string[] | undefined {
  if (!query.has('fields')) return undefined;
  const names = query.getAll('fields').flatMap((each) => each.split(',').map((name) => name.trim()));
  const allowed = isSparse ? [...optional, 'id', 'given_name', 'family_name'] : optional;
  const wrong = names.find((name) => !allowed.includes(name));
  if (wrong !== undefined) throw badRequest(`Invalid fields: ${wrong}`, 'fields');
  return names;
}

interface Presented {
  readonly fields: readonly string[] | undefined;
  /** Whether the content of an e-mail is included. Lists do not contain it. */
  readonly isWhole?: boolean;
}

function present(
  { optional, isSparse, hidden }: Resource,
  row: TableRow,
  { fields, isWhole = false }: Presented,
): TableRow {
  const isAsked = (name: string) => fields?.includes(name) === true;
  const isShown = (name: string) =>
    isSparse && fields !== undefined ? isAsked(name) : !optional.includes(name) || isAsked(name);
  const isOut = (name: string) => hidden.includes(name) && !(isWhole && name.endsWith('_content'));
  return Object.fromEntries(Object.entries(row).filter(([name]) => !isOut(name) && isShown(name)));
}

/** Returns the routes of files, whose content is stored separately. Both uploads are POST. */
function fileRoutes(
  files: Records['files'],
  { list, show }: Pick<Parameters<typeof recordRoutes>[2], 'list' | 'show'>,
): Routes {
  const contents = new Map<unknown, Uint8Array>();
  const upload = async (call: Call, id?: string) => {
    const { bytes, values } = await readUpload(call, id === undefined);
    const row = id === undefined ? files.table.insert(values) : files.table.update(id, values);
    if (bytes !== undefined) contents.set(row?.id, bytes);
    return show(row ?? {}, call, id === undefined ? 201 : 200);
  };
  return {
    [`POST ${ROOT}/files`]: (call) => upload(call),
    [`GET ${ROOT}/files/{id}:data`]: ({ params: { id = '' } }) =>
      typed('application/octet-stream', contents.get(files.get(id).id) ?? contentOf(id)),
    [`POST ${ROOT}/files/{id}`]: (call) => upload(call, String(files.get(call.params.id ?? '').id)),
    ...recordRoutes(`${ROOT}/files`, files, { list, show, can: ['get', 'remove'] }),
  };
}

/**
 * Reads the parts of an upload.
 * @throws Fault 400
 */
async function readUpload(
  { body }: Call,
  isNew: boolean,
): Promise<{ values: TableRow; bytes: Uint8Array | undefined }> {
  if (body.type !== 'multipart/form-data') throw badRequest('The request is not a multipart request');
  const form = await body.multipart();
  const file = form.get('file');
  const [file_name, association = null, contact, open = null] = [
    'file_name',
    'file_association',
    'contact_id',
    'is_public',
  ].map((name) => form.get(name));
  if (isNew && (file === null || file_name === null)) throw badRequest('file and file_name are required');
  const isContact = association === 'CONTACT';
  if (isNew && (!['CONTACT', 'USER', 'COMPANY'].includes(String(association)) || (isContact && contact === null))) {
    throw badRequest('file_association is not valid', 'file_association');
  }
  const bytes = file instanceof Blob ? await file.bytes() : undefined;
  return {
    values: {
      ...(file_name !== null && { file_name }),
      ...(open !== null && { is_public: open === 'true' }),
      ...(isNew && { contact_id: isContact ? contact : null, file_box_type: isContact ? 'CONTACT' : 'APPLICATION' }),
      ...(bytes !== undefined && { file_size: bytes.length }),
    },
    bytes,
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  ...{ 400: 'INVALID_ARGUMENT', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 405: 'UNIMPLEMENTED', 409: 'ABORTED' },
  ...{ 500: 'INTERNAL', 503: 'UNAVAILABLE' },
};

/** Prints an error. Errors of the gateway have another form than those of the API versions. */
function print({ status, code, message, headers, fields }: Fault, { path }: Pick<Call, 'path'>): SimulatedResponse {
  if (status === 401) return json(gatewayFault(code, message), status, { ...BLANK, ...headers });
  if (status === 429) return json(gatewayFault(QUOTA, 'Rate limit quota violation'), status, headers);
  if (path.startsWith('/crm/rest/v1/')) return json({ message }, status, headers);
  const details = fields.map((resource) => ({ domain: 'rest', resource }));
  return json({ code: status, message, status: STATUSES[status] ?? 'UNKNOWN', details }, status, headers);
}

const QUOTA = 'policies.ratelimit.QuotaViolation';

function gatewayFault(errorcode: string, faultstring: string) {
  return { fault: { faultstring, detail: { errorcode } } };
}

const [PER_MINUTE, PER_DAY] = [1500, 150_000];

function ratesOf(kind: string, [limit, available]: readonly unknown[]) {
  return { [`x-keap-${kind}-limit`]: String(limit), [`x-keap-${kind}-available`]: String(available) };
}

/** The headers of unauthenticated calls, whose limits are empty. */
const BLANK = { ...ratesOf('product-throttle', ['', '']), ...ratesOf('product-quota', ['', '']) };

function createRates(clock: MovableClock, callsPerMinute: number | undefined) {
  const limit = callsPerMinute ?? PER_MINUTE;
  return createBudget({
    ...{ calls: callsPerMinute ?? Number.MAX_SAFE_INTEGER, windowMs: 60_000, clock, sendsRetryAfter: false },
    headers: ({ calls, left }) => {
      const used = Math.min(calls - left, limit);
      const [minute, day] = [limit - used, PER_DAY - used];
      const tenant = { 'x-keap-tenant-id': TENANT };
      return {
        ...tenant,
        ...ratesOf('product-throttle', [limit, minute]),
        ...ratesOf('product-quota', [PER_DAY, day]),
      };
    },
  });
}
