import { FILTERABLE_ACTIVITY, FILTERABLE_USAGE } from '../activity/activity-store.ts';
import type { ActivityPage, ActivityQuery } from '../activity/history.ts';
import { type Period, pointsOf, readEnd, readPeriod, readStart } from '../activity/intervals.ts';
import { type CountedMetric, mergeTallies, type Tally } from '../activity/tallies.ts';
import { AppError } from '../errors.ts';
import { listHeaders } from '../http/response.ts';
import type { Platform } from '../platform.ts';
import {
  countOf,
  type DetailsOf,
  elementsOf,
  isRequest,
  outcomesOf,
  toActivityView,
  toMetricViews,
  toTime,
  toTracedView,
  toUsageTime,
  toUsageView,
} from './activity-view.ts';
import type { ApiServices } from './api-services.ts';
import type { Handlers, OperationPath, OperationQuery } from './operation.ts';
import { createPositionTokens, PAGE_SIZE } from './page-tokens.ts';

interface Listing extends Pick<ActivityQuery, 'kind' | 'fields' | 'instanceId'> {
  readonly name: 'activity' | 'usage';
  readonly query: OperationQuery<'listActivity'> & Pick<OperationQuery<'listUsage'>, 'from' | 'to'>;
  readonly url: string;
}

type MetricName = OperationPath<'getMetric'>['metric'];

interface MetricSpec {
  readonly metric: Exclude<CountedMetric, 'console_read'>;
  readonly isCounted: (tally: Tally) => boolean;
  readonly detailsOf: DetailsOf;
}

const always = () => true;

const METRICS: Readonly<Record<MetricName, MetricSpec>> = {
  api: { metric: 'call', isCounted: always, detailsOf: outcomesOf },
  'hub-api': { metric: 'call', isCounted: ({ elementKey }) => elementKey !== '', detailsOf: elementsOf },
  events: { metric: 'event', isCounted: always, detailsOf: elementsOf },
  'element-instances-created': { metric: 'instance', isCounted: always, detailsOf: elementsOf },
  'bulk-jobs': { metric: 'bulk_job', isCounted: always, detailsOf: elementsOf },
  'formula-executions': { metric: 'formula_execution', isCounted: always, detailsOf: () => ({}) },
  'formulas-created': { metric: 'formula', isCounted: always, detailsOf: () => ({}) },
};

