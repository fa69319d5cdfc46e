import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  atHosts,
  bearer,
  type Call,
  changesOf,
  createBody,
  createChangeLog,
  createConform,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  type Deviation,
  empty,
  type Fault,
  filterFieldOf,
  type JsonSchema,
  json,
  recordRoutes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  sortRows,
  type TableRow,
  takePage,
  undescribed,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { type ChangedFile, listChanges, startPageToken } from './simulator/changes.ts';
import { createChannels } from './simulator/channels.ts';
import { compileQuery } from './simulator/query.ts';
import { contentAt, createRecords, FOLDER, ME, notFound, present, ROOT_ID, refusal } from './simulator/records.ts';
import { select } from './simulator/selection.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
export const CLIENTS = { 'demo-client': { secret: 'demo-secret' } };
/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = {};

const API = '/drive/v3';

/** Each list with its usual and its largest page, and the members of its records that a response has without `fields`. */
const LISTS = {
  files: ['File', 100, 1000, 'kind,id,name,mimeType'],
  drives: ['Drive', 10, 100, 'kind,id,name'],
  permissions: ['Permission', 100, 100, 'kind,id,type,role'],
  // For comments, `fields` is required.
  comments: ['Comment', 20, 100, ''],
} as const;

/** The orders of files, by the member that they compare. Source: the parameter `orderBy` of files.list. */
const SORTED: Readonly<Record<string, string>> = {
  ...{ folder: 'mimeType', name: 'name', name_natural: 'name', recency: 'modifiedTime', starred: 'starred' },
  ...{ createdTime: 'createdTime', modifiedTime: 'modifiedTime', modifiedByMeTime: 'modifiedByMeTime' },
  ...{ viewedByMeTime: 'viewedByMeTime', sharedWithMeTime: 'sharedWithMeTime', quotaBytesUsed: 'quotaBytesUsed' },
};

const keys = (pattern: RegExp) => Object.keys(official.operations).filter((key) => pattern.test(key));
const unjudged = (operations: readonly string[], part: 'body' | 'response', reason: string) =>
  operations.map((operation): Deviation => ({ operation, unjudged: [part], reason }));
const clearable = ({ properties, ...rest }: JsonSchema): JsonSchema => {
  const entries = Object.entries<JsonSchema>(Object(properties)).map(([name, schema]) => [
    name,
    schema.type === undefined ? schema : { ...schema, type: [schema.type, 'null'].flat() },
  ]);
  return { ...rest, properties: Object.fromEntries(entries) };
};
const DEVIATIONS: readonly Deviation[] = [
  ...['File', 'Drive'].map(
    (schema): Deviation => ({
      schema,
      change: clearable,
      reason: 'Null in a patch clears a member ("Patch semantics").',
    }),
  ),
  ...unjudged(keys(/^DELETE|\/stop$/), 'response', 'A response without a body has the status 204.'),
  ...unjudged(keys(/ \/upload/), 'body', 'The body has two parts, of which the schema is the first.'),
  ...undescribed('No document has the log-in.', 'GET /o/oauth2/v2/auth', 'POST /token'),
];
const createJudge = createOfficialJudges(official, DEVIATIONS);
const conform = createConform(official);

const REASONS: Readonly<Record<number, string>> = { 401: 'authError', 404: 'notFound', 429: 'rateLimitExceeded' };

/** Returns an error in Google's form. Source: "Resolve errors". */
function print({ status, code, message, headers, fields: [location] }: Fault): SimulatedResponse {
  const reason = /^[a-z]/.test(code) ? code : (REASONS[status] ?? 'backendError');
  const place = location === undefined ? {} : { locationType: 'parameter', location };
  return json(
    { error: { code: status, message, errors: [{ domain: 'global', reason, message, ...place }] } },
    status,
    headers,
  );
}

/** Responds with the members of a value that the parameter `fields` selects. */
function show({ query }: Call, schema: string, value: TableRow, usual = '*'): SimulatedResponse {
  const fields = query.get('fields') ?? usual;
  if (fields === '') throw refusal('required', "The 'fields' parameter is required for this method.", 'fields');
  return json(select(official, { fields, schema, value: conform(value, schema) }));
}

/** Responds with a page of a list. */
function showPage(call: Call, name: keyof typeof LISTS, rows: readonly TableRow[]): SimulatedResponse {
  const [schema, usual, most, members] = LISTS[name];
  const refuse = (_: string, parameter: string) => refusal('invalid', undefined, parameter);
  const size = { size: 'pageSize', usual, most, beyond: 'refused', refuse } as const;
  const { rows: shown, next } = takePage(rows, { kind: 'cursor', cursor: 'pageToken', ...size }, call);
  const page = { kind: `drive#${schema.toLowerCase()}List`, nextPageToken: next, [name]: shown.map(present) };
  return show(call, `${schema}List`, page, members && `kind,nextPageToken,${name}(${members})`);
}

