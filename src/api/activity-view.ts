import type { ActivityRow } from '../activity/activity-store.ts';
import { percentile } from '../activity/durations.ts';
import type { ActivityCall, ActivityScripts } from '../activity/entry.ts';
import type { TracedActivity } from '../activity/history.ts';
import type { Interval } from '../activity/intervals.ts';
import type { Tally } from '../activity/tallies.ts';
import type { OperationResult } from './operation.ts';

type ActivityRecordView = OperationResult<'listActivity'>[number];
type TracedView = OperationResult<'getActivity'>;
type UsageView = OperationResult<'getUsage'>;
type UsageTime = OperationResult<'measureUsageTimes'>[number];
type MetricView = OperationResult<'getMetric'>[number];

/** Returns the display name of an element. */
type ElementNameOf = (key: string) => string;

export function toActivityView(row: ActivityRow): ActivityRecordView {
  const { requestId, kind, at, accountId, userId, method, path, status, durationUs, calls, callCount, cut } = row;
  return {
    requestId,
    ...(kind !== null && { kind }),
    timestamp: at.toISOString(),
    accountId,
    ...(userId !== null && { userId }),
    ...(row.keyId !== null && { keyId: row.keyId }),
    ...(row.keyName !== null && { keyName: row.keyName }),
    ...(row.instanceId !== null && { instanceId: row.instanceId }),
    ...(row.elementKey !== null && { elementKey: row.elementKey }),
    method,
    path,
    ...(row.operation !== null && { operation: row.operation }),
    status,
    ...(row.code !== null && { code: row.code }),
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.isConsoleRead && { consoleRead: true as const }),
    durationMs: toMs(durationUs),
    ...(cut && { cut }),
    providerCalls: calls.map(toCallView),
    ...(callCount > calls.length && { moreProviderCalls: callCount - calls.length }),
    ...(row.rows !== null && { rows: row.rows }),
    ...(row.events !== null && { events: row.events }),
    ...(isPushdown(row.pushdown) && { pushdown: row.pushdown }),
    ...(row.scripts !== null && { scripts: toScriptsView(row.scripts) }),
  };
}

function toScriptsView({ console, lineCount, failures, reasons }: ActivityScripts) {
  return {
    console: [...console],
    ...(lineCount > console.length && { moreConsoleLines: lineCount - console.length }),
    failures,
    reasons: reasons.map(({ reason, count, recordIds }) => ({ reason, count, recordIds: [...recordIds] })),
  };
}

/** Returns a request with the headers and bodies that trace logging stored. */
export function toTracedView({ row, messages }: TracedActivity): TracedView {
  const { providerCalls, ...record } = toActivityView(row);
  return { ...record, providerCalls: providerCalls.map((call, index) => ({ ...call, ...messages[index] })) };
}

function toCallView({ method, host, path, outcome, durationUs, retries }: ActivityCall) {
  const came = typeof outcome === 'number' ? { status: outcome } : { failure: outcome };
  return { method, host, path, ...came, durationMs: toMs(durationUs), retries };
}

const PUSHDOWNS = ['full', 'partial', 'none'] as const;

function isPushdown(text: string | null): text is (typeof PUSHDOWNS)[number] {
  return PUSHDOWNS.some((known) => known === text);
}

/** A request of a caller always has a user. */
type RequestRow = ActivityRow & { readonly userId: number };

export function isRequest(row: ActivityRow): row is RequestRow {
  return row.kind === null && row.userId !== null;
}

export function toUsageView(row: RequestRow, organizationId: number, nameOf: ElementNameOf): UsageView {
  const { requestId, at, accountId, userId, path, status, durationUs, elementKey, address } = row;
  return {
    user_id: userId,
    account_id: accountId,
    company_id: organizationId,
    process_time: toMs(durationUs),
    traffic_id: requestId,
    traffic_date: at.toISOString(),
    request_id: requestId,
    request_status: status,
    ...(address !== null && { request_ip: address }),
    request_uri: path,
    ...(elementKey !== null && {
      element_key: elementKey,
      element_name: nameOf(elementKey),
      element_api: elementApiOf(path),
    }),
  };
}

/** The hub with the object, or the object alone: what stands behind the base path, without ids. */
function elementApiOf(path: string): string {
  const [first = '', ...rest] = path.split('/').slice(3);
  return `/${[first, ...rest.slice(0, first === 'hubs' ? 2 : 0)].join('/')}`;
}

export function toUsageTime({ atMs, count, totalUs, minUs, maxUs, durations }: Tally): UsageTime {
  // Nothing took less than the shortest, or more than the longest.
  const share = (part: number) => toMs(Math.min(maxUs, Math.max(minUs, percentile(durations, part))));
  return {
    timestamp: toTime(atMs),
    avg: toMs(totalUs / count),
    min: toMs(minUs),
    max: toMs(maxUs),
    p50: share(0.5),
    p95: share(0.95),
    p99: share(0.99),
  };
}

/** Returns the parts that the count of an interval consists of. */
export type DetailsOf = (tallies: readonly Tally[]) => Readonly<Record<string, number>>;

export function outcomesOf(tallies: readonly Tally[]): { success: number; clientErrors: number; serverErrors: number } {
  const sum = (name: 'count' | 'clientErrors' | 'serverErrors') =>
    tallies.reduce((total, tally) => total + tally[name], 0);
  const [clientErrors, serverErrors] = [sum('clientErrors'), sum('serverErrors')];
  return { success: sum('count') - clientErrors - serverErrors, clientErrors, serverErrors };
}

/** Returns counts by the key of the element. */
export function elementsOf(tallies: readonly Tally[]): Readonly<Record<string, number>> {
  const keys = [...new Set(tallies.map(({ elementKey }) => elementKey))];
  return Object.fromEntries(keys.map((key) => [key, countOf(tallies.filter(({ elementKey }) => elementKey === key))]));
}

/** Returns an entry for each account, in the order of their ids. */
export function toMetricViews(tallies: readonly Tally[], interval: Interval, detailsOf: DetailsOf): MetricView[] {
  const byAccount = Map.groupBy(tallies, ({ accountId }) => accountId);
  return [...byAccount]
    .sort(([one], [other]) => one - other)
    .map(([id, own]) => ({
      id,
      interval,
      count: countOf(own),
      metrics: [...Map.groupBy(own, ({ atMs }) => atMs)].map(([atMs, at]) => ({
        timestamp: toTime(atMs),
        count: countOf(at),
        details: detailsOf(at),
      })),
    }));
}

export function countOf(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, { count }) => sum + count, 0);
}

export function toTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

function toMs(us: number): number {
  return Math.round(us) / 1000;
}
