import { randomUUID } from 'node:crypto';
import {
  type Call,
  createKeptTable,
  empty,
  Fault,
  json,
  type MovableClock,
  type Routes,
  type SimulatorMemory,
  type SimulatorOptions,
  signWebhook,
  type TableChange,
  type TableRow,
  writeSeconds,
} from '#connector/simulator';
import { API, asIssue, conform, type Name, ORGANIZATION, OWNER, userOf } from './records.ts';

/** The event of each kind of record, and the member that holds it. Source: "Webhook events and payloads". */
const EVENTS: Readonly<Record<Name, readonly [event: string, member: string, schema: string]>> = {
  repositories: ['repository', 'repository', 'full-repository'],
  issues: ['issues', 'issue', 'issue'],
  pull_requests: ['pull_request', 'pull_request', 'pull-request'],
  comments: ['issue_comment', 'comment', 'issue-comment'],
  labels: ['label', 'label', 'label'],
  milestones: ['milestone', 'milestone', 'milestone'],
};

/** Creates the webhooks of the organization and of its repositories. Their secrets are never shown again. */
export function createWebhooks(options: {
  readonly clock: MovableClock;
  readonly send: SimulatorOptions['send'];
  readonly memory: SimulatorMemory;
}) {
  const { clock, send, memory } = options;
  const hooks = createKeptTable({ memory, makeId: (index) => 12_345_678 + index });

  function deliver(hook: TableRow, event: string, payload: unknown): void {
    const { url, content_type, secret } = Object(hook.config);
    const isForm = content_type !== 'json';
    const text = JSON.stringify(payload);
    const body = isForm ? new URLSearchParams({ payload: text }).toString() : text;
    const signed =
      secret === undefined
        ? { headers: {}, body }
        : signWebhook({ secret, header: 'x-hub-signature-256', prefix: 'sha256=' }, body, { nowMs: clock.now() });
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers = {
      ...{ ...signed.headers, 'content-type': type, 'user-agent': 'GitHub-Hookshot/0000000' },
      ...{ 'x-github-event': event, 'x-github-delivery': randomUUID(), 'x-github-hook-id': String(hook.id) },
    };
    send?.({ url, headers, body });
  }

  function report(name: Name, { before, after }: TableChange): void {
    const [event, member, schema] = EVENTS[name];
    const row = after ?? before ?? {};
    const repository = String(name === 'repositories' ? row.full_name : row.repository);
    const shown = conform(member === 'issue' ? asIssue(row) : row, schema);
    const payload = {
      ...{ action: actionOf(name, before, after), [member]: shown },
      ...(name === 'comments' && { issue: { number: row.number, url: row.issue_url } }),
      repository:
        name === 'repositories'
          ? shown
          : { name: repository.split('/')[1], full_name: repository, owner: ORGANIZATION },
      ...{ organization: ORGANIZATION, sender: userOf('octocat') },
    };
    for (const hook of hooks.rows()) {
      const isMine = hook.scope === OWNER || hook.scope === repository;
      const events: readonly unknown[] = [hook.events].flat();
      if (isMine && hook.active !== false && (events.includes('*') || events.includes(event)))
        deliver(hook, event, payload);
    }
  }

  const isOfRepository = (scope: unknown) => String(scope).includes('/');

  const show = ({ scope, ...hook }: TableRow) => {
    const ofRepository = isOfRepository(scope);
    const address = `${API}/${ofRepository ? 'repos' : 'orgs'}/${scope}/hooks/${hook.id}`;
    const addresses = { url: address, ping_url: `${address}/pings`, test_url: `${address}/test` };
    const config = { ...Object(hook.config), ...(Object(hook.config).secret !== undefined && { secret: '********' }) };
    return conform({ ...hook, ...addresses, config }, ofRepository ? 'hook' : 'org-hook');
  };

  function create(call: Call, scope: string) {
    const { config, events = ['push'], active = true } = call.body.object();
    const { url, content_type = 'form', insecure_ssl = '0', secret } = Object(config);
    if (!URL.canParse(String(url))) throw invalid('url', 'missing_field');
    const isSame = (hook: TableRow) =>
      hook.scope === scope && Object(hook.config).url === url && String(hook.events) === String(events);
    if (hooks.rows().some(isSame))
      throw new Fault(422, 'custom', 'Hook already exists on this organization', { fields: ['Hook'] });
    const at = writeSeconds(clock.now());
    const hook = hooks.insert({
      ...{ scope, events, active, name: 'web', type: isOfRepository(scope) ? 'Repository' : 'Organization' },
      ...{ created_at: at, updated_at: at },
      last_response: { code: null, status: 'unused', message: null },
      config: { url, content_type, insecure_ssl: String(insecure_ssl), ...(secret !== undefined && { secret }) },
    });
    const zen = 'Keep it logically awesome.';
    deliver(hook, 'ping', { zen, hook_id: hook.id, hook: show(hook), sender: userOf('octocat') });
    return json(show(hook), 201);
  }

  const routesAt = (template: string, scopeOf: (call: Call) => string): Routes => ({
    [`GET ${template}`]: (call) => {
      const found = hooks.rows().filter(({ scope }) => scope === scopeOf(call));
      return json(found.map(show));
    },
    [`POST ${template}`]: (call) => create(call, scopeOf(call)),
    [`DELETE ${template}/{hook_id}`]: (call) => {
      const found = hooks.find(call.params.hook_id ?? '');
      if (found?.scope !== scopeOf(call)) throw new Fault(404, 'NOT_FOUND', 'Not Found');
      hooks.remove(String(found.id));
      return empty();
    },
  });
  const routes: Routes = {
    ...routesAt('/orgs/{org}/hooks', ({ params }) => params.org ?? ''),
    ...routesAt('/repos/{owner}/{repo}/hooks', ({ params }) => `${params.owner}/${params.repo}`),
  };
  return { routes, report };
}

function invalid(field: string, code: string): Fault {
  return new Fault(422, code, 'Validation Failed', { fields: ['Hook', field] });
}

function actionOf(name: Name, before: TableRow | undefined, after: TableRow | undefined): string {
  if (after === undefined) return 'deleted';
  if (before === undefined) return name === 'issues' || name === 'pull_requests' ? 'opened' : 'created';
  if (before.state !== after.state)
    return after.state === 'closed' ? 'closed' : name === 'milestones' ? 'opened' : 'reopened';
  return 'edited';
}
