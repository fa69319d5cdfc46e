import {
  defineObject,
  type Fields,
  type Inputs,
  json,
  type ObjectSpec,
  type ProviderResponse,
  path,
  records,
  rejected,
  type Upload,
  type UploadRequest,
} from '#connector';
import { allOf, FILE_FIELDS, FOLDER_FIELDS, FOUND_FIELDS, ITEM_FIELDS, membersOf } from './fields.ts';
import { contents, entriesOf, listAll, ROOT } from './folders.ts';
import { found, MOST_FOUND, PARAMETERS, translator } from './search.ts';

/**
 * Uploads of files. Box accepts files of any length in one request, to a host of its own. Sources: "Upload file", "Upload file version".
 */
const uploads: Upload = {
  create: {
    request: ({ values, file }) => send('/files/content', { name: file.name, parent: { id: ROOT }, ...values }),
    read: readStored,
  },
  replace: {
    // Without a name, the file keeps its name.
    request: ({ id, values: { name, ...others } }) => {
      const [other] = Object.keys(others);
      if (other !== undefined) {
        throw rejected(
          `Together with a new version of a file, Box accepts only a new name. Set '${other}' in a request of its own.`,
        );
      }
      return send(path`/files/${id}/content`, { name });
    },
    read: readStored,
  },
};

/** Returns the request of an upload. Box expects the attributes before the file. */
function send(where: string, attributes: Readonly<Record<string, unknown>>): UploadRequest {
  return {
    url: `https://upload.box.com/api/2.0${where}`,
    query: { fields: allOf(FILE_FIELDS) },
    form: { parts: [{ name: 'attributes', value: JSON.stringify(attributes) }], file: 'file' },
  };
}

function readStored({ body }: ProviderResponse) {
  const [record] = entriesOf(body);
  return { record: json.object(record, 'the file') };
}

type Values = Readonly<Record<string, unknown>>;

/** Returns the operations of records. Box responds to a write with the members of the record that `fields` names. */
function recordsOf(collection: 'files' | 'folders', fields: Fields) {
  const query = { fields: allOf(fields) };
  return records({
    get: (id, natives) => ({ path: path`/${collection}/${id}`, query: { fields: membersOf(natives) } }),
    ...(collection === 'folders' && {
      create: {
        request: (values: Values) => ({
          method: 'POST' as const,
          path: '/folders',
          query,
          json: { parent: { id: ROOT }, ...values },
        }),
      },
    }),
    update: {
      request: (id, values) => ({ method: 'PUT', path: path`/${collection}/${id}`, query, json: values }),
      record: ({ body }) => json.object(body, 'a record'),
    },
    remove: (id) => ({ method: 'DELETE', path: path`/${collection}/${id}` }),
  });
}

const files = defineObject({
  label: 'Files',
  description: 'All files that the user sees. Listing them reads one folder after the other.',
  fields: FILE_FIELDS,
  list: listAll('file'),
  ...recordsOf('files', FILE_FIELDS),
  // Box redirects to another host, to which the credentials are not sent. Source: "Download file".
  media: { types: ['*'], request: ({ id }) => ({ path: path`/files/${id}/content` }) },
  upload: uploads,
});

const folders = defineObject({
  label: 'Folders',
  description: 'All folders that the user sees. Listing them reads one after the other.',
  fields: FOLDER_FIELDS,
  list: listAll('folder'),
  ...recordsOf('folders', FOLDER_FIELDS),
  children: {
    items: defineObject({ label: 'Items', description: 'Contents of a folder.', fields: ITEM_FIELDS, list: contents }),
  },
});

const search = defineObject<Inputs>({
  label: 'Search',
  description:
    'Files, folders and web links. A search for words uses the index of Box, which is minutes behind. Without words, the search reads one folder after the other.',
  fields: FOUND_FIELDS,
  parameters: PARAMETERS,
  limits: { resultWindow: MOST_FOUND, maxInSize: 50 },
  translator,
  list: found,
});

export const OBJECTS: Readonly<Record<string, ObjectSpec>> = { files, folders, search };
