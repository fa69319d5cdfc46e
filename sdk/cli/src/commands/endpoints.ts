import type { NewEndpoint, Subscription, TestedSubscription } from '@causeway/client';
import { Option } from 'commander';
import { type AddCommands, names, wholeNumber } from '../command.js';
import { CAUSEWAY } from '../command-name.js';
import { UsageError } from '../failures.js';
import { readJsonFile } from '../formula-files.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';

interface CreateOptions {
  readonly name?: string;
  readonly types?: string;
  readonly where?: string;
  readonly elements?: string;
  readonly hubs?: string;
  readonly tags?: string;
  readonly bodyFormat?: NewEndpoint['format'];
  readonly header?: readonly string[];
  readonly bearerEnv?: string;
  readonly authFile?: string;
  readonly rate?: number;
  readonly ordered?: true;
}

interface TestOptions {
  readonly type?: string;
  readonly object?: string;
}

const FORMATS = ['standard', 'elements', 'cloudevents'] as const;

export const addEndpoints: AddCommands = (program, run) => {
  const endpoints = program.command('endpoints').description('receivers of events, each with a filter of its own');
  endpoints.command('list').description('list the endpoints of the account').action(run(list));
  endpoints
    .command('create <url>')
    .description('create an endpoint; with --instance it receives only events of that instance')
    .option('--name <name>', 'a name for people')
    .option(
      '--types <types>',
      "types of events, separated by commas, such as 'contacts.*,deals.updated' (default: all)",
    )
    .option('--where <filter>', "such as: objectName = 'deals' AND object.stage = 'Won'")
    .option('--elements <keys>', 'only events of these elements, separated by commas')
    .option('--hubs <hubs>', 'only events of elements of these hubs, separated by commas')
    .option('--tags <tags>', 'only events of instances with one of these tags, separated by commas')
    .addOption(new Option('--body-format <format>', 'the form of the bodies (default: standard)').choices(FORMATS))
    .option('--header <header...>', "additional headers, such as 'X-Team: sales'")
    .option('--bearer-env <variable>', 'the environment variable with a bearer token to send')
    .option('--auth-file <file>', 'a file with the member `authentication` as JSON, or - for the standard input')
    .option('--rate <number>', 'maximum number of deliveries per second', Number)
    .option('--ordered', 'send one delivery at a time, in the order of the events')
    .action(run(create));
  endpoints
    .command('test')
    .argument('<endpoint>', `the id of an endpoint, see ${CAUSEWAY} endpoints list`, wholeNumber)
    .description('send a test event to an endpoint, and say whether its filter accepts the event')
    .option('--type <type>', 'the type of the event (default: test.created)')
    .option('--object <json>', 'the record: a file with JSON, or - for the standard input')
    .action(run(test));
  endpoints
    .command('delete')
    .argument('<endpoint>', `the id of an endpoint, see ${CAUSEWAY} endpoints list`, wholeNumber)
    .description('delete an endpoint with its waiting deliveries')
    .action(run(remove));
};

const COLUMNS: Columns<Subscription> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  url: ({ config }) => config.url,
  types: ({ eventTypes }) => eventTypes.join(', '),
  where: ({ where }) => where,
  state: ({ state, active }) => (active === false ? 'not active' : state),
  queued: ({ queued }) => queued,
};

async function list(session: Session): Promise<void> {
  const platform = await session.platform();
  const endpoints = platform.all((page) =>
    platform.notifications.listSubscriptionsRaw({ where: 'endpoint = TRUE', ...page }, { signal: session.signal }),
  );
  await session.output.list(
    endpoints,
    COLUMNS,
    `There are no endpoints. Create one: ${CAUSEWAY} endpoints create <url>`,
  );
}

async function create(session: Session, url: string, options: CreateOptions): Promise<void> {
  const newEndpoint = await bodyOf(session, url, options);
  const platform = await session.platform();
  const made = await platform.notifications.createSubscription({ newEndpoint }, { signal: session.signal });
  await session.output.one(
    made,
    () => `Endpoint ${made.id} receives events at ${made.config.url}. Its signing secret: ${made.secret}`,
  );
  for (const { message } of made.warnings ?? []) session.output.note(`Warning: ${message}`);
}

async function bodyOf(session: Session, url: string, options: CreateOptions): Promise<NewEndpoint> {
  const { name, types, where, elements, hubs, tags, bodyFormat, header, rate, ordered } = options;
  if (rate !== undefined && !(rate > 0)) throw new UsageError('--rate must be a number, such as 10 or 0.5.');
  const instance = session.namesInstance ? await session.instanceId() : undefined;
  const authentication = await authenticationOf(session, options);
  return {
    url,
    ...(name !== undefined && { name }),
    ...(types !== undefined && { eventTypes: [...names(types)] }),
    ...(where !== undefined && { where }),
    ...(instance !== undefined && { instances: [instance] }),
    ...(elements !== undefined && { elementKeys: [...names(elements)] }),
    ...(hubs !== undefined && { hubs: [...names(hubs)] }),
    ...(tags !== undefined && { tags: [...names(tags)] }),
    ...(bodyFormat !== undefined && { format: bodyFormat }),
    ...(header !== undefined && { headers: Object.fromEntries(header.map(readHeader)) }),
    ...(authentication !== undefined && { authentication }),
    ...(rate !== undefined && { maxPerSecond: rate }),
    ...(ordered === true && { ordered }),
  };
}

/** Secrets come from a variable or a file, because other users of the machine can read arguments. */
async function authenticationOf(
  session: Session,
  { bearerEnv, authFile }: CreateOptions,
): Promise<NewEndpoint['authentication']> {
  if (bearerEnv !== undefined && authFile !== undefined)
    throw new UsageError('Add --bearer-env or --auth-file, not both.');
  if (authFile !== undefined) return (await readObject(authFile, 'authentication')) as NewEndpoint['authentication'];
  if (bearerEnv === undefined) return undefined;
  const token = session.environment[bearerEnv];
  if (token === undefined || token === '') throw new UsageError(`The environment variable ${bearerEnv} is not set.`);
  return { type: 'bearer', token: session.keep(token) };
}

async function readObject(file: string, what: string): Promise<object> {
  const value = await readJsonFile(file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new UsageError(`${file} must contain a JSON object: the ${what}.`);
}

function readHeader(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new UsageError(`'${text}' is not a header, such as 'X-Team: sales'.`);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

async function test(session: Session, id: number, { type, object }: TestOptions): Promise<void> {
  const instance = session.namesInstance ? await session.instanceId() : undefined;
  const subscriptionTest = {
    ...(instance !== undefined && { instanceId: instance }),
    ...(type !== undefined && { type }),
    ...(object !== undefined && { object: { ...(await readObject(object, 'record')) } }),
  };
  const platform = await session.platform();
  const sent = await platform.notifications.testSubscription({ id, subscriptionTest }, { signal: session.signal });
  await session.output.one(sent, () => `${sent.eventId} is being sent to ${sent.config.url}. ${verdictOf(sent)}`);
}

function verdictOf({ matches, unfiltered }: TestedSubscription): string {
  if (unfiltered) return 'The filter needs a record, and the test event has none. Add --object.';
  return matches
    ? 'The filter accepts the event.'
    : 'The filter does not accept the event; it is sent as a test all the same.';
}

async function remove(session: Session, id: number): Promise<void> {
  const platform = await session.platform();
  const deleted = await platform.notifications.deleteSubscription({ id }, { signal: session.signal });
  await session.output.one(deleted, () => `Endpoint ${id} is deleted.`);
}
