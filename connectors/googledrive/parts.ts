import { can, type FieldSpec, type Fields, fieldsOf, json, type ObjectSpec, parts, path } from '#connector';
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
  return parts({
    about,
    whole: { field: 'fileId', label: 'Id of the file or folder' },
    id: { separator: ':' },
    fields,
    filters: { modifiedTime: { from: 'startModifiedTime' } },
    path: (fileId, partId) =>
      path`/drive/v3/files/${fileId}/${segment}` + (partId === undefined ? '' : path`/${partId}`),
    listQuery: ({ filter, page }) => ({
      ...own,
      ...filter,
      fileId: undefined,
      fields: `nextPageToken,${segment}(${members})`,
      ...page,
    }),
    query: { ...own, fields: members },
    removeQuery: own,
    rows: segment,
    paging: {
      kind: 'cursor',
      cursor: 'pageToken',
      size: 'pageSize',
      max: 100,
      next: ({ body }) => json.at(body, 'nextPageToken'),
    },
    change: 'PATCH',
  });
}
