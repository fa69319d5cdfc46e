import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  atHosts,
  bearer,
  type Call,
  type CollectionSpec,
  changesOf,
  createBody,
  createCollections,
  createConform,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  type Deviation,
  empty,
  Fault,
  filterFieldOf,
  type JsonSchema,
  json,
  type Members,
  pick,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  schemaMembers,
  shareMemory,
  simulate,
  sortRows,
  type TableChange,
  type TableRow,
  type TextRule,
  takePage,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { compileQuery } from './simulator/query.ts';
import { select } from './simulator/selection.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'demo-access-token';
export const CLIENTS = { 'demo-client': { secret: 'demo-secret' } };
/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = {};

export interface DriveSimulatorOptions extends SimulatorOptions {
  /** How `=` and `!=` compare texts, which Google does not document. Default `ignoring case`. */
  readonly text?: TextRule;
  /** Whether `!=` and `not` find files without a value, which Google does not document. Default true. */
  readonly matchesMissing?: boolean;
}

const API = '/drive/v3';
const ROOT_ID = '0AMyDriveRootPVA';
const SHARED_DRIVE = '0ASharedDrive0PVA';
const FOLDER = 'application/vnd.google-apps.folder';
const DOCUMENT = 'application/vnd.google-apps.document';
const ME = {
  ...{ kind: 'drive#user', displayName: 'Dana Demo', me: true, permissionId: '08122342432' },
  emailAddress: 'dana@example.com',
};
const COLLEAGUE = {
  ...ME,
  displayName: "Ådne O'Neil",
  me: false,
  permissionId: '0777',
  emailAddress: 'ops@example.com',
};

/** Members of a file that are made here, or that hardly any file has. */
const LEFT_OUT =
  /^(?:kind|id|capabilities|contentHints|contentRestrictions|imageMediaMetadata|videoMediaMetadata|labelInfo|linkShareMetadata|clientEncryptionDetails|downloadRestrictions|permissions|permissionIds|exportLinks|thumbnailVersion|teamDriveId|trashingUser|sharingUser|lastModifyingUser|shortcutDetails|resourceKey|driveId)(?:\.|$)/;
const entries = Object.entries(schemaMembers(official, 'File')).filter(([path]) => !LEFT_OUT.test(path));
const MEMBERS: Members = Object.fromEntries(entries);
/** The members by which files can be sorted. Source: the parameter `orderBy` of files.list. */
const SORTED =
  /^(?:createdTime|folder|modifiedByMeTime|modifiedTime|name|name_natural|quotaBytesUsed|recency|sharedWithMeTime|starred|viewedByMeTime)$/;
/** The members that a response has without the parameter `fields`. */
const USUAL: Readonly<Record<string, string>> = {
  File: 'kind,id,name,mimeType',
  FileList: 'kind,nextPageToken,incompleteSearch,files(kind,id,name,mimeType)',
  ...{ Drive: 'kind,id,name', DriveList: 'kind,nextPageToken,drives(kind,id,name)' },
  Permission: 'kind,id,type,role',
  PermissionList: 'kind,nextPageToken,permissions(kind,id,type,role)',
  ...{ ChangeList: '*', StartPageToken: '*', Channel: '*' },
};

const contentAt = (index: number) => Buffer.from(`Line ${index}: O'Neil, 文書\n`.repeat(index % 4));
const time = (index: number, hours: number) =>
  new Date(Date.parse('2024-02-27T22:10:00.123Z') + Math.floor(index / 3) * hours * 3_600_000).toISOString();
const folderId = (index: number) => `1Folder${index + 100}`;

