import { defineObject, fieldsOf, json, list, records } from '#connector';
import official from './official.json' with { type: 'json' };

/** The users of the site. Jira cannot filter them all by any field. */
export const users = defineObject({
  label: 'Users',
  description: 'Users of the site, including inactive ones and apps. People decide who sees their e-mail address.',
  fields: fieldsOf(official, 'User', {
    pick: 'accountId accountType displayName emailAddress active timeZone locale',
    rename: { accountId: 'id' },
    but: { id: { nullable: false } },
  }),
  list: list({
    request: ({ page }) => ({ path: '/rest/api/3/users/search', query: page }),
    rows: (body) => json.array(body, 'the users'),
    paging: { kind: 'offset', offset: 'startAt', size: 'maxResults', max: 200 },
  }),
  ...records({ get: (id) => ({ path: '/rest/api/3/user', query: { accountId: id } }) }),
});
