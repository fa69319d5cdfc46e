import {
  defineObject,
  type Fields,
  type Inputs,
  type Json,
  json,
  type ProviderResponse,
  path,
  records,
  rejected,
  type StoredUpload,
  type UploadForm,
} from '#connector';
import {
  ASKED_FLAG,
  ASKED_REFERENCE,
  ASKED_TEXT,
  asked,
  ID,
  LATEST_TIME,
  oneOf,
  REFERENCE,
  TEXT,
  TIME,
  WRITTEN,
} from './fields.ts';
import { equal, filterBy } from './filter.ts';
import { firstVersionListOf, latestFirst, listOf, SINCE } from './lists.ts';

const FILE_FIELDS = {
  id: { ...ID, filter: {} },
  file_name: { ...ASKED_TEXT, ...WRITTEN, label: 'Name; the name of the uploaded file by default' },
  category: asked(oneOf('ATTACHMENTS CART DOCUMENTS HIDDEN INVOICE LOGO TICKETS WEB_FORM FUNNEL')),
  file_box_type: asked(
    oneOf(
      'APPLICATION IMAGE FAX ATTACHMENT TICKET CONTACT DIGITAL_PRODUCT IMPORT HIDDEN WEB_FORM STYLED_CART RESAMPLED_IMAGE TEMPLATE_THUMBNAIL FUNNEL LOGO_THUMBNAIL UNLAYER BRANDING_CENTER_LOGO',
    ),
  ),
  is_public: { ...ASKED_FLAG, ...WRITTEN },
  contact_id: { ...ASKED_REFERENCE, createable: true },
  file_association: {
    ...oneOf('CONTACT USER COMPANY'),
    createable: true,
    unlisted: true,
    label: 'Owner of the new file: the contact if it is set, otherwise the user. Not returned later',
  },
  created_by_id: REFERENCE,
  remote_file_key: TEXT,
  file_size: { type: 'integer', label: 'Bytes' },
  created_time: TIME,
  updated_time: LATEST_TIME,
} as const satisfies Fields;

export const files = defineObject<Inputs>({
  label: 'Files',
  description: 'The file box: data about files and, with `Accept`, the files themselves.',
  fields: FILE_FIELDS,
  parameters: {
    user_id: { type: 'string', description: 'Id of the user who owns the files.' },
    permission: {
      type: 'string',
      values: ['USER', 'COMPANY', 'BOTH'],
      description: 'Owner of the files: users, the company, or both. Cannot be combined with `user_id`.',
    },
  },
  translator: filterBy({
    file_name: equal('file_name'),
    category: equal('category'),
    file_box_type: equal('file_box_type'),
    is_public: equal('is_public'),
    contact_id: equal('contact_id'),
    updated_time: { from: SINCE },
  }),
  list: byPermission(latestFirst(listOf({ path: 'files', rows: ['files'] }), 'updated_time', 'updated_time')),
  changes: { updated: 'updated_time', created: 'created_time' },
  ...records({ get: fileOf, remove: (id) => ({ ...fileOf(id), method: 'DELETE' }) }),
  media: {
    types: ['*'],
    request: ({ id }) => ({ path: path`/rest/v2/files/${id}:data` }),
    about: { request: ({ id }) => fileOf(id), read: describeFile },
  },
  upload: {
    create: {
      request: ({ values, file }) => {
        const file_association = values.contact_id == null ? 'USER' : 'CONTACT';
        return { path: '/rest/v2/files', form: formOf({ file_name: file.name, file_association, ...values }) };
      },
      read: readStored,
    },
    // A new version keeps its name unless the request has another one. Keap changes a file with a POST.
    replace: { request: ({ id, values }) => ({ ...fileOf(id), form: formOf(values) }), read: readStored },
  },
});

/**
 * Returns the list of files. Only the first version of the API can filter by permission, and only the second can list the files of one
 * user.
 */
function byPermission(second: ReturnType<typeof latestFirst>): ReturnType<typeof latestFirst> {
  const first = firstVersionListOf('files', 'files');
  return {
    ...second,
    request: (input, config) => {
      const { parameters, filter } = input;
      if (parameters.permission === undefined) return second.request(input, config);
      if (parameters.user_id !== undefined)
        throw rejected("Keap does not accept 'user_id' together with 'permission'.");
      return first.request({ ...input, filter: firstConditions(filter) }, config);
    },
    read: (response, input) => {
      if (input.parameters.permission === undefined) return second.read(response, input);
      const { records: rows, ...page } = first.read(response, input);
      return { ...page, records: rows.map((row) => fromFirst(json.object(row, 'a file'))) };
    },
  };
}

/** Returns the conditions that the first version compares exactly. For all others the rows are checked again. */
function firstConditions(filter: Inputs = {}): Inputs {
  const { 'contact_id==': contact_id, 'is_public==': is_public } = filter;
  return {
    ...(contact_id !== undefined && { contact_id }),
    ...(is_public !== undefined && { viewable: is_public === 'true' ? 'PUBLIC' : 'PRIVATE' }),
  };
}

function fromFirst({ public: is_public, created_by, date_created, last_updated, ...same }: Json): Json {
  return { ...same, is_public, created_by_id: created_by, created_time: date_created, updated_time: last_updated };
}

function formOf(values: Json): UploadForm {
  const given = Object.entries(values).filter(([, value]) => value !== null);
  return { parts: given.map(([name, value]) => ({ name, value: String(value) })), file: 'file' };
}

function readStored({ body }: ProviderResponse): StoredUpload {
  return { record: json.object(body, 'the stored file') };
}

function fileOf(id: string) {
  return { path: path`/rest/v2/files/${id}` };
}

function describeFile({ body }: ProviderResponse) {
  return { name: json.text(json.at(body, 'file_name'), 'the name of the file') };
}
