import {
  type Config,
  type ConnectorContext,
  can,
  codec,
  defineObject,
  type FieldSpec,
  type Fields,
  fieldsOf,
  json,
  list,
  type ObjectSpec,
  type Order,
  path,
  records,
  rejected,
  type UpdateInput,
  type UploadRequest,
} from '#connector';
import { logOf } from './log.ts';
import official from './official.json' with { type: 'json' };
import { comments, permissions } from './parts.ts';
import { allOf, quote, translator } from './query.ts';

const FOLDER = 'application/vnd.google-apps.folder';
const IS_FOLDER = `mimeType = '${FOLDER}'`;
const IS_NO_FOLDER = `mimeType != '${FOLDER}'`;
const SHARED = { supportsAllDrives: true } as const;

/** Google documents no letter case for texts, so that every row is checked again. */
const EQUAL = can.only('superset', '=', 'IN');
const BEGINNING = { filter: { ...EQUAL, ...can.only('superset', 'LIKE') }, likeForms: ['prefix'] } as const;
const TIME = { filter: { ...can.only('superset', '=', 'IN'), ...can.order('superset') }, sortable: true } as const;
const FLAG = { filter: can.only('exact', '=') } as const;
const NUMBER = { type: 'integer', ...codec.integer } as const satisfies Partial<FieldSpec>;
const first = (value: unknown) => (Array.isArray(value) ? (value[0] ?? null) : value);

/** A file has one parent folder. Source: `parents` of a file. */
const PARENT = {
  type: 'string',
  read: first,
  write: (id: unknown) => [id],
  clearable: false,
  filter: can.only('exact', '=', 'IN'),
  label: 'Id of the parent folder',
} as const satisfies Partial<FieldSpec>;

/** A file has one owner, or none on a shared drive. */
function ownersTheir(member: string) {
  const read = (owners: unknown) => json.at(first(owners), member) ?? null;
  return { type: 'string', native: 'owners', read } as const satisfies FieldSpec;
}
const OWNER = { ...ownersTheir('emailAddress'), format: 'email', filter: EQUAL, label: 'Email of the owner' } as const;

const BUT: Readonly<Record<string, Partial<FieldSpec>>> = {
  id: { nullable: false, createable: false, updateable: false },
  // Whether Google orders names without letter case is not documented.
  name: { nullable: false, clearable: false, sortable: true, collation: 'ci', ...BEGINNING },
  parentId: PARENT,
  ownerEmail: OWNER,
  createdTime: { ...TIME, clearable: false, updateable: false },
  modifiedTime: { ...TIME, clearable: false },
  viewedByMeTime: { ...TIME, createable: false, updateable: false },
  sharedWithMeTime: { sortable: true, createable: false, updateable: false },
  starred: { ...FLAG, sortable: true, clearable: false },
  trashed: { ...FLAG, createable: false, clearable: false },
  version: NUMBER,
  writersCanShare: { clearable: false },
  copyRequiresWriterPermission: { clearable: false },
};

const COMMON = `id name description parents owners createdTime modifiedTime viewedByMeTime sharedWithMeTime starred trashed
  driveId version ownedByMe shared lastModifyingUser webViewLink properties appProperties writersCanShare
  copyRequiresWriterPermission`;

function fieldsFor(more: string, but: typeof BUT): Fields {
  const described = fieldsOf(official, 'File', {
    pick: `${COMMON} ${more}`,
    rename: { parents: 'parentId', owners: 'ownerEmail' },
    create: 'File',
    update: 'File',
    but: { ...BUT, ...but },
  });
  return { ...described, ownerId: ownersTheir('permissionId'), ownerName: ownersTheir('displayName') };
}

