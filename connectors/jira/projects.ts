import {
  type ConnectorContext,
  can,
  codec,
  defineObject,
  fieldsOf,
  type Inputs,
  inputs,
  isNotFound,
  json,
  type ListOperation,
  list,
  path,
  records,
} from '#connector';
import official from './official.json' with { type: 'json' };

const PROJECT = '/rest/api/3/project';
const SEARCH = `${PROJECT}/search`;
const EXPAND = 'description,lead,url';
const MOST_PROJECTS = 100;
/** Maximum number of projects whose keys are read to check filters. */
const MOST_KEYS = 2000;

const KEY = { type: 'string', nullable: false, createable: true, updateable: true, required: true } as const;

/** The projects that the user can see. */
export const projects = defineObject<Inputs>({
  label: 'Projects',
  description: 'Projects that the user can see, without archived and deleted ones.',
  fields: fieldsOf(official, 'Project', {
    pick: 'id key name description lead projectTypeKey style simplified isPrivate url assigneeType archived',
    create: 'CreateProjectDetails',
    update: 'UpdateProjectDetails',
    but: {
      id: { nullable: false, createable: false, filter: can.only('exact', '=', 'IN'), domain: digits() },
      key: { ...KEY, filter: can.only('superset', '=', 'IN'), domain: { text: { nonEmpty: true } } },
      name: { ...KEY },
      lead: {
        type: 'string',
        label: 'Account id of the lead',
        createable: true,
        updateable: true,
        required: true,
        clearable: false,
        read: (lead) => (json.isObject(lead) ? json.at(lead, 'accountId') : lead),
      },
      projectTypeKey: {
        createable: true,
        updateable: false,
        values: ['software', 'service_desk', 'business'],
        domain: { closed: true },
        filter: can.only('exact', '=', 'IN'),
      },
      description: { createable: true, updateable: true, read: codec.blank().read, write: (value) => value ?? '' },
      url: { createable: true, updateable: true, read: codec.blank().read, write: (value) => value ?? '' },
    },
  }),
  translator: inputs({ id: 'id', key: 'keys', projectTypeKey: 'typeKey' }),
  limits: { maxInSize: 50 },
  list: listProjects(),
  ...records({
    get: (id) => ({ path: path`/rest/api/3/project/${id}`, query: { expand: EXPAND } }),
    create: {
      request: (values) => ({ method: 'POST', path: PROJECT, json: toBody(values) }),
      id: ({ body }) => json.key(json.at(body, 'id'), 'the id of the new project'),
    },
    update: (id, values) => ({ method: 'PUT', path: path`/rest/api/3/project/${id}`, json: toBody(values) }),
    remove: (id) => ({ method: 'DELETE', path: path`/rest/api/3/project/${id}` }),
  }),
});

function digits() {
  return { text: { nonEmpty: true, possible: (id: string) => /^\d{1,18}$/.test(id) } } as const;
}

function toBody({ lead, ...values }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return lead === undefined ? values : { ...values, leadAccountId: lead };
}

function listProjects(): ListOperation<Inputs> {
  const pages = list<Inputs>({
    request: ({ filter: { id, keys, ...filter } = {}, page }) => ({
      path: SEARCH,
      // Ids and keys are repeated, and types are separated by commas.
      query: { ...filter, id: repeated(id), keys: repeated(keys), ...page, orderBy: 'key', expand: EXPAND },
    }),
    rows: (body) => json.array(json.at(body, 'values'), 'the projects'),
    paging: {
      kind: 'offset',
      offset: 'startAt',
      size: 'maxResults',
      max: MOST_PROJECTS,
      total: ({ body }) => json.at(body, 'total'),
    },
  });
  return {
    ...pages,
    run: async (context, input) => {
      try {
        return pages.read(await context.send(pages.request(input, context.config)), input);
      } catch (error) {
        context.signal.throwIfAborted();
        // Jira answers 404 where no project matches.
        if (isNotFound(error)) return { records: [], total: 0 };
        throw error;
      }
    },
  };
}

function repeated(value: Inputs[string] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? value.split(',') : value;
}

/** Returns the keys of the projects, the first ones where there are too many. */
export async function readProjectKeys({ send }: ConnectorContext): Promise<readonly string[]> {
  const keys: string[] = [];
  for (let startAt = 0; startAt < MOST_KEYS; startAt += MOST_PROJECTS) {
    const { body } = await send({ path: SEARCH, query: { startAt, maxResults: MOST_PROJECTS, orderBy: 'key' } });
    const page = json.objects(json.at(body, 'values'), 'the projects');
    keys.push(...page.map(({ key }) => json.text(key, 'the key of a project')));
    if (json.at(body, 'isLast') !== false || page.length === 0) break;
  }
  return keys;
}
