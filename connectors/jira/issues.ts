import {
  type ConnectorContext,
  type CreateInput,
  type DiscoveryContext,
  defined,
  defineObject,
  isDenied,
  isUnauthorized,
  type Json,
  json,
  type ListInput,
  type ListOperation,
  type ListPage,
  list,
  type ObjectSpec,
  type ProviderRequest,
  path,
  records,
  rejected,
  type UpdateInput,
} from '#connector';
import { clauseOf, OWN_FIELDS, type Site, STATUS_CATEGORY, toFieldSpec } from './fields.ts';
import { createTranslator, type Jql, type Name, printQuery } from './jql.ts';
import { comments, worklogs } from './parts.ts';
import { readProjectKeys } from './projects.ts';

const ISSUE = '/rest/api/3/issue';
const MOST_ISSUES = 100;

/** The object of issues without their fields, which each site has of its own. */
export const issues = defineObject<Jql>({
  label: 'Issues',
  description: 'Issues of all projects: tasks, bugs, stories, requests, with the custom fields of the site.',
  aliases: ['incidents', 'tickets', 'issue'],
  fields: {},
  list: listIssues(),
  ...recordsOfIssues(),
  changes: { reports: ['created', 'updated'] },
  // Below an issue, a list needs no filter.
  children: {
    comments: { ...comments, requiredFilters: [] },
    worklogs: { ...worklogs, requiredFilters: [] },
    transitions: transitionsOfIssue(),
  },
  describe: describeIssues,
});

async function describeIssues(context: DiscoveryContext): Promise<ObjectSpec> {
  const read = async (at: string) => (await context.send({ path: `/rest/api/3/${at}` })).body;
  const [fields, reference, myself, names] = await Promise.all([
    read('field'),
    read('jql/autocompletedata'),
    read('myself'),
    readNames(context),
  ]);
  const known = json.objects(json.at(reference, 'visibleFieldNames'), 'the fields of JQL');
  const byClause = known.map((each) => [json.findText(each.cfid) ?? String(each.value), each] as const);
  const site: Site = {
    zone: json.findText(json.at(myself, 'timeZone')),
    operators: new Map(byClause.map(([clause, { operators }]) => [clause, new Set(textsIn(operators))])),
    orderable: new Set(byClause.flatMap(([clause, { orderable }]) => (orderable === 'true' ? [clause] : []))),
    names,
  };
  const listed = json.objects(fields, 'the fields of issues');
  const described = listed.flatMap((details) => {
    const field = toFieldSpec(details, site);
    return field === undefined ? [] : [field];
  });
  const clauses = new Map(listed.map((details) => [json.findText(details.id), clauseOf(details, site)]));
  const all = { ...OWN_FIELDS, ...Object.fromEntries(described), statusCategory: STATUS_CATEGORY };
  const has = (name: string) => (Object.hasOwn(all, name) ? name : undefined);
  return defineObject<Jql>({
    ...issues,
    describe: undefined,
    fields: all,
    translator: createTranslator(site.zone, ({ native }) => clauses.get(native) ?? native),
    shape: { kind: 'any' },
    limits: { maxInSize: MOST_ISSUES, maxSortFields: 7 },
    // The search finds a change some moments later, and Jira does not say how many.
    changes: defined({ updated: has('updated'), created: has('created'), overlapSeconds: 300 }),
  });
}

function textsIn(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : []).flatMap((text) => json.findText(text) ?? []);
}

/** Reads the names that JQL accepts. Without them, Causeway filters by these fields itself. */
async function readNames(context: ConnectorContext): Promise<Site['names']> {
  const kinds = ['status', 'priority', 'resolution', 'issuetype'] as const;
  const lists = await Promise.all([
    ...kinds.map(async (kind) => {
      const { body } = await context.send({ path: `/rest/api/3/${kind}` });
      const names = json
        .objects(body, `the list of the kind '${kind}'`)
        .flatMap(({ name }) => json.findText(name) ?? []);
      return [kind, new Set(names)] as const;
    }),
    readProjectKeys(context).then((keys) => ['project', new Set(keys)] as const),
  ]);
  return Object.fromEntries(lists);
}

/** Returns an issue as a flat object: its fields, its id and its key. */
function toRecord(issue: unknown): Json {
  const { id, key, fields } = json.object(issue, 'an issue');
  return {
    ...json.object(fields ?? {}, 'the fields of the issue'),
    id: json.text(id, 'the id of the issue'),
    // A search for ids returns no keys.
    key: key ?? null,
  };
}

function fieldsFor(natives: readonly string[]): readonly string[] {
  const wanted = natives.filter((native) => native !== 'id');
  return wanted.length === 0 ? ['id'] : wanted;
}

function listIssues(): ListOperation<Jql> {
  const pages = list<Jql>({
    request: ({ filter, order, natives, page }) => ({
      method: 'POST',
      path: '/rest/api/3/search/jql',
      // A search by POST changes nothing, so it may be sent again.
      idempotent: true,
      json: {
        jql: printQuery(
          filter?.print(() => true),
          order,
        ),
        fields: fieldsFor(natives),
        ...page,
      },
    }),
    rows: (body) => json.array(json.at(body, 'issues'), 'the issues').map(toRecord),
    paging: {
      kind: 'cursor',
      cursor: 'nextPageToken',
      size: 'maxResults',
      max: MOST_ISSUES,
      next: ({ body }) => (json.at(body, 'isLast') === true ? undefined : json.at(body, 'nextPageToken')),
    },
    order: { term: (native, direction) => `${native} ${direction.toUpperCase()}` },
  });
  return { ...pages, run: async (context, input) => searchKnown(context, input, pages) };
}

