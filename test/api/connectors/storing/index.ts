import { defineConnector, defineObject, type ProviderResponse, path } from '#connector';

const documents = defineObject<never>({
  fields: {
    id: { type: 'string', nullable: false },
    name: { type: 'string', createable: true, updateable: true },
    pages: { type: 'integer', createable: true },
    secret: { type: 'boolean', createable: true },
    tags: { type: 'array', createable: true },
    'folder.id': { type: 'string', createable: true },
    size: { type: 'integer' },
  },
  get: { request: ({ id }) => ({ path: path`/documents/${id}` }), read: readBody },
  media: { types: ['*'], request: ({ id }) => ({ path: path`/documents/${id}/content` }) },
  upload: {
    create: {
      request: ({ values, file }, config) => ({
        url: `${config['upload.url']}/documents`,
        form: {
          parts: [
            {
              name: 'attributes',
              value: JSON.stringify({ name: file.name, ...values }),
              type: 'application/json',
            },
          ],
          file: 'content',
        },
      }),
      read: (response) => ({ record: readBody(response) }),
    },
    replace: {
      request: ({ id, values }) => ({
        method: 'PUT',
        path: path`/documents/${id}/content`,
        query: { name: typeof values.name === 'string' ? values.name : undefined },
      }),
      read: (_response, { id }) => ({ id }),
    },
  },
});

/** A provider that takes files, in a form at another host, and as they are. */
export default defineConnector({
  key: 'storing',
  id: 990006,
  name: 'Storing',
  description: 'A provider of the tests.',
  hub: 'documents',
  auth: { type: 'custom', headers: (config) => ({ 'x-api-key': String(config['api.key']) }) },
  configuration: [
    { key: 'base.url', type: 'url', required: true, description: 'Where it is.' },
    { key: 'upload.url', type: 'url', required: true, description: 'Where files are sent.' },
    { key: 'api.key', type: 'string', required: true, secret: true, description: 'Its key.' },
  ],
  baseUrl: (config) => String(config['base.url']),
  hosts: (config) => ['base.url', 'upload.url'].map((key) => new URL(String(config[key])).host),
  probe: { path: '/me' },
  timeoutMs: 2_000,
  objects: {
    documents,
    files: documents,
    notes: defineObject<never>({
      fields: { id: { type: 'string', nullable: false }, name: { type: 'string', createable: true } },
      get: { request: ({ id }) => ({ path: path`/notes/${id}` }), read: readBody },
      create: { request: ({ values }) => ({ method: 'POST', path: '/notes', json: values }), read: readBody },
    }),
  },
});

function readBody({ body }: ProviderResponse): unknown {
  return body;
}
