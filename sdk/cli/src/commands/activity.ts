import type { Activity, Causeway } from '@causeway/client';
import { type AddCommands, wholeNumber } from '../command.js';
import { first } from '../limit.js';
import type { Session } from '../session.js';
import type { Columns } from '../table.js';
import { counted, printable } from '../texts.js';

interface ActivityOptions {
  readonly where?: string;
  readonly limit: number;
  readonly follow?: true;
}

const FOLLOW_MS = 1000;
/** A request is listed when it has ended, under the time at which it began. A long one therefore appears among older ones. */
const OVERLAP_MS = 60_000;
const PAGE_SIZE = 200;

export const addActivity: AddCommands = (program, run) => {
  program
    .command('activity')
    .description('list the requests of the account, the newest first')
    .option('-w, --where <filter>', "such as: status >= 400 AND operation = 'listRecords'")
    .option('-n, --limit <count>', 'maximum number of entries', wholeNumber, 20)
    .option('--follow', 'keep printing new requests, the newest last, without those of this command')
    .action(run(activity));
};

async function activity(session: Session, { where, limit, follow }: ActivityOptions): Promise<void> {
  const platform = await session.platform();
  const entries = allActivity(platform, where, session.signal);
  if (!follow) {
    await session.output.list(first(limit, entries), COLUMNS);
    return;
  }
  const last = (await listOf(first(limit, entries))).reverse();
  const following = followed(platform, where, last, session.signal);
  if (session.output.format !== 'table') await session.output.list(following, COLUMNS);
  else for await (const entry of following) await session.output.print(lineOf(entry, session));
}

function allActivity(
  platform: Causeway,
  where: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<Activity, void> {
  const query = { pageSize: PAGE_SIZE, ...(where !== undefined && { where }) };
  return platform.all((page) => platform.activity.listActivityRaw({ ...query, ...page }, { signal }));
}

/** Returns new requests until the user stops the command. */
async function* followed(
  platform: Causeway,
  where: string | undefined,
  before: readonly Activity[],
  signal: AbortSignal,
): AsyncGenerator<Activity, void> {
  yield* before.filter(isOfOthers);
  const start = before.at(-1)?.timestamp;
  let seen = new Map(before.map((entry) => [entry.requestId, Date.parse(entry.timestamp)]));
  let newest = start === undefined ? Number.NEGATIVE_INFINITY : Date.parse(start);
  try {
    for (;;) {
      await pause(signal);
      const fresh: Activity[] = [];
      for await (const entry of allActivity(platform, where, signal)) {
        if (Date.parse(entry.timestamp) < newest - OVERLAP_MS) break;
        if (!seen.has(entry.requestId) && isAfter(entry, before[0])) fresh.unshift(entry);
      }
      for (const { requestId, timestamp } of fresh) {
        seen.set(requestId, Date.parse(timestamp));
        newest = Math.max(newest, Date.parse(timestamp));
      }
      seen = new Map([...seen].filter(([, time]) => time >= newest - OVERLAP_MS));
      yield* fresh.filter(isOfOthers);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns whether a request is newer than the oldest printed one. Older ones that the limit left out are not printed later. */
function isAfter({ timestamp }: Activity, oldest: Activity | undefined): boolean {
  return oldest === undefined || Date.parse(timestamp) >= Date.parse(oldest.timestamp);
}

/** Returns whether a request is not one of the list itself, because following the activity sends requests too. */
function isOfOthers({ operation }: Activity): boolean {
  return operation !== 'listActivity';
}

const COLUMNS: Columns<Activity> = {
  time: ({ timestamp }) => timestamp,
  status: ({ status }) => status,
  method: ({ method }) => method,
  path: ({ path }) => path.replace(/^\/elements\/api-v2/, ''),
  instance: ({ instanceId }) => instanceId,
  ms: ({ durationMs }) => Math.round(durationMs),
  rows: ({ rows }) => rows,
  calls: ({ providerCalls, moreProviderCalls = 0 }) => providerCalls.length + moreProviderCalls,
  code: ({ code }) => code,
  request: ({ requestId }) => requestId,
};

function lineOf(
  { timestamp, status, method, path, durationMs, code, providerCalls, moreProviderCalls = 0, requestId }: Activity,
  { output }: Session,
): string {
  const { colors } = output;
  const colored = status >= 500 ? colors.red : status >= 400 ? colors.yellow : colors.green;
  const calls = providerCalls.length + moreProviderCalls;
  return [
    colors.dim(timestamp),
    colored(String(status)),
    method.padEnd(6),
    printable(path.replace(/^\/elements\/api-v2/, '')),
    colors.dim(`${Math.round(durationMs)} ms${calls > 0 ? `, ${counted(calls, 'call')}` : ''}`),
    ...(code === undefined ? [] : [colored(code)]),
    colors.dim(requestId),
  ].join('  ');
}

async function listOf<Entry>(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const list: Entry[] = [];
  for await (const entry of entries) list.push(entry);
  return list;
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, FOLLOW_MS);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
