import {
  can,
  defineObject,
  type FieldSpec,
  type Fields,
  fieldsOf,
  type Inputs,
  inputs,
  type Json,
  json,
  list,
  notFound,
  type ObjectSpec,
  type OneCall,
  path,
} from '#connector';
import official from './official.json' with { type: 'json' };

const READ: Partial<FieldSpec> = { createable: false, updateable: false };
const FIXED: Partial<FieldSpec> = { updateable: false };

/** Comments on files. */
export const comments = partsOf({
  segment: 'comments',
  about: {
    label: 'Comments',
    description: 'Comments on files. A list needs the file: `fileId`, or the path of the file.',
  },
  fields: fieldsOf(official, 'Comment', {
    pick: 'content htmlContent author createdTime modifiedTime resolved anchor quotedFileContent replies deleted',
    create: 'Comment',
    update: 'Comment',
    but: {
      content: { required: true, clearable: false },
      createdTime: READ,
      modifiedTime: { ...READ, filter: can.only('superset', '>', '>=') },
      anchor: FIXED,
      quotedFileContent: FIXED,
      replies: READ,
    },
  }),
});

/** Rights of users, groups and domains on files. A file on a shared drive inherits most of them. */
export const permissions = partsOf({
  segment: 'permissions',
  about: {
    label: 'Permissions',
    description: 'Who may do what with a file or folder. A list needs it: `fileId`, or the path of the file.',
  },
  // Google rejects comments with this parameter, and files of shared drives without it.
  query: { supportsAllDrives: true },
  fields: fieldsOf(official, 'Permission', {
    pick: 'type role emailAddress domain displayName allowFileDiscovery expirationTime deleted pendingOwner photoLink view',
    create: 'Permission',
    update: 'Permission',
    but: {
      type: { ...FIXED, required: true, values: ['user', 'group', 'domain', 'anyone'] },
      role: {
        required: true,
        clearable: false,
        values: ['owner', 'organizer', 'fileOrganizer', 'writer', 'commenter', 'reader'],
      },
      // The description says "output only", and the guide "Share files, folders and drives" creates permissions with them.
      emailAddress: { createable: true, format: 'email' },
      domain: { createable: true },
      allowFileDiscovery: FIXED,
      expirationTime: { createable: false, clearable: false },
      pendingOwner: READ,
      view: FIXED,
    },
  }),
});

interface Part {
  /** The last segment of the path, which is also the member of a list that has its rows. */
  readonly segment: 'comments' | 'permissions';
  readonly about: Pick<ObjectSpec, 'label' | 'description'>;
  readonly fields: Fields;
  readonly query?: Readonly<Record<string, boolean>>;
}

/** Returns an object whose records are parts of a file. Their id is that of the file and their own, because Google needs both. */
function partsOf({ segment, about, fields, query: own = {} }: Part): ObjectSpec {
  const members = ['id', ...Object.keys(fields)].join(',');
  const query = { ...own, fields: members };
  const pathOf = (fileId: string) => path`/drive/v3/files/${fileId}/${segment}`;
  const pathTo = (id: string) => {
    const [fileId, partId] = divide(id);
    return path`/drive/v3/files/${fileId}/${segment}/${partId}`;
  };
  const record = (part: unknown, fileId: string): Json => {
    const native = json.object(part, 'the part of a file');
    return { ...native, fileId, id: `${fileId}:${json.text(native.id, 'the id')}` };
  };
  const fileOf = ({ filter, parentId }: { readonly filter?: Inputs; readonly parentId?: string }) =>
    parentId ?? String(filter?.fileId ?? '');
  const pages = list<Inputs>({
    request: ({ page, ...input }) => ({
      path: pathOf(fileOf(input)),
      query: { ...own, ...input.filter, fileId: undefined, fields: `nextPageToken,${segment}(${members})`, ...page },
    }),
    rows: (body) => json.array(json.at(body, segment), `the list '${segment}'`),
    paging: {
      kind: 'cursor',
      cursor: 'pageToken',
      size: 'pageSize',
      max: 100,
      next: ({ body }) => json.at(body, 'nextPageToken'),
    },
  });
  return defineObject<Inputs>({
    ...about,
    fields: {
      id: { type: 'string', nullable: false },
      fileId: {
        type: 'string',
        nullable: false,
        required: true,
        createable: true,
        label: 'Id of the file or folder',
        filter: can.only('exact', '='),
      },
      ...fields,
    },
    translator: inputs({ fileId: 'fileId', modifiedTime: { from: 'startModifiedTime' } }),
    requiredFilters: ['fileId'],
    list: {
      ...pages,
      read: (response, input) => {
        const page = pages.read(response, input);
        return { ...page, records: page.records.map((part) => record(part, fileOf(input))) };
      },
    },
    get: {
      request: ({ id }) => ({ path: pathTo(id), query }),
      read: ({ body }, { id }) => record(body, divide(id)[0]),
    },
    create: {
      request: ({ values: { fileId, ...values } }) => ({
        method: 'POST',
        path: pathOf(String(fileId)),
        query,
        json: values,
      }),
      read: ({ body }, { values }) => record(body, String(values.fileId)),
    },
    update: {
      request: ({ id, values }) => ({ method: 'PATCH', path: pathTo(id), query, json: values }),
      read: ({ body }, { id }) => record(body, divide(id)[0]),
    },
    remove: {
      request: ({ id }) => ({ method: 'DELETE', path: pathTo(id), query: own }),
      read: () => undefined,
    } satisfies OneCall<{ readonly id: string }, void>,
  });
}

/** Returns the file and the part's own id. */
function divide(id: string): readonly [fileId: string, partId: string] {
  const [, fileId = '', partId = ''] = /^([^:]+):(.+)$/s.exec(id) ?? [];
  if (partId === '') throw notFound('There is no such part of a file: its id is `<file>:<id>`.');
  return [fileId, partId];
}
