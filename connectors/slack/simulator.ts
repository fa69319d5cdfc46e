import {
  atHosts,
  bearer,
  type Call,
  changesOf,
  createMovableClock,
  createOAuthServer,
  createOfficialJudges,
  type Fault,
  json,
  type RegisteredClient,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  typed,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createEvents } from './simulator/events.ts';
import { methodsOf } from './simulator/methods.ts';
import { BOT, createWorkspace, FILES_HOST, show, TEAM_ID, type Workspace } from './simulator/workspace.ts';

export { DEMO_CHANNEL, TEAM_ID } from './simulator/workspace.ts';

/** An access token that is valid from the start, for tests that do not cover the log-in. */
export const DEMO_ACCESS_TOKEN = 'xoxb-demo';

/** An app with token rotation. */
export const CLIENTS: Readonly<Record<string, RegisteredClient>> = {
  'demo-client': { secret: 'demo-secret', rotates: {} },
};

/** The configuration of an instance on this simulator. */
export const DEMO_CONFIGURATION = {};

const AUTHORIZE = 'GET /oauth/v2/authorize';
const ACCESS = 'POST /api/oauth.v2.access';
/** Source: the address of a file in the reference of `files.sharedPublicURL`. */
const DOWNLOAD = 'GET /files-pri/{file}/download/{name}';
const REASON = 'The log-in is in no description that the connector uses.';
const createJudge = createOfficialJudges(official, [
  { operation: AUTHORIZE, unjudged: ['query', 'response'], reason: REASON },
  { operation: ACCESS, unjudged: ['body', 'response'], reason: REASON },
  { operation: DOWNLOAD, unjudged: ['response'], reason: 'The bytes of files are in no description.' },
]);

/** Slack's words for failures of the kit. */
const WORDS: Readonly<Record<number, string>> = {
  ...{
    400: 'invalid_arguments',
    401: 'invalid_auth',
    403: 'missing_scope',
    404: 'channel_not_found',
    409: 'name_taken',
  },
  ...{ 422: 'invalid_arguments', 429: 'ratelimited', 500: 'internal_error', 503: 'service_unavailable' },
};

/** Errors come with the status 200, unless Slack is busy or fails. Source: "Using the Slack Web API", "Evaluating responses". */
function print({ status, code, message, headers }: Fault): SimulatedResponse {
  const error = /^[a-z_]+$/.test(code) ? code : (WORDS[status] ?? 'fatal_error');
  const detail = error === 'invalid_arguments' ? { response_metadata: { messages: [`[ERROR] ${message}`] } } : {};
  return json({ ok: false, error, ...detail }, status === 429 || status >= 500 ? status : 200, headers);
}

/** Creates a simulator of a Slack workspace in memory. README.md lists the sources. */
export function createSimulator({ memory, send, baseUrl }: SimulatorOptions): Simulator {
  const clock = createMovableClock();
  const events = createEvents(clock, send);
  const workspace: Workspace = createWorkspace(clock, (name, change) =>
    events.report(name, change, (row) => show(workspace[name], row)),
  );
  const oauth = createOAuthServer({
    ...{ title: 'Slack simulator', clients: CLIENTS, clock, memory: shareMemory(memory, 'login') },
    accessTokens: [DEMO_ACCESS_TOKEN],
    prefixes: { access: 'xoxe.xoxb-', refresh: 'xoxe-' },
    lifetimes: { codeMs: 600_000, accessMs: 43_200_000 },
    tokenResponse: (standard) => ({
      ...{ ok: true, ...standard, token_type: 'bot', bot_user_id: BOT.user, app_id: 'A0SIM00001' },
      ...{ team: { id: TEAM_ID, name: 'Demo' }, enterprise: null, authed_user: { id: BOT.user } },
    }),
  });
  const methods = methodsOf(workspace, () => Math.floor(clock.now() / 1000));
  const routes: Routes = Object.fromEntries(
    Object.keys(official.operations).map((key) => [
      key,
      (call) => {
        const given = call.method === 'GET' ? call.query : call.body.form();
        const answer = methods[key.slice(key.lastIndexOf('/') + 1)]?.(given, call);
        return json({ ok: true, ...answer });
      },
    ]),
  );
  return simulate(
    {
      ...{ clock, print, official: createJudge() },
      routes: { ...routes, [DOWNLOAD]: atHosts([FILES_HOST], (call) => download(workspace, call)) },
      open: { [AUTHORIZE]: oauth.authorize, [ACCESS]: async (call) => accessOf(await oauth.token(call), call) },
      authenticate: bearer(oauth.accepts),
      commands: { ...oauth.commands, ...events.commands, ...changesOf(workspace) },
    },
    { baseUrl },
  );
}

/** Returns the bytes of a file. */
function download({ files }: Workspace, { params: { file = '' } }: Call): SimulatedResponse {
  const { id, size, mimetype } = files.get(file.slice(file.indexOf('-') + 1));
  return typed(String(mimetype), Buffer.alloc(Number(size), String(id)));
}

/** Returns a token response with Slack's words for an error, and the status 200. */
function accessOf(response: SimulatedResponse, { body }: Call): SimulatedResponse {
  const { error } = JSON.parse(String(response.body));
  if (error === undefined) return response;
  const grant = body.form().get('grant_type') === 'refresh_token' ? 'invalid_refresh_token' : 'invalid_code';
  const words = {
    invalid_grant: grant,
    invalid_client: 'bad_client_secret',
    unsupported_grant_type: 'invalid_grant_type',
  };
  return json({ ok: false, error: Object(words)[String(error)] ?? error });
}
