import {
  type CollectionSpec,
  createCollections,
  Fault,
  type Members,
  type MovableClock,
  pick,
  schemaMembers,
  type TableChange,
  type TableRow,
} from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

export const ROOT_ID = '0AMyDriveRootPVA';
export const FOLDER = 'application/vnd.google-apps.folder';
export const DOCUMENT = 'application/vnd.google-apps.document';
export const ME = { ...personOf('Dana Demo', 'dana@example.com'), me: true };
const COLLEAGUE = personOf("Ådne O'Neil", 'ops@example.com');
const SHARED_DRIVE = '0ASharedDrive0PVA';

function personOf(displayName: string, emailAddress: string) {
  return { kind: 'drive#user', displayName, me: false, permissionId: String(displayName.length), emailAddress };
}

/** Returns an error with the reason that Google gives. Source: "Resolve errors". */
export function refusal(reason: string, message = 'Invalid Value', field?: string, status = 400): Fault {
  return new Fault(status, reason, message, field === undefined ? {} : { fields: [field] });
}

export function notFound(id: string, what = 'File'): Fault {
  return refusal('notFound', `${what} not found: ${id}.`, 'fileId', 404);
}

const plain = ['string', 'boolean', 'datetime'];
/** The members of a schema that are texts, flags and times. Others are made here, or no record has them. */
function membersOf(schema: string): Members {
  const entries = Object.entries(schemaMembers(official, schema));
  return Object.fromEntries(entries.filter(([path, { type }]) => !path.includes('.') && plain.includes(type)));
}

const FILE: Members = {
  ...membersOf('File'),
  ...{ parents: { type: 'array' }, properties: { type: 'object' }, appProperties: { type: 'object' } },
};

export const contentAt = (index: number) => Buffer.from(`Line ${index}: O'Neil, 文書\n`.repeat(index % 4));
const NAMES = ['Quarterly report', "It's", 'invoice_2024', 'ÄÖ notes', 'HelloWorld', '50% "x"\\y', 'report report2'];
const FIRST_MS = Date.parse('2024-02-27T22:10:00.123Z');
/** Three consecutive records have the same time. */
const timeAt = (index: number) => new Date(FIRST_MS + Math.floor(index / 3) * 71 * 3_600_000).toISOString();
const idsFrom = (prefix: string) => (index: number) => `${prefix}${index + 100}`;
const folderId = idsFrom('1Folder');
const fileId = idsFrom('1File');

function filesOf(rows: number, makeId: (index: number) => string, typeOf: (index: number) => string): CollectionSpec {
  const sizeAt = (index: number) => String(contentAt(index).length);
  return {
    ...{ members: FILE, rows, makeId, label: 'name' },
    vary: {
      ...{ kind: () => 'drive#file', mimeType: typeOf, spaces: () => ['drive'], createdTime: timeAt },
      name: (index) => `${pick(NAMES, index)} ${index}`,
      modifiedTime: (index) => timeAt(index + (index % 4)),
      parents: (index) => [index % 3 === 0 ? ROOT_ID : folderId(index % 5)],
      ...{ trashed: (index) => index % 9 === 8, starred: (index) => index % 5 === 1 },
      ...{ owners: (index) => [index % 6 === 5 ? COLLEAGUE : ME], ownedByMe: (index) => index % 6 !== 5 },
      ...{ version: (index) => String(index + 1), quotaBytesUsed: sizeAt, thumbnailVersion: () => '0' },
      size: (index) => (typeOf(index).startsWith('application/vnd.google') ? null : sizeAt(index)),
      properties: (index) => (index % 4 === 0 ? { department: 'sales' } : null),
      ...{ appProperties: () => null, driveId: (index) => (index % 10 === 7 ? SHARED_DRIVE : null) },
    },
    initial: { kind: 'drive#file', name: 'Untitled', owners: [ME], ownedByMe: true, version: '1', trashed: false },
    touch: ({ version }) => ({ version: String(Number(version) + 1) }),
  };
}

/** Returns the specification of what belongs to a file. The first files and folders have several. */
function partsOf(schema: string, vary: CollectionSpec['vary'] = {}): CollectionSpec {
  const kind = `drive#${schema.toLowerCase()}`;
  const owner = (index: number) => (index % 2 === 0 ? folderId : fileId)(Math.floor(index / 2) % 5);
  return {
    members: membersOf(schema),
    rows: 30,
    makeId: (index) => `0${index + 7000}`,
    vary: { kind: () => kind, fileId: owner, ...vary },
    initial: { kind },
  };
}

type RecordName = 'folders' | 'files' | 'drives' | 'permissions' | 'comments';

export type Records = ReturnType<typeof createRecords>;

/** Creates the records of one user's drive, and of a shared one. */
export function createRecords(clock: MovableClock, onChange: (name: RecordName, change: TableChange) => void) {
  const writeTime = (ms: number) => new Date(ms).toISOString();
  const stamped = { created: ['createdTime'], changed: ['modifiedTime'] };
  const drive = membersOf('Drive');
  const collections = createCollections<RecordName, CollectionSpec>({
    ...{ clock, writeTime, onChange, isStrict: true },
    refuse: ([complaint]) => refusal('fieldNotWritable', complaint?.message, complaint?.member, 403),
    absent: (_, id) => notFound(id),
    of: {
      folders: filesOf(20, folderId, () => FOLDER),
      files: filesOf(130, fileId, (index) => pick(['text/plain', 'application/pdf', 'image/png', DOCUMENT], index)),
      drives: {
        ...{ members: drive, rows: 4, created: ['createdTime'], label: 'name', initial: { kind: 'drive#drive' } },
        makeId: (index) => `0ASharedDrive${index}PVA`,
        vary: { kind: () => 'drive#drive', name: (index) => `Team ${index}` },
      },
      permissions: {
        ...partsOf('Permission', {
          ...{ type: () => 'user', emailAddress: (index) => `user${index}@example.com` },
          role: (index) => pick(['owner', 'reader', 'commenter', 'writer'], index),
        }),
        // The guide "Share files" sets both, which the document marks as output.
        members: { ...membersOf('Permission'), emailAddress: { type: 'string' }, domain: { type: 'string' } },
      },
      comments: { ...partsOf('Comment', { author: () => COLLEAGUE, deleted: () => false }), ...stamped },
    },
  });
  /** Clients can set the times of files, so that only changes on request set them here. */
  const timed = (collection: typeof collections.files): typeof collections.files => ({
    ...collection,
    create: (number) => ({ ...collection.create(number), createdTime: now(), modifiedTime: now() }),
    change: (number) => ({ ...collection.change(number), modifiedTime: now() }),
  });
  const now = () => writeTime(clock.now());
  return { ...collections, files: timed(collections.files), folders: timed(collections.folders), now };
}

/** Returns a row without the members that have no value. */
export function present(row: TableRow): TableRow {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value != null));
}
