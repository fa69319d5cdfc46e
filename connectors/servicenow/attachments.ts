import { json, type Media, type ObjectSpec, path } from '#connector';
import { PLAIN } from './query.ts';

export const ATTACHMENTS = 'sys_attachment';

/** The file itself, with its own type. Source: Attachment API reference. */
const media: Media = {
  types: ['*'],
  request: ({ id }) => ({ path: path`/attachment/${id}/file`, headers: { accept: '*/*' } }),
  about: {
    request: ({ id }) => ({ path: path`/attachment/${id}` }),
    read: ({ body }) => {
      const { file_name: name, content_type: type } = json.object(json.at(body, 'result'), 'the attachment');
      return {
        ...(json.findText(name) !== undefined && { name: String(name) }),
        ...(json.findText(type) !== undefined && { type: String(type).split(';')[0]?.trim().toLowerCase() ?? '' }),
      };
    },
  },
};

/** Files are described by rows of a table, and made and taken away by an API of their own. */
export const attachmentOperations = {
  get: {
    request: ({ id }) => ({ path: path`/table/${ATTACHMENTS}/${id}`, query: PLAIN }),
    read: ({ body }) => json.object(json.at(body, 'result'), 'the attachment'),
  },
  remove: {
    request: ({ id }) => ({ method: 'DELETE', path: path`/attachment/${id}` }),
    read: () => undefined,
  },
  media,
} satisfies Partial<ObjectSpec>;
