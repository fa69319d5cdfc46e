import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Causeway, type CausewayEvent, verifyEvent } from '@causeway/client';
import { type AddCommands, wholeNumber } from '../command.js';
import { eventsWithoutPolls } from '../event-sources.js';
import { UsageError } from '../failures.js';
import { first } from '../limit.js';
import { receive } from '../receiver.js';
import type { Session } from '../session.js';
import type { Settings } from '../settings.js';
import { assertReachable, register, TEST_TYPE } from '../subscription.js';
import { printable } from '../texts.js';

interface ListenOptions {
  readonly port?: number;
  readonly host: string;
  readonly publicUrl?: string;
  readonly secret?: string;
  readonly forwardTo?: string;
  readonly objects?: string;
  readonly where?: string;
  readonly every?: number;
  readonly replace?: true;
  readonly count?: number;
}

const EVENTS_PATH = '/events';
const FORWARDED = ['content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
const FORWARD_TIMEOUT_MS = 10_000;

export const addListen: AddCommands = (events, run) => {
  events
    .command('listen')
    .description('receive, verify and print the events of the instance; restores its settings at the end')
    .option('--forward-to <url>', 'forward each event with its signature to this URL, and return its response')
    .option(
      '--where <filter>',
      "only events that the filter accepts, such as: objectName = 'deals' AND object.stage = 'Won'; other receivers keep theirs",
    )
    .option('--objects <names>', 'poll these objects for changes meanwhile, separated by commas')
    .option('--every <minutes>', 'with --objects: minutes between two polls', Number)
    .option('--port <port>', 'port to listen on (default: any free port)', wholeNumber)
    .option('--host <address>', 'listen on it', '127.0.0.1')
    .option('--public-url <url>', 'URL at which the service reaches this machine, such as a tunnel to --port')
    .option(
      '--replace',
      'receive the events even if the instance sends them to another URL, which gets none until the command ends',
    )
    .option(
      '--secret <secret>',
      'change nothing at the service; only verify requests with this secret (or CAUSEWAY_EVENT_SECRET)',
    )
    .option('-n, --count <events>', 'end after this number of events', wholeNumber)
    .action(run(listen));
};

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const secret = options.secret ?? (session.environment.CAUSEWAY_EVENT_SECRET || undefined);
  const forwardTo = options.forwardTo === undefined ? undefined : urlOf(options.forwardTo, '--forward-to');
  const inbox = new Inbox(session, forwardTo);
  await using receiver = await receive(
    options.port ?? 0,
    (request, response) => inbox.take(request, response),
    options.host,
  );
  const { port } = receiver;
  const url = urlOf(options.publicUrl ?? `http://${options.host}:${port}${EVENTS_PATH}`, '--public-url');
  // The end of the command ends the events. It is no failure.
  session.signal.addEventListener('abort', () => inbox.end());
  if (secret !== undefined) {
    inbox.trust(session.keep(secret));
    session.output.note(
      `Listening on ${options.host}:${port}, for events signed with the given secret. Press Ctrl-C to end.`,
    );
    await show(session, inbox, options.count);
    return;
  }
  await listenRegistered(session, inbox, url, options);
}

async function listenRegistered(session: Session, inbox: Inbox, url: string, options: ListenOptions): Promise<void> {
  const { output, signal } = session;
  const platform = await session.platform();
  const instanceId = await session.instanceId();
  const { where } = options;
  const registration = { instanceId, url, settings: pollingOf(options), mayReplace: options.replace === true, where };
  const { secret, undo, endpointId } = await register(platform, registration, signal);
  inbox.trust(session.keep(secret));
  try {
    await assertReachable(
      platform,
      { ...registration, ...(endpointId !== undefined && { endpointId }) },
      (id) => inbox.hasSeen(id),
      signal,
    );
    output.note(`The events of the instance ${instanceId} come to ${url}. Press Ctrl-C to end.`);
    const note = await noteOnSources(platform, instanceId, signal);
    if (note !== undefined) output.note(note);
    await show(session, inbox, options.count);
  } finally {
    await undo().catch((error: Error) => {
      output.note(
        `The instance ${instanceId} still sends its events to ${url}, because the service did not restore its settings: ${error.message}`,
      );
    });
  }
}

