import { randomUUID } from 'node:crypto';
import { defineObject, fieldsOf, json, list, path, records } from '#connector';
import official from './official.json' with { type: 'json' };

const FIELDS = 'id,name,colorRgb,themeId,hidden,createdTime,orgUnitId,restrictions,capabilities,backgroundImageLink';
const ONLY_READ = { createable: false, updateable: false } as const;

/** Shared drives. */
export const drives = defineObject({
  label: 'Shared drives',
  description: 'Shared drives of which the user is a member.',
  aliases: ['shared-drives'],
  fields: fieldsOf(official, 'Drive', {
    pick: FIELDS.replaceAll(',', ' '),
    create: 'Drive',
    update: 'Drive',
    but: {
      id: { nullable: false },
      name: { nullable: false, required: true, clearable: false },
      colorRgb: { createable: false, clearable: false },
      themeId: { updateable: false },
      hidden: ONLY_READ,
      createdTime: ONLY_READ,
      orgUnitId: ONLY_READ,
      restrictions: ONLY_READ,
    },
  }),
  list: list<never>({
    request: ({ page }) => ({
      path: '/drive/v3/drives',
      query: { fields: `nextPageToken,drives(${FIELDS})`, ...page },
    }),
    rows: (body) => json.array(json.at(body, 'drives'), 'the shared drives'),
    paging: {
      kind: 'cursor',
      cursor: 'pageToken',
      size: 'pageSize',
      max: 100,
      next: ({ body }) => json.at(body, 'nextPageToken'),
    },
  }),
  ...records({
    get: (id) => ({ path: path`/drive/v3/drives/${id}`, query: { fields: FIELDS } }),
    create: {
      request: (values) => ({
        method: 'POST',
        path: '/drive/v3/drives',
        // Google creates one drive for an id, however often the request arrives.
        query: { requestId: randomUUID(), fields: FIELDS },
        json: values,
      }),
    },
    update: {
      request: (id, values) => ({
        method: 'PATCH',
        path: path`/drive/v3/drives/${id}`,
        query: { fields: FIELDS },
        json: values,
      }),
      record: ({ body }) => json.object(body, 'the shared drive'),
    },
    remove: (id) => ({ method: 'DELETE', path: path`/drive/v3/drives/${id}` }),
  }),
});