const allowNull = ({ properties, ...rest }: JsonSchema): JsonSchema => ({
  ...rest,
  properties: Object.fromEntries(
    Object.entries<JsonSchema>(Object(properties)).map(([name, { type, ...more }]) => [
      name,
      type === undefined ? more : { ...more, type: [type, 'null'].flat() },
    ]),
  ),
});
const DEVIATIONS: readonly Deviation[] = [
  ...['File', 'Drive', 'Permission', 'Comment'].map(
    (schema): Deviation => ({
      schema,
      change: allowNull,
      reason: 'A null in a patch clears the member ("Patch semantics").',
    }),
  ),
  ...Object.keys(official.operations)
    .filter((key) => key.startsWith('DELETE ') || key.endsWith('/stop'))
    .map(
      (operation): Deviation => ({
        operation,
        unjudged: ['response'],
        reason: 'An empty response has the status 204.',
      }),
    ),
  ...['POST /upload/drive/v3/files', 'PATCH /upload/drive/v3/files/{fileId}'].map(
    (operation): Deviation => ({
      operation,
      unjudged: ['body'],
      reason: 'The body has two parts; the schema is that of the first.',
    }),
  ),
  ...['GET /o/oauth2/v2/auth', 'POST /token'].map(
    (operation): Deviation => ({
      operation,
      unjudged: ['query', 'body', 'response'],
      reason: 'The log-in is in no discovery document.',
    }),
  ),
];
const createJudge = createOfficialJudges(official, DEVIATIONS);
const conform = createConform(official);

const REASONS: Readonly<Record<number, string>> = {
  401: 'authError',
  404: 'notFound',
  429: 'rateLimitExceeded',
  500: 'backendError',
};

/** Returns an error in Google's form. Source: "Resolve errors". */
function print({ status, code: given, message, headers, fields: [location] }: Fault): SimulatedResponse {
  const reason = /^[a-z]/.test(given) ? given : (REASONS[status] ?? 'badRequest');
  const place = location === undefined ? {} : { locationType: 'parameter', location };
  const error = { code: status, message, errors: [{ domain: 'global', reason, message, ...place }] };
  return json({ error }, status, headers);
}

const notFound = (id: string, what = 'File') =>
  new Fault(404, 'notFound', `${what} not found: ${id}.`, { fields: ['fileId'] });