/** Returns a sentence on the events of an instance that has no polls. */
async function noteOnSources(platform: Causeway, id: number, signal: AbortSignal): Promise<string | undefined> {
  const polls = await platform.instances.listInstancePolls({ id }, { signal });
  if (polls.length > 0) return undefined;
  const { element, configuration } = await platform.instances.getInstance({ id }, { signal });
  const source = await platform.elements.getElement({ keyOrId: element.key }, { signal });
  return printable(eventsWithoutPolls(source, configuration));
}

/** Verifies the events that arrive. The test event is only noted and not passed on. */
class Inbox {
  readonly events = new PassThrough({ objectMode: true });
  readonly #session: Session;
  readonly #forwardTo: string | undefined;
  readonly #seen = new Set<string>();
  #secret: string | undefined;

  constructor(session: Session, forwardTo: string | undefined) {
    this.#session = session;
    this.#forwardTo = forwardTo;
  }

  trust(secret: string): void {
    this.#secret = secret;
  }

  hasSeen(eventId: string): boolean {
    return this.#seen.has(eventId);
  }

  end(): void {
    this.events.end();
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const event = this.#verified(body, request);
    if (event === undefined) {
      response.writeHead(401).end();
      return;
    }
    this.#seen.add(event.id);
    const isTest = event.type === TEST_TYPE;
    const status = isTest || this.#forwardTo === undefined ? 204 : await this.#forward(this.#forwardTo, body, request);
    if (!isTest && this.events.writable) this.events.write(event);
    response.writeHead(status).end();
  }

  #verified(body: string, { headers, socket }: IncomingMessage): CausewayEvent | undefined {
    if (this.#secret === undefined) return undefined;
    try {
      return verifyEvent(body, headers, this.#secret);
    } catch {
      this.#session.output.note(`Rejected a request from ${socket.remoteAddress}: it is not signed with the secret.`);
      return undefined;
    }
  }

  async #forward(url: string, body: string, { headers }: IncomingMessage): Promise<number> {
    const forwarded = FORWARDED.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    try {
      const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: Object.fromEntries(forwarded),
        redirect: 'manual',
        signal,
      });
      await response.body?.cancel();
      this.#session.output.note(`  ${url} returned ${response.status}`);
      return response.status >= 300 && response.status < 400 ? 502 : response.status;
    } catch (error) {
      const reason = error instanceof Error ? String(Object(error.cause).code ?? error.message) : String(error);
      this.#session.output.note(`  ${url} did not respond: ${reason}. The service will send the event again.`);
      return 502;
    }
  }
}

async function show({ output }: Session, { events }: Inbox, count = Number.POSITIVE_INFINITY): Promise<void> {
  const arriving: AsyncIterable<CausewayEvent> = first(count, events);
  if (output.format !== 'table') {
    await output.list(arriving, {
      id: ({ id }) => id,
      type: ({ type }) => type,
      timestamp: ({ timestamp }) => timestamp,
      objectId: ({ data }) => data.objectId,
    });
    return;
  }
  const { colors } = output;
  for await (const { id, type, timestamp, data } of arriving) {
    await output.print(
      `${colors.dim(printable(timestamp))}  ${colors.bold(printable(type))}  ${printable(data.objectId ?? '')}  ${colors.dim(printable(id))}`,
    );
  }
}

function pollingOf({ objects, every }: ListenOptions): Settings {
  if (every !== undefined && !(every > 0)) throw new UsageError('--every must be a number of minutes, such as 1.');
  if (objects === undefined && every !== undefined) throw new UsageError('--every requires --objects.');
  if (objects === undefined) return {};
  return {
    'event.vendor.type': 'polling',
    'event.objects': objects,
    ...(every !== undefined && { 'event.poller.refresh_interval': every }),
  };
}

function urlOf(text: string, option: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`${option} must be a URL, not '${text}'.`);
}