export function createActivityHandlers(
  { activity: { history, usage }, instances, registry }: ApiServices,
  { keys, clock }: Platform,
) {
  const nameOf = (key: string) => registry.findConnector(key)?.name ?? key;

  async function list(accountId: number, listing: Listing): Promise<{ page: ActivityPage; headers: ListHeaders }> {
    const { name, kind, fields, instanceId, query, url } = listing;
    const { where, from, to, consoleReads: hasConsoleReads, pageSize: limit = PAGE_SIZE, nextPage } = query;
    const tokens = createPositionTokens(
      keys,
      JSON.stringify([name, kind, accountId, instanceId, where, from, to, hasConsoleReads]),
    );
    const after = readPosition(tokens.read(nextPage));
    const period = {
      from: from === undefined ? undefined : new Date(readStart(from)),
      to: to === undefined ? undefined : new Date(readEnd(to)),
    };
    const selection = { kind, instanceId, hasConsoleReads, ...period, where, fields, after, limit };
    const page = await history.list(accountId, selection);
    const token = tokens.write(page.next && `${page.next.at.toISOString()} ${page.next.requestId}`);
    return { page, headers: listHeaders(page.rows.length, { url, token }) };
  }

  async function listActivity(accountId: number, listing: Omit<Listing, 'name' | 'kind' | 'fields'>) {
    const { kind = 'request' } = listing.query;
    const { page, headers } = await list(accountId, {
      ...listing,
      name: 'activity',
      kind,
      fields: FILTERABLE_ACTIVITY,
    });
    return { body: page.rows.map(toActivityView), headers };
  }

  /** Counts the calls of an account in a period. */
  async function countCalls(accountId: number, asked: OperationQuery<'countUsage'>) {
    const { consoleReads: hasConsoleReads } = asked;
    const period = readPeriod(asked, clock.now());
    return { period, tallies: await usage.list({ accountId, metric: 'call', period, hasConsoleReads }) };
  }

  async function countMetric(
    owner: { readonly accountId: number; readonly organizationId?: number },
    request: MetricRequest,
  ) {
    const period = readPeriod(request.query, clock.now());
    const { metric, isCounted, detailsOf } = METRICS[request.path.metric];
    const { consoleReads: hasConsoleReads } = request.query;
    const tallies = await usage.list({ ...owner, metric, period, hasConsoleReads });
    return listed(toMetricViews(tallies.filter(isCounted), period.interval, detailsOf));
  }

  return {
    listActivity: ({ principal: { accountId }, query, url }) => listActivity(accountId, { query, url }),

    listInstanceActivity: async ({ principal: { accountId }, path, query, url }) => {
      const { id: instanceId } = await instances.get(accountId, path.id);
      return listActivity(accountId, { instanceId, query, url });
    },

    getActivity: async ({ principal, path }) => ({
      body: toTracedView(await history.get(principal.accountId, path.requestId)),
    }),

    listUsage: async ({ principal: { accountId, organizationId }, query, url }) => {
      const { page, headers } = await list(accountId, {
        name: 'usage',
        kind: 'request',
        fields: FILTERABLE_USAGE,
        query,
        url,
      });
      return { body: page.rows.filter(isRequest).map((row) => toUsageView(row, organizationId, nameOf)), headers };
    },

    getUsage: async ({ principal, path }) => {
      const { row } = await history.get(principal.accountId, path.requestId);
      if (!isRequest(row))
        throw new AppError('NOT_FOUND', `${path.requestId} is a run in the background, not a request.`);
      return { body: toUsageView(row, principal.organizationId, nameOf) };
    },

    countUsage: async ({ principal, query }) => {
      const { period, tallies } = await countCalls(principal.accountId, query);
      return listed(byPoint(period, tallies).map(([atMs, at]) => ({ timestamp: toTime(atMs), count: countOf(at) })));
    },

    countElementUsage: async ({ principal, query }) => {
      const { tallies } = await countCalls(principal.accountId, query);
      const ofElements = tallies.filter(METRICS['hub-api'].isCounted);
      return listed(
        ofElements.map(({ atMs, elementKey, count }) => ({
          timestamp: toTime(atMs),
          elementKey,
          elementName: nameOf(elementKey),
          count,
        })),
      );
    },

    countUsageStatuses: async ({ principal, query }) => {
      const { period, tallies } = await countCalls(principal.accountId, query);
      return listed(
        byPoint(period, tallies).map(([atMs, at]) => {
          const { success, clientErrors, serverErrors } = outcomesOf(at);
          return { timestamp: toTime(atMs), success, failed: clientErrors + serverErrors };
        }),
      );
    },

    measureUsageTimes: async ({ principal, query }) => {
      const { period, tallies } = await countCalls(principal.accountId, query);
      const ofAllElements = tallies.map((tally) => ({ ...tally, elementKey: '' }));
      return listed(mergeTallies(ofAllElements, period.interval).map(toUsageTime));
    },

    getMetric: ({ principal: { accountId }, ...request }) => countMetric({ accountId }, request),

    getOrganizationMetric: ({ principal: { accountId, organizationId }, ...request }) =>
      countMetric({ accountId, organizationId }, request),
  } satisfies Partial<Handlers>;
}

type ListHeaders = ReturnType<typeof listHeaders>;

interface MetricRequest {
  readonly path: OperationPath<'getMetric'>;
  readonly query: OperationQuery<'getMetric'>;
}

function listed<Entry>(body: Entry[]) {
  return { body, headers: { 'Elements-Returned-Count': body.length } };
}

/** The tallies of every interval, also of those without any. */
function byPoint(period: Period, tallies: readonly Tally[]): readonly (readonly [number, readonly Tally[]])[] {
  const found = Map.groupBy(tallies, ({ atMs }) => atMs);
  return pointsOf(period).map((atMs) => [atMs, found.get(atMs) ?? []]);
}

/** Reads the position that a page token contains. */
function readPosition(position: string | undefined) {
  const [at, requestId] = position?.split(' ') ?? [];
  return at === undefined || requestId === undefined ? undefined : { at: new Date(at), requestId };
}