/** Creates a simulator of one user's Google Drive. README.md lists the sources. */
export function createSimulator(options: DriveSimulatorOptions): Simulator {
  const { memory, send, text = 'ignoring case', matchesMissing = true } = options;
  const clock = createMovableClock();
  const contents = new Map<string, Buffer>();
  const log: { readonly fileId: string; readonly time: string }[] = [];
  const channels = new Map<string, TableRow>();

  let isOffline = false;
  const login = createOAuthServer({
    ...{ title: 'Google simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    ...{ lifetimes: { accessMs: 3_600_000 }, accessTokens: [DEMO_ACCESS_TOKEN], isLasting: () => isOffline },
  });

  function noteChange(name: string, { key }: TableChange): void {
    if (name === 'drives') return;
    log.push({ fileId: key, time: new Date(clock.now()).toISOString() });
    for (const channel of channels.values()) notify(channel, 'change');
  }

  function notify({ id, token, expiration, address, resourceId, resourceUri }: TableRow, state: string): void {
    const headers = {
      ...{ 'x-goog-channel-id': String(id), 'x-goog-resource-id': String(resourceId), 'x-goog-resource-state': state },
      ...{
        'x-goog-resource-uri': String(resourceUri),
        'x-goog-message-number': String(state === 'sync' ? 1 : log.length + 1),
      },
      'x-goog-channel-expiration': new Date(Number(expiration)).toUTCString(),
      ...(token != null && { 'x-goog-channel-token': String(token) }),
    };
    if (clock.now() < Number(expiration)) send?.({ url: String(address), headers, body: '' });
  }

  const filesOf = (rows: number, prefix: string, mimeType: (index: number) => string) => ({
    ...{ members: MEMBERS, rows, makeId: (index: number) => `${prefix}${index + 100}`, label: 'name' },
    vary: {
      kind: () => 'drive#file',
      mimeType,
      name: (index: number) =>
        `${pick(['Quarterly report', "It's", 'invoice_2024', 'ÄÖ notes', 'HelloWorld', '50% "x"\\y'], index)} ${index}`,
      ...{
        createdTime: (index: number) => time(index, 71),
        modifiedTime: (index: number) => time(index + (index % 4), 71),
      },
      parents: (index: number) => [index % 3 === 0 ? ROOT_ID : folderId(index % 5)],
      trashed: (index: number) => index % 9 === 8,
      starred: (index: number) => index % 5 === 1,
      owners: (index: number) => [index % 6 === 5 ? COLLEAGUE : ME],
      spaces: () => ['drive'],
      ...{ ownedByMe: (index: number) => index % 6 !== 5, version: (index: number) => String(index + 1) },
      size: (index: number) =>
        mimeType(index).startsWith('application/vnd.google') ? null : String(contentAt(index).length),
      quotaBytesUsed: (index: number) => String(contentAt(index).length),
      properties: (index: number) => (index % 4 === 0 ? { department: 'sales' } : null),
      appProperties: () => null,
      driveId: (index: number) => (index % 10 === 7 ? SHARED_DRIVE : null),
    },
    initial: () => ({
      kind: 'drive#file',
      name: 'Untitled',
      mimeType: mimeType(1),
      parents: [ROOT_ID],
      trashed: false,
      starred: false,
      owners: [ME],
      version: '1',
    }),
    ...{ created: ['createdTime'], changed: ['modifiedTime'] },
    touch: ({ version }: TableRow) => ({ version: String(Number(version) + 1) }),
  });
  const collections = createCollections<'folders' | 'files' | 'drives', CollectionSpec>({
    ...{ clock, isStrict: true, writeTime: (ms: number) => new Date(ms).toISOString(), onChange: noteChange },
    refuse: ([complaint]) =>
      new Fault(
        403,
        'fieldNotWritable',
        `The resource body includes fields which are not directly writable: ${complaint?.message}`,
      ),
    absent: (_, id) => notFound(id),
    of: {
      folders: filesOf(20, '1Folder', () => FOLDER),
      files: filesOf(130, '1File', (index) => pick(['text/plain', 'application/pdf', 'image/png', DOCUMENT], index)),
      drives: {
        ...{
          members: schemaMembers(official, 'Drive'),
          rows: 4,
          makeId: (index: number) => (index === 0 ? SHARED_DRIVE : `0ADrive${index}PVA`),
        },
        vary: {
          kind: () => 'drive#drive',
          name: (index: number) => `Team ${index}`,
          capabilities: () => ({}),
          restrictions: () => ({}),
          backgroundImageFile: () => null,
        },
        ...{ initial: { kind: 'drive#drive' }, created: ['createdTime'], label: 'name' },
      },
    },
  });
  const { files, folders, drives } = collections;
  for (const [index, { id }] of files.table.rows().entries()) contents.set(String(id), contentAt(index));
  const tableOf = (id: string) => (folders.table.find(id) === undefined ? files.table : folders.table);
  const find = (id: string, { query }: Pick<Call, 'query'>): TableRow => {
    if (id === ROOT_ID || id === 'root') return { kind: 'drive#file', id: ROOT_ID, name: 'My Drive', mimeType: FOLDER };
    const row = tableOf(id).find(id);
    const isHidden = row?.driveId != null && query.get('supportsAllDrives') !== 'true';
    if (row === undefined || isHidden) throw notFound(id);
    return row;
  };

  /** Responds with the selected members of a value. */
  function show(call: Call, schema: string, value: TableRow): SimulatedResponse {
    const fields = call.query.get('fields') ?? USUAL[schema];
    if (fields === undefined) {
      throw new Fault(400, 'required', "The 'fields' parameter is required for this method.", { fields: ['fields'] });
    }
    return json(select(official, { fields, schema, value: conform(value, schema) }));
  }

  function page(
    call: Call,
    [schema, member]: readonly [schema: string, member: string],
    rows: readonly TableRow[],
    sizes: readonly [usual: number, most: number] = [100, 1000],
  ) {
    const refuse = (_: string, parameter: string) =>
      new Fault(400, 'invalid', 'Invalid Value', { fields: [parameter] });
    const style = {
      kind: 'cursor',
      cursor: 'pageToken',
      size: 'pageSize',
      usual: sizes[0],
      most: sizes[1],
      beyond: 'refused',
      refuse,
    } as const;
    const taken = takePage(rows, style, call);
    const kind = `drive#${member.replace(/s$/, '')}List`;
    return show(call, schema, { kind, [member]: taken.rows, nextPageToken: taken.next });
  }

  function listFiles(call: Call): SimulatedResponse {
    const { query } = call;
    const sees = query.get('supportsAllDrives') === 'true' && query.get('includeItemsFromAllDrives') === 'true';
    const contentOf = ({ id }: TableRow) => contents.get(String(id))?.toString() ?? '';
    const q = query.get('q');
    const test =
      q === null
        ? () => true
        : compileQuery(q, { text, matchesMissing, contentOf, rootId: ROOT_ID, me: ME.emailAddress });
    const all = [...folders.table.rows(), ...files.table.rows()];
    const inDrive = ({ driveId }: TableRow) => (query.get('driveId') ?? driveId) === driveId;
    const rows = all.filter((row) => (sees || row.driveId == null) && inDrive(row) && test(row));
    return page(call, ['FileList', 'files'], sortRows(rows, ordersOf(query.get('orderBy'))));
  }

  function ordersOf(orderBy: string | null) {
    return (orderBy ?? '')
      .split(',')
      .filter(Boolean)
      .map((term) => {
        const [name = '', direction, ...rest] = term.trim().split(' ');
        const isTerm = SORTED.test(name) && (direction ?? 'desc') === 'desc' && rest.length === 0;
        const member = { recency: 'modifiedTime', name_natural: 'name', folder: 'mimeType' }[name] ?? name;
        const field = isTerm ? filterFieldOf(MEMBERS, member, text) : undefined;
        if (field === undefined) throw new Fault(400, 'invalid', 'Invalid Value', { fields: ['orderBy'] });
        const descending = direction === 'desc';
        if (name === 'quotaBytesUsed') return { ...field, type: 'integer' as const, descending };
        return name === 'folder'
          ? { ...field, read: ({ mimeType }: TableRow) => (mimeType === FOLDER ? '0' : '1'), descending }
          : { ...field, descending };
      });
  }

  /** Stores a file. Parents change by parameters only. */
  function write(call: Call, body: TableRow, bytes?: Buffer): SimulatedResponse {
    const { fileId = '' } = call.params;
    const old = fileId === '' ? undefined : find(fileId, call);
    const { parents, id: _, ...rest } = files.read(body, old);
    if (old !== undefined && parents !== undefined) {
      throw new Fault(
        403,
        'fieldNotWritable',
        'The parents field is not directly writable in update requests. Use the addParents and removeParents parameters instead.',
      );
    }
    const [added = [], removed = []] = ['addParents', 'removeParents'].map(
      (name) => call.query.get(name)?.split(',') ?? [],
    );
    const wanted =
      old === undefined
        ? [parents ?? [ROOT_ID]].flat()
        : [...[old.parents ?? []].flat().filter((id) => !removed.includes(String(id))), ...added];
    const placed = wanted.map((id) => String(find(String(id), call).id));
    if (placed.length > 1) throw new Fault(403, 'cannotAddParent', 'Increasing the number of parents is not allowed');
    const measured = bytes && {
      ...{
        size: String(bytes.length),
        quotaBytesUsed: String(bytes.length),
        mimeType: rest.mimeType ?? old?.mimeType ?? 'text/plain',
      },
      md5Checksum: createHash('md5').update(bytes).digest('hex'),
    };
    const values = { ...rest, ...measured, parents: placed };
    const kept = rest.mimeType === FOLDER ? folders.table : old === undefined ? files.table : tableOf(fileId);
    const row = old === undefined ? kept.insert(values) : (kept.update(fileId, values) ?? old);
    if (bytes !== undefined) contents.set(String(row.id), bytes);
    return show(call, 'File', row);
  }

  function remove(id: string): void {
    const below = [...folders.table.rows(), ...files.table.rows()].filter(({ parents }) =>
      [parents].flat().includes(id),
    );
    for (const row of below) remove(String(row.id));
    tableOf(id).remove(id);
  }

  function getFile(call: Call): SimulatedResponse {
    const row = find(call.params.fileId ?? '', call);
    if (call.query.get('alt') !== 'media') return show(call, 'File', row);
    const type = String(row.mimeType);
    if (type.startsWith('application/vnd.google-apps.')) {
      throw new Fault(
        403,
        'fileNotDownloadable',
        'Only files with binary content can be downloaded. Use Export with Docs Editors files.',
      );
    }
    return bytesOf(contents.get(String(row.id)) ?? Buffer.alloc(0), type);
  }

  function exportFile(call: Call): SimulatedResponse {
    const row = find(call.params.fileId ?? '', call);
    if (row.mimeType !== DOCUMENT)
      throw new Fault(403, 'fileNotExportable', 'Export only supports Docs Editors files.');
    return bytesOf(contents.get(String(row.id)) ?? Buffer.alloc(0), call.query.get('mimeType') ?? '');
  }

  /** Lists the latest change of each file behind a position of the log. */
  function listChanges(call: Call): SimulatedResponse {
    const start = Number(call.query.get('pageToken') ?? Number.NaN);
    if (!Number.isInteger(start) || start > log.length)
      throw new Fault(400, 'invalid', 'Invalid Value', { fields: ['pageToken'] });
    const size = Number(call.query.get('pageSize') ?? 100);
    const end = Math.min(start + size, log.length);
    const latest = log
      .slice(start, end)
      .filter(({ fileId }, at) => !log.slice(start + at + 1).some((later) => later.fileId === fileId));
    const changes = latest.map(({ fileId, time: at }) => {
      const file = tableOf(fileId).find(fileId);
      return {
        kind: 'drive#change',
        changeType: 'file',
        time: at,
        fileId,
        removed: file === undefined,
        ...(file && { file }),
      };
    });
    const token =
      end < log.length || call.isStuck
        ? { nextPageToken: String(call.isStuck ? start : end) }
        : { newStartPageToken: String(end) };
    return show(call, 'ChangeList', { kind: 'drive#changeList', changes, ...token });
  }

  function watch(call: Call): SimulatedResponse {
    const { id, type, address, token, expiration = String(clock.now() + 7 * 86_400_000) } = call.body.object();
    const isUrl = typeof address === 'string' && address.startsWith('https://');
    if (typeof id !== 'string' || type !== 'web_hook' || !isUrl)
      throw new Fault(400, 'badRequest', 'WebHook callback must be HTTPS');
    if (channels.has(id)) throw new Fault(400, 'channelIdNotUnique', `Channel id ${id} not unique`);
    const channel = {
      kind: 'api#channel',
      id,
      token,
      expiration,
      address,
      resourceId: 'ret08u3rv24htgh289g',
      resourceUri: `https://www.googleapis.com${API}/changes`,
    };
    channels.set(id, channel);
    notify(channel, 'sync');
    const { address: _, ...shown } = channel;
    return show(call, 'Channel', shown);
  }

  function stop({ body }: Call): SimulatedResponse {
    const { id, resourceId } = body.object();
    const channel = channels.get(String(id));
    if (channel === undefined || channel.resourceId !== resourceId) throw notFound(String(id), 'Channel');
    channels.delete(String(id));
    return empty();
  }

  /** The routes of the permissions or the comments of files. */
  function partsOf(member: 'permissions' | 'comments', schema: string, initial: () => TableRow) {
    const parts = new Map<string, TableRow>();
    const path = `${API}/files/{fileId}/${member}`;
    let made = 0;
    const rowsOf = (call: Call) => {
      const { id } = find(call.params.fileId ?? '', call);
      if (made === 0)
        for (const first of [{}, {}]) parts.set(`${id}/${++made}`, { ...initial(), ...first, id: String(made) });
      return [...parts].filter(([key]) => key.startsWith(`${id}/`)).map(([, part]) => part);
    };
    const keyOf = (call: Call) => {
      const [id = ''] = [call.params.partId];
      if (!rowsOf(call).some((part) => part.id === id)) throw notFound(id, schema);
      return `${call.params.fileId}/${id}`;
    };
    const put = (call: Call, key: string, values: TableRow) => {
      parts.set(key, values);
      return show(call, schema, values);
    };
    return {
      [`GET ${path}`]: (call: Call) => page(call, [`${schema}List`, member], rowsOf(call), [20, 100]),
      [`POST ${path}`]: (call: Call) => {
        rowsOf(call);
        const id = String(++made);
        return put(call, `${call.params.fileId}/${id}`, { ...initial(), ...call.body.object(), id });
      },
      [`GET ${path}/{partId}`]: (call: Call) => show(call, schema, parts.get(keyOf(call)) ?? {}),
      [`PATCH ${path}/{partId}`]: (call: Call) =>
        put(call, keyOf(call), { ...parts.get(keyOf(call)), ...call.body.object() }),
      [`DELETE ${path}/{partId}`]: (call: Call) => {
        parts.delete(keyOf(call));
        return empty();
      },
    };
  }

  const now = () => new Date(clock.now()).toISOString();
  const driveOf = ({ params: { driveId = '' } }: Call) => drives.get(driveId);
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
        [`GET ${API}/about`]: (call) =>
          show(call, 'About', { kind: 'drive#about', user: ME, storageQuota: { usage: '1' } }),
        [`GET ${API}/changes/startPageToken`]: (call) =>
          show(call, 'StartPageToken', { kind: 'drive#startPageToken', startPageToken: String(log.length) }),
        [`GET ${API}/changes`]: listChanges,
        [`POST ${API}/changes/watch`]: watch,
        [`POST ${API}/channels/stop`]: stop,
        [`GET ${API}/files`]: listFiles,
        [`POST ${API}/files`]: (call) => write(call, call.body.object()),
        [`GET ${API}/files/{fileId}`]: getFile,
        [`GET ${API}/files/{fileId}/export`]: exportFile,
        [`PATCH ${API}/files/{fileId}`]: (call) => write(call, call.body.object()),
        [`DELETE ${API}/files/{fileId}`]: (call) => {
          remove(String(find(call.params.fileId ?? '', call).id));
          return empty();
        },
        [`POST /upload${API}/files`]: (call) => write(call, ...partsIn(call)),
        [`PATCH /upload${API}/files/{fileId}`]: (call) => write(call, ...partsIn(call)),
        ...partsOf('permissions', 'Permission', () => ({ kind: 'drive#permission', type: 'user', role: 'reader' })),
        ...partsOf('comments', 'Comment', () => ({
          kind: 'drive#comment',
          author: ME,
          content: "It's",
          createdTime: now(),
          modifiedTime: now(),
          deleted: false,
        })),
        [`GET ${API}/drives`]: (call) => page(call, ['DriveList', 'drives'], drives.table.rows(), [10, 100]),
        [`POST ${API}/drives`]: (call) => {
          if (call.query.get('requestId') === null)
            throw new Fault(400, 'required', 'Required parameter: requestId', { fields: ['requestId'] });
          return show(call, 'Drive', drives.table.insert(call.body.object()));
        },
        [`GET ${API}/drives/{driveId}`]: (call) => show(call, 'Drive', driveOf(call)),
        [`PATCH ${API}/drives/{driveId}`]: (call) =>
          show(call, 'Drive', drives.table.update(String(driveOf(call).id), call.body.object()) ?? {}),
        [`DELETE ${API}/drives/{driveId}`]: (call) => {
          drives.table.remove(String(driveOf(call).id));
          return empty();
        },
      },
      commands: { ...login.commands, ...changesOf(collections) },
    },
    options,
  );
}