const FILE_FIELDS = fieldsFor(
  `mimeType size quotaBytesUsed originalFilename fileExtension fullFileExtension md5Checksum sha1Checksum sha256Checksum
  headRevisionId webContentLink exportLinks thumbnailLink shortcutDetails imageMediaMetadata videoMediaMetadata`,
  {
    mimeType: {
      nullable: false,
      clearable: false,
      ...BEGINNING,
      filter: { ...BEGINNING.filter, ...can.only('superset', '!=', 'NOT IN') },
      // Google's own types have one spelling.
      domain: { text: { certain: (type) => /^application\/vnd\.google-apps\.[a-z-]+$/.test(type) } },
    },
    size: { ...NUMBER, label: 'Size, in bytes' },
    quotaBytesUsed: { ...NUMBER, sortable: true },
    originalFilename: { createable: true, updateable: true, clearable: false },
    shortcutDetails: { createable: true, updateable: false },
    videoMediaMetadata: { createable: false, updateable: false },
    imageMediaMetadata: { createable: false, updateable: false },
  },
);

const FOLDER_FIELDS = fieldsFor('folderColorRgb', {
  name: { ...BUT.name, required: true },
  folderColorRgb: { clearable: false },
});

/** Returns the members that hold the fields, for the parameter `fields`, which must select something. */
const selected = (natives: readonly string[]) => natives.join(',') || 'id';
const allMembers = (fields: Fields) =>
  selected([...new Set(Object.entries(fields).map(([name, { native = name }]) => native))]);

/** Returns the parameters that choose the files of a list: those of the user, or those of one shared drive. */
function corpusOf(config: Config) {
  const driveId = json.findText(config['drive.id']);
  return { ...SHARED, includeItemsFromAllDrives: true, ...(driveId !== undefined && { corpora: 'drive', driveId }) };
}

const ORDER: Order = { term: (native, direction) => (direction === 'desc' ? `${native} desc` : native) };

/** Returns a list of the files that meet a condition. */
function filesOf(condition: (input: Listed) => string | undefined, order?: Order) {
  return list<string>({
    request: (input, config) => ({
      path: '/drive/v3/files',
      query: {
        ...corpusOf(config),
        q: allOf(condition(input), input.filter),
        orderBy: input.order,
        fields: `nextPageToken,files(${selected(input.natives)})`,
        ...input.page,
      },
    }),
    rows: (body) => json.array(json.at(body, 'files'), 'the files'),
    paging: {
      kind: 'cursor',
      cursor: 'pageToken',
      size: 'pageSize',
      max: 1000,
      next: ({ body }) => json.at(body, 'nextPageToken'),
    },
    ...(order !== undefined && { order }),
  });
}

type Listed = Parameters<Parameters<typeof list<string>>[0]['request']>[0];

/** Returns the operations on single files or folders. A patch moves them by parameters, not by its body. */
function operationsOn(fields: Fields, created: Readonly<Record<string, unknown>>) {
  const query = { ...SHARED, fields: allMembers(fields) };
  return {
    ...records({
      get: (id, natives) => ({ path: path`/drive/v3/files/${id}`, query: { ...SHARED, fields: selected(natives) } }),
      create: {
        request: (values) => ({ method: 'POST', path: '/drive/v3/files', query, json: { ...created, ...values } }),
      },
      remove: (id) => ({ method: 'DELETE', path: path`/drive/v3/files/${id}`, query: SHARED }),
    }),
    update: {
      run: async (context: ConnectorContext, { id, values: { parents, ...values } }: UpdateInput) => {
        const moved = await movingTo(first(parents), id, context);
        const { body } = await context.send({
          method: 'PATCH',
          path: path`/drive/v3/files/${id}`,
          query: { ...query, ...moved },
          json: values,
        });
        return json.object(body, 'the file');
      },
    },
  } satisfies Partial<ObjectSpec>;
}

/** Returns the parameters that move a file to a folder. A file that is there already stays. */
async function movingTo(parent: unknown, id: string, { send }: ConnectorContext) {
  if (typeof parent !== 'string') return {};
  const { body } = await send({ path: path`/drive/v3/files/${id}`, query: { ...SHARED, fields: 'parents' } });
  const parents = json.at(body, 'parents');
  const before = Array.isArray(parents) ? parents.map(String) : [];
  if (before.includes(parent)) return {};
  return { addParents: parent, ...(before.length > 0 && { removeParents: before.join(',') }) };
}