/** Creates a simulator of one user's Google Drive. README.md lists the sources. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { memory, send } = options;
  const clock = createMovableClock();
  const channels = createChannels(clock, send);
  const log = createChangeLog<ChangedFile>(clock);
  const records = createRecords(clock, (name, { key, before, after }) => {
    channels.note();
    const driveId = (after ?? before)?.driveId;
    if (name === 'files' || name === 'folders')
      log.note(key, { driveId: typeof driveId === 'string' ? driveId : null });
  });
  const { files, folders, drives, permissions, comments } = records;
  const contents = new Map<string, Buffer>(files.table.rows().map(({ id }, index) => [String(id), contentAt(index)]));
  const contentOf = ({ id }: TableRow) => contents.get(String(id)) ?? Buffer.alloc(0);

  let isOffline = false;
  const login = createOAuthServer({
    ...{ title: 'Google simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ lifetimes: { accessMs: 3_600_000 }, accessTokens: [DEMO_ACCESS_TOKEN], isLasting: () => isOffline },
  });

  const allRows = () => [...folders.table.rows(), ...files.table.rows()];
  const findFile = (id: string) => folders.table.find(id) ?? files.table.find(id);
  const tableOf = (id: string) => (folders.table.find(id) === undefined ? files.table : folders.table);
  /** Finds a file. Those of shared drives are found only by clients that support them. */
  const find = ({ query, params: { id: given = '' } }: Call, id = given): TableRow => {
    if (id === ROOT_ID || id === 'root') return { kind: 'drive#file', id: ROOT_ID, name: 'My Drive', mimeType: FOLDER };
    const row = tableOf(id).find(id);
    if (row === undefined || (row.driveId != null && query.get('supportsAllDrives') !== 'true')) throw notFound(id);
    return row;
  };
  const showFile = (call: Call, row: TableRow) => show(call, 'File', present(row), LISTS.files[3]);

  function listFiles(call: Call): SimulatedResponse {
    const { query } = call;
    const [seesAll, supports] = ['includeItemsFromAllDrives', 'supportsAllDrives'].map(
      (name) => query.get(name) === 'true',
    );
    const [q, driveId] = [query.get('q'), query.get('driveId')];
    const test = q === null ? () => true : compileQuery(q, (row) => contentOf(row).toString());
    if (q?.includes('fullText') === true && query.has('orderBy')) {
      throw refusal('badRequest', 'Sorting is not supported for queries with fullText terms.', 'orderBy');
    }
    const isSeen = (row: TableRow) =>
      row.driveId == null ? driveId === null : seesAll && supports && [null, row.driveId].includes(driveId);
    return showPage(
      call,
      'files',
      sortRows(
        allRows().filter((row) => isSeen(row) && test(row)),
        ordersOf(query.get('orderBy')),
      ),
    );
  }

  function ordersOf(orderBy: string | null) {
    return (orderBy?.split(',') ?? []).map((term) => {
      const [, name = '', direction] = /^\s*(\w+)( desc)?\s*$/.exec(term) ?? [];
      const field = filterFieldOf(files.members, SORTED[name] ?? '', 'ignoring case');
      if (field === undefined) throw refusal('invalid', undefined, 'orderBy');
      const read = ({ mimeType }: TableRow) => (mimeType === FOLDER ? '0' : '1');
      const type = name === 'quotaBytesUsed' ? 'integer' : field.type;
      return { ...field, type, ...(name === 'folder' && { read }), descending: direction !== undefined };
    });
  }

  /** Stores a file. Its parents change by parameters only. */
  function write(call: Call, body: TableRow, bytes?: Buffer): SimulatedResponse {
    const old = call.params.id === undefined ? undefined : find(call);
    const { parents, id: _, ...values } = files.read(body, old);
    if (old !== undefined && parents !== undefined) {
      throw refusal('fieldNotWritable', 'Use the addParents and removeParents parameters instead.', 'parents', 403);
    }
    const [added, removed] = ['addParents', 'removeParents'].map((name) => call.query.get(name)?.split(',') ?? []);
    const before = [old?.parents ?? parents ?? (old === undefined ? ROOT_ID : [])].flat().map(String);
    const placed = [...before.filter((id) => removed?.includes(id) !== true), ...(added ?? [])].map(
      (id) => find(call, id).id,
    );
    if (placed.length > 1)
      throw refusal('cannotAddParent', 'Increasing the number of parents is not allowed', 'parents', 403);
    const mimeType = values.mimeType ?? old?.mimeType ?? (bytes ? 'text/plain' : 'application/octet-stream');
    const size = bytes && {
      size: String(bytes.length),
      quotaBytesUsed: String(bytes.length),
      md5Checksum: createHash('md5').update(bytes).digest('hex'),
    };
    const times = { modifiedTime: records.now(), ...(old === undefined && { createdTime: records.now() }) };
    const stored = { ...times, ...values, ...size, mimeType, parents: placed };
    const row =
      old === undefined
        ? (mimeType === FOLDER ? folders : files).table.insert(stored)
        : (tableOf(String(old.id)).update(String(old.id), stored) ?? old);
    if (bytes !== undefined) contents.set(String(row.id), bytes);
    return showFile(call, row);
  }

  /** Removes a file for good, and everything below it. */
  function remove(id: string): SimulatedResponse {
    for (const row of allRows().filter(({ parents }) => [parents].flat().includes(id))) remove(String(row.id));
    tableOf(id).remove(id);
    return empty();
  }

  /** Responds with bytes. A stream is not judged as JSON. */
  function download(row: TableRow, type: unknown, isExport: boolean): SimulatedResponse {
    if (String(row.mimeType).startsWith('application/vnd.google-apps.') !== isExport) {
      throw refusal(
        isExport ? 'fileNotExportable' : 'fileNotDownloadable',
        'Use Export with Docs Editors files only.',
        'alt',
        403,
      );
    }
    return { headers: { 'content-type': String(type) }, stream: Readable.from([contentOf(row)]) };
  }

  const partsOf = (name: 'permissions' | 'comments') =>
    recordRoutes(`${API}/files/{fileId}/${name}`, records[name], {
      createdStatus: 200,
      show: (row, call) => show(call, LISTS[name][0], present(row), LISTS[name][3]),
      list: (call) => {
        const { id } = find(call, call.params.fileId);
        return showPage(
          call,
          name,
          records[name].table.rows().filter(({ fileId }) => fileId === id),
        );
      },
      complete: (values, call) => ({ ...values, fileId: find(call, call.params.fileId).id }),
    });

  return simulate(
    {
      ...{ clock, print, official: createJudge(), authenticate: bearer(login.accepts, 'Invalid Credentials') },
      limits: { bytes: 20_000_000 },
      open: {
        'GET /o/oauth2/v2/auth': atHosts(['accounts.google.com'], (call) => {
          isOffline = call.query.get('access_type') === 'offline';
          return login.authorize(call);
        }),
        'POST /token': atHosts(['oauth2.googleapis.com'], login.token),
      },
      routes: {
        [`GET ${API}/about`]: (call) => show(call, 'About', { kind: 'drive#about', user: ME }, ''),
        [`GET ${API}/changes/startPageToken`]: (call) => show(call, 'StartPageToken', startPageToken(log)),
        [`GET ${API}/changes`]: (call) => show(call, 'ChangeList', listChanges(call, { log, find: findFile })),
        [`POST ${API}/changes/watch`]: (call) => show(call, 'Channel', channels.watch(call)),
        [`POST ${API}/channels/stop`]: channels.stop,
        [`GET ${API}/files`]: listFiles,
        [`POST ${API}/files`]: (call) => write(call, call.body.object()),
        [`GET ${API}/files/{id}`]: (call) => {
          const row = find(call);
          return call.query.get('alt') === 'media' ? download(row, row.mimeType, false) : showFile(call, row);
        },
        [`GET ${API}/files/{id}/export`]: (call) => download(find(call), call.query.get('mimeType'), true),
        [`PATCH ${API}/files/{id}`]: (call) => write(call, call.body.object()),
        [`DELETE ${API}/files/{id}`]: (call) => remove(String(find(call).id)),
        [`POST /upload${API}/files`]: (call) => write(call, ...partsIn(call)),
        [`PATCH /upload${API}/files/{id}`]: (call) => write(call, ...partsIn(call)),
        ...partsOf('permissions'),
        ...partsOf('comments'),
        ...recordRoutes(`${API}/drives`, drives, {
          createdStatus: 200,
          show: (row, call) => show(call, 'Drive', present(row), LISTS.drives[3]),
          list: (call) => showPage(call, 'drives', drives.table.rows()),
        }),
      },
      commands: { ...login.commands, ...changesOf({ files, folders, drives, permissions, comments }) },
    },
    options,
  );
}

/** Reads the two parts of an upload: the metadata, and the bytes. Source: "Perform a multipart upload". */
function partsIn({ body: { bytes }, headers, query }: Call): [TableRow, Buffer] {
  const [, boundary = ''] = /^multipart\/[\w-]+;.*boundary="?([^";]+)/i.exec(headers['content-type'] ?? '') ?? [];
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf(`--${boundary}`); at >= 0; ) {
    const end = bytes.indexOf(`\r\n--${boundary}`, at + 1);
    if (end < 0) break;
    parts.push(bytes.subarray(bytes.indexOf('\r\n\r\n', at) + 4, end));
    at = end + 2;
  }
  const [metadata, content] = parts;
  if (query.get('uploadType') !== 'multipart' || metadata === undefined || content === undefined || parts.length > 2) {
    throw refusal('badRequest', 'Malformed multipart body.');
  }
  return [createBody(metadata, 'application/json').object(), content];
}