/** A stream is not judged as JSON. */
function bytesOf(bytes: Buffer, type: string): SimulatedResponse {
  return { headers: { 'content-type': type }, stream: Readable.from([bytes]) };
}

/** Reads the two parts of an upload: the metadata, and the bytes. Source: "Perform a multipart upload". */
function partsIn({ body, headers, query }: Call): [TableRow, Buffer] {
  const [, boundary] = /^multipart\/[\w-]+;.*boundary="?([^";]+)/i.exec(headers['content-type'] ?? '') ?? [];
  if (query.get('uploadType') !== 'multipart' || boundary === undefined) {
    throw new Fault(400, 'badRequest', 'Bad content type. A multipart upload has two parts.');
  }
  const parts: Buffer[] = [];
  for (let at = body.bytes.indexOf(`--${boundary}`); at >= 0; ) {
    const end = body.bytes.indexOf(`\r\n--${boundary}`, at + 1);
    if (end < 0) break;
    parts.push(body.bytes.subarray(body.bytes.indexOf('\r\n\r\n', at) + 4, end));
    at = end + 2;
  }
  const [metadata, content, ...more] = parts;
  if (metadata === undefined || content === undefined || more.length > 0)
    throw new Fault(400, 'badRequest', 'Malformed multipart body.');
  return [createBody(metadata, 'application/json').object(), content];
}
