import {
  changesOf,
  createMovableClock,
  createOfficialJudges,
  type Deviation,
  type Fault,
  json,
  type Routes,
  type SimulatedResponse,
  type Simulator,
  type SimulatorOptions,
  shareMemory,
  simulate,
  undescribed,
} from '#connector/simulator';
import official from './official.json' with { type: 'json' };
import { createLists } from './simulator/lists.ts';
import { createLogin } from './simulator/login.ts';
import { createRecords, OWNER } from './simulator/records.ts';
import { createWebhooks } from './simulator/webhooks.ts';
import { createWrites } from './simulator/writes.ts';

export { CLIENTS, DEMO_ACCESS_TOKEN } from './simulator/login.ts';

/** The configuration of an instance on this simulator, and one of its repositories. */
export const DEMO_CONFIGURATION = { 'github.owner': OWNER };
export const DEMO_REPOSITORY = 'hello-world';

interface GitHubSimulatorOptions extends SimulatorOptions {
  /** The number of results that pages of a search can reach. Default 1,000. */
  readonly searchWindow?: number;
}

/** The reasons why GitHub's description is not the whole truth. */
const DEVIATIONS: readonly Deviation[] = [
  ...undescribed(
    'The log-in is at another host, and in no description.',
    ...['GET /login/oauth/authorize', 'POST /login/oauth/access_token'],
  ),
  {
    schema: 'issue-search-result-item',
    reason: 'An issue may have no text: the schema of issues has null, and so do recorded lists.',
    change: ({ properties, ...rest }) => ({
      ...rest,
      properties: { ...Object(properties), body: { type: ['string', 'null'] } },
    }),
  },
];

const createJudge = createOfficialJudges(official, DEVIATIONS);

/** Returns an error as GitHub writes it. Source: "Troubleshooting the REST API", validation failed. */
function print({ status, code, message, headers, fields: [resource, field] }: Fault): SimulatedResponse {
  const documentation_url = 'https://docs.github.com/rest';
  if (status === 429) {
    const text = 'API rate limit exceeded for user ID 1.';
    return json({ message: text, documentation_url, status: '429' }, 429, headers);
  }
  const errors =
    status === 422 && resource !== undefined
      ? [{ resource, code, ...(field !== undefined && { field }), ...(message !== 'Validation Failed' && { message }) }]
      : undefined;
  return json(
    {
      message: errors === undefined ? message : 'Validation Failed',
      ...(errors && { errors }),
      documentation_url,
      status: String(status),
    },
    status,
    headers,
  );
}

/** Creates a simulator of one organization on GitHub. README.md lists the sources. */
export function createSimulator(options: GitHubSimulatorOptions): Simulator {
  const { memory } = options;
  const clock = createMovableClock();
  const login = createLogin((name) => shareMemory(memory, name), clock);
  const webhooks = createWebhooks({ clock, send: options.send, memory: shareMemory(memory, 'hooks') });
  const records = createRecords(clock, webhooks.report);
  const lists = createLists(records, options);
  return simulate(
    {
      clock,
      print,
      authenticate: login.authenticate,
      open: login.routes,
      official: createJudge(lists.named),
      headers: { 'x-github-media-type': 'github.v3; format=json' },
      routes: { ...lists.routes, ...createWrites(records, clock), ...webhooks.routes } satisfies Routes,
      commands: { ...login.commands, ...changesOf(records.changeable) },
    },
    options,
  );
}