/** Returns the request of an upload. Source: "Upload file data", "Perform a multipart upload". */
function upload(where: string, values: Readonly<Record<string, unknown>>): UploadRequest {
  return {
    path: `/upload/drive/v3/files${where}`,
    query: { ...SHARED, uploadType: 'multipart', fields: allMembers(FILE_FIELDS) },
    form: { parts: [{ name: 'metadata', value: JSON.stringify(values), type: 'application/json' }], file: 'file' },
  };
}

const stored = ({ body }: { readonly body: unknown }) => ({ record: json.object(body, 'the file') });

/** Returns how polls find changes. The log also has those that set no `modifiedTime`, and deletions. */
function changesOf(fields: Fields, isListed: (mimeType: unknown) => boolean) {
  const feed = logOf({
    selected: `${[...new Set([...allMembers(fields).split(','), 'mimeType'])].join(',')}`,
    isListed,
  });
  return { updated: 'modifiedTime', created: 'createdTime', feed } as const;
}

/** The path names the file or folder of these lists. */
const PARTS = {
  comments: { ...comments, requiredFilters: [] },
  permissions: { ...permissions, requiredFilters: [] },
};

export const files = defineObject<string>({
  label: 'Files',
  description: 'Files of all kinds, such as uploaded files, documents of Google and shortcuts.',
  aliases: ['documents'],
  fields: FILE_FIELDS,
  translator,
  shape: { kind: 'any' },
  list: filesOf(() => IS_NO_FOLDER, ORDER),
  ...operationsOn(FILE_FIELDS, {}),
  changes: changesOf(FILE_FIELDS, (mimeType) => mimeType !== FOLDER),
  children: PARTS,
  media: {
    types: ['*'],
    request: ({ id }) => ({ path: path`/drive/v3/files/${id}`, query: { ...SHARED, alt: 'media' } }),
  },
  upload: {
    create: { request: ({ values, file }) => upload('', { name: file.name, ...values }), read: stored },
    replace: {
      request: ({ id, values }) => {
        if (values.parents !== undefined) throw rejected('Move a file in a request of its own, without its content.');
        return { method: 'PATCH', ...upload(path`/${id}`, values) };
      },
      read: stored,
    },
  },
});

const items = defineObject<string>({
  label: 'Items',
  description: 'Files and folders in a folder.',
  fields: FILE_FIELDS,
  translator,
  shape: { kind: 'any' },
  list: filesOf(({ parentId = 'root' }) => `${quote(parentId)} in parents`, ORDER),
});

export const folders = defineObject<string>({
  label: 'Folders',
  description: 'Folders, which are files of their own type at Google.',
  fields: FOLDER_FIELDS,
  translator,
  shape: { kind: 'any' },
  list: filesOf(() => IS_FOLDER, ORDER),
  ...operationsOn(FOLDER_FIELDS, { mimeType: FOLDER }),
  changes: changesOf(FOLDER_FIELDS, (mimeType) => mimeType === FOLDER),
  children: { items, ...PARTS },
});

/** Google returns matches of a text in the order of their relevance, and in no other. Source: "Resolve errors", `badRequest`. */
const unsorted = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { createable: _, updateable: __, required: ___, ...field }]) => [
      name,
      { ...field, sortable: false },
    ]),
  );

export const search = defineObject<string>({
  label: 'Search',
  description: 'Files and folders with words in their name, description or content.',
  fields: unsorted(FILE_FIELDS),
  parameters: { text: { type: 'string', description: 'Words in the name, the description or the content.' } },
  translator,
  shape: { kind: 'any' },
  list: filesOf(({ parameters: { text } }) => wordsIn(text)),
});

function wordsIn(text: Listed['parameters'][string] | undefined): string | undefined {
  if (text?.kind !== 'string' || text.value === '') return undefined;
  return `fullText contains ${quote(text.value)}`;
}