/**
 * Searches. Jira rejects a filter that names an issue or a user that it does not have, so the names of a rejected filter are looked up, and
 * those that do not exist are replaced by what they mean.
 */
async function searchKnown(
  context: ConnectorContext,
  input: ListInput<Jql>,
  { request, read }: ReturnType<typeof list<Jql>>,
): Promise<ListPage> {
  const { filter } = input;
  try {
    return read(await context.send(request(input, context.config)), input);
  } catch (error) {
    context.signal.throwIfAborted();
    if (filter === undefined || isUnauthorized(error) || !isDenied(error)) throw error;
    const known = await findKnown(context, filter.names);
    if (filter.names.every(({ name }) => known.has(name))) throw error;
    const asked = { ...filter, print: () => filter.print((name) => known.has(name)) };
    return read(await context.send(request({ ...input, filter: asked }, context.config)), input);
  }
}

/** Returns the names of issues and users that exist. */
async function findKnown({ send }: ConnectorContext, names: readonly Name[]): Promise<ReadonlySet<string>> {
  const of = (kind: Name['of']) => [...new Set(names.flatMap((each) => (each.of === kind ? [each.name] : [])))];
  const issueCalls = chunk(of('issue')).map(async (issueIdsOrKeys) => {
    const { body } = await send({
      method: 'POST',
      path: `${ISSUE}/bulkfetch`,
      idempotent: true,
      json: { issueIdsOrKeys, fields: ['key'] },
    });
    return json.objects(json.at(body, 'issues'), 'the issues').flatMap(({ id, key }) => [id, key]);
  });
  const userCalls = chunk(of('user')).map(async (accountId) => {
    const { body } = await send({ path: '/rest/api/3/user/bulk', query: { accountId, maxResults: MOST_ISSUES } });
    return json.objects(json.at(body, 'values'), 'the users').map((user) => user.accountId);
  });
  const found = await Promise.all([...issueCalls, ...userCalls]);
  return new Set(found.flat().map(String));
}

function chunk(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / MOST_ISSUES) }, (_, index) =>
    names.slice(index * MOST_ISSUES, (index + 1) * MOST_ISSUES),
  );
}

function recordsOfIssues() {
  const { get, create, remove } = records({
    get: (id, natives) => ({ path: path`/rest/api/3/issue/${id}`, query: { fields: fieldsFor(natives).join(',') } }),
    record: ({ body }) => toRecord(body),
    create: {
      request: (fields) => ({ method: 'POST', path: ISSUE, json: { fields } }),
      id: ({ body }) => json.text(json.at(body, 'id'), 'the id of the new issue'),
    },
    remove: (id) => ({ method: 'DELETE', path: path`/rest/api/3/issue/${id}` }),
  });
  return {
    get,
    create,
    remove,
    update: {
      run: async (context: ConnectorContext, input: UpdateInput) => {
        await changeIssue(context, input);
        return get.read(await context.send(get.request(input, context.config)));
      },
    },
  };
}

/** Changes the fields of an issue. Jira changes a status only by a transition, so one that leads to the status is looked up first. */
async function changeIssue({ send }: ConnectorContext, { id, values }: UpdateInput): Promise<void> {
  const { status, ...fields } = values;
  const transition = status === undefined ? undefined : await findTransition({ send }, id, status);
  if (Object.keys(fields).length > 0)
    await send({ method: 'PUT', path: path`/rest/api/3/issue/${id}`, json: { fields } });
  if (transition !== undefined) {
    await send({ method: 'POST', path: path`/rest/api/3/issue/${id}/transitions`, json: { transition } });
  }
}

async function findTransition(
  { send }: Pick<ConnectorContext, 'send'>,
  id: string,
  status: CreateInput['values'][string],
): Promise<{ readonly id: string } | undefined> {
  const wanted = json.text(json.at(status, 'name'), 'the name of the status');
  const { body } = await send(transitionsAt(id));
  const transitions = readTransitions(body);
  const found = transitions.find(({ to }) => json.at(to, 'name') === wanted);
  if (found !== undefined) return { id: json.text(found.id, 'the id of the transition') };
  const current = await send({ path: path`/rest/api/3/issue/${id}`, query: { fields: 'status' } });
  if (json.at(current.body, 'fields', 'status', 'name') === wanted) return undefined;
  const reachable = transitions.flatMap(({ to }) => json.findText(json.at(to, 'name')) ?? []);
  throw rejected(`No transition of this issue leads to this status. Its transitions lead to: ${reachable.join(', ')}.`);
}

function transitionsAt(id: string): ProviderRequest {
  return { path: path`/rest/api/3/issue/${id}/transitions` };
}

function readTransitions(body: unknown): readonly Json[] {
  return json.objects(json.at(body, 'transitions'), 'the transitions');
}

/** Returns the transitions that the user can do now. To do one, set the status of the issue. */
function transitionsOfIssue(): ObjectSpec {
  return defineObject({
    label: 'Transitions',
    description: 'The changes of status that are possible now. To do one, change the status of the issue.',
    fields: {
      id: { type: 'string', nullable: false },
      name: { type: 'string' },
      status: { type: 'string', native: 'to.name' },
      hasScreen: { type: 'boolean' },
    },
    list: list({
      request: ({ parentId = '' }) => transitionsAt(parentId),
      rows: readTransitions,
      paging: { kind: 'whole' },
    }),
  });
}
