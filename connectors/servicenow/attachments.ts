import { defined, type FieldSpec, json, type Media, type ObjectSpec, path, type Upload } from '#connector';
import { PLAIN, recordIn } from './query.ts';

export const ATTACHMENTS = 'sys_attachment';

/** The content of a file. Source of this whole module: Attachment API reference. */
const media: Media = {
  types: ['*'],
  request: ({ id }) => ({ path: path`/attachment/${id}/file`, headers: { accept: '*/*' } }),
  about: {
    request: ({ id }) => ({ path: path`/attachment/${id}` }),
    read: (response) => {
      const record = recordIn(response);
      const type = json.findText(json.at(record, 'content_type'))?.split(';')[0]?.trim().toLowerCase();
      return defined({ name: json.findText(json.at(record, 'file_name')), type });
    },
  },
};

/** Uploads a file with its own content type. The record to which it is attached must exist. */
const upload: Upload = {
  create: {
    request: ({ values, file }) => ({
      path: '/attachment/file',
      query: {
        table_name: json.text(values.table_name, 'the table of the record'),
        table_sys_id: json.text(values.table_sys_id, 'the id of the record'),
        file_name: json.findText(values.file_name) ?? file.name,
      },
    }),
    // The values of the attachment in the response have other formats than the row of the table.
    read: ({ body }) => ({ id: json.text(json.at(body, 'result', 'sys_id'), 'the id of the attachment') }),
  },
};

/** The operations of attachments. A table describes the files, and a separate API creates and deletes them. */
export const attachmentOperations = {
  get: { request: ({ id }) => ({ path: path`/table/${ATTACHMENTS}/${id}`, query: PLAIN }), read: recordIn },
  remove: {
    request: ({ id }) => ({ method: 'DELETE', path: path`/attachment/${id}` }),
    read: () => undefined,
  },
  media,
  upload,
} satisfies Partial<ObjectSpec>;

/** Returns the fields that an upload accepts. */
export function attachedFields(fields: ReadonlyMap<string, FieldSpec>): ObjectSpec['fields'] {
  const given = { file_name: false, table_name: true, table_sys_id: true };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, required]) => {
      const field = fields.get(name);
      return field === undefined ? [] : [[name, { ...field, createable: true, required }]];
    }),
  );
}
