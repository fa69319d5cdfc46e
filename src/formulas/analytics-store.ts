import type { Knex } from 'knex';

/** The executions that are counted. */
export interface AnalyticsScope {
  readonly accountIds: readonly number[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalMs: number;
}

/** Counts of one interval. */
interface ExecutionTally {
  /** The beginning of the interval. */
  readonly atMs: number;
  readonly count: number;
  readonly success: number;
  readonly failed: number;
}

interface AccountTally extends ExecutionTally {
  readonly accountId: number;
  readonly accountName: string;
}

interface InstanceTally extends ExecutionTally {
  readonly formulaInstanceId: number;
  /** Null: the instance was deleted. */
  readonly formulaInstanceName: string | null;
  readonly formulaId: number;
}

/** Measurements of the steps of the executions that began in one interval. Times are means in milliseconds. */
interface StepTally {
  readonly atMs: number;
  readonly count: number;
  readonly executionTime: number;
  /** From the start of an execution until a process ran it. */
  readonly executionDelay: number;
  /** Mean size of the values of a step as they are stored, in bytes. */
  readonly contextSize: number;
}

/** Executions that have not ended, and planned retries. */
interface OpenExecutions {
  readonly pending: number;
  readonly queued: number;
  readonly retry: number;
}

interface PlannedRetry {
  readonly executionId: number;
  readonly formulaInstanceId: number;
  readonly attempt: number;
  readonly due: Date;
}

/** Rows of one response at most. */
const MOST_ROWS = 50_000;
const MOST_RETRIES = 1_000;

const AT = '(floor(extract(epoch from e.created_at) * 1000 / :intervalMs) * :intervalMs)::bigint as "atMs"';
const COUNTS = `count(*)::bigint as count, count(*) filter (where e.status = 'success')::bigint as success,
  count(*) filter (where e.status = 'failed')::bigint as failed`;
const WITHIN = `e.account_id = any(:accountIds::bigint[]) and e.created_at >= to_timestamp(:fromMs::double precision / 1000)
  and e.created_at < to_timestamp(:toMs::double precision / 1000)`;

/** The statements that count executions. Each reads a period of some accounts by the key of the table. */
export function createAnalyticsStore(via: Knex) {
  const select = async <Row>(sql: string, scope: AnalyticsScope): Promise<readonly Row[]> => {
    const { rows } = await via.raw<{ rows: Row[] }>(sql, { ...scope, accountIds: [...scope.accountIds] });
    return rows;
  };

  return {
    countExecutions: (scope: AnalyticsScope) =>
      select<ExecutionTally>(
        `select ${AT}, ${COUNTS} from formula_execution e where ${WITHIN} group by 1 order by 1`,
        scope,
      ),

    countByAccount: (scope: AnalyticsScope) =>
      select<AccountTally>(
        `select c.*, a.name as "accountName" from (
           select ${AT}, e.account_id as "accountId", ${COUNTS} from formula_execution e where ${WITHIN} group by 1, 2
         ) c join account a on a.id = c."accountId" order by c."atMs", c."accountId" limit ${MOST_ROWS}`,
        scope,
      ),

    countByInstance: (scope: AnalyticsScope) =>
      select<InstanceTally>(
        `select c.*, i.name as "formulaInstanceName" from (
           select ${AT}, e.account_id as "accountId", e.formula_instance_id as "formulaInstanceId",
             max(e.formula_id) as "formulaId", ${COUNTS}
           from formula_execution e where ${WITHIN} group by 1, 2, 3
         ) c left join formula_instance i on i.account_id = c."accountId" and i.id = c."formulaInstanceId"
         order by c."atMs", c."formulaInstanceId" limit ${MOST_ROWS}`,
        scope,
      ),

    measureSteps: (scope: AnalyticsScope) =>
      select<StepTally>(
        `select ${AT.replaceAll('e.created_at', 'e.execution_at')}, count(*)::bigint as count,
           avg(extract(epoch from e.updated_at - e.created_at) * 1000)::double precision as "executionTime",
           coalesce(avg(extract(epoch from e.created_at - e.execution_at) * 1000) filter (where e.ordinal = 0), 0)::double precision
             as "executionDelay",
           coalesce(avg(pg_column_size(e.content)), 0)::double precision as "contextSize"
         from formula_step e where ${WITHIN.replaceAll('e.created_at', 'e.execution_at')} group by 1 order by 1`,
        scope,
      ),

    countOpen: async (accountId: number): Promise<OpenExecutions> => {
      const { rows } = await via.raw<{ rows: OpenExecutions[] }>(
        `select count(*) filter (where not is_retry and not is_queued)::bigint as pending,
           count(*) filter (where not is_retry and is_queued)::bigint as queued, count(*) filter (where is_retry)::bigint as retry
         from (
           select coalesce(position ->> 'isRetry' = 'true', false) as is_retry,
             serial and id > min(id) filter (where serial) over (partition by formula_instance_id) as is_queued
           from formula_run where account_id = ?) r`,
        [accountId],
      );
      return rows[0] ?? { pending: 0, queued: 0, retry: 0 };
    },

    listRetries: async (accountId: number): Promise<readonly PlannedRetry[]> => {
      const { rows } = await via.raw<{ rows: PlannedRetry[] }>(
        `select r.id as "executionId", r.formula_instance_id as "formulaInstanceId", e.attempt + 1 as attempt, r.due
         from formula_run r join formula_execution e on e.account_id = r.account_id and e.created_at = r.execution_at and e.id = r.id
         where r.account_id = ? and r.position ->> 'isRetry' = 'true' order by r.due, r.id limit ?`,
        [accountId, MOST_RETRIES],
      );
      return rows;
    },

    /** Returns the accounts of an organization. */
    listAccountIds: async (organizationId: number): Promise<readonly number[]> =>
      via('account').where({ organization_id: organizationId }).whereNull('deleted_at').pluck('id'),
  };
}
