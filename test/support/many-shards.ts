/** A statement that may touch several shards, with the reason. */
interface ManyShards {
  readonly pattern: RegExp;
  readonly reason: string;
}

const UPKEEP = 'Upkeep looks for work of all accounts.';
const DUE = 'It finds due work of all accounts; the claim that follows names one account.';
const NEXT = 'It reads when the next work of all accounts is due.';
const LEASES = 'It renews or releases leases of one process, many at a time.';
const KEYS = 'A start or a rotation reads which encryption keys are in use.';
const ORGANIZATION = 'It is for a whole organization, and is not on the way of a call or an event.';
const LISTS = 'A page for people; each row is read with its place in the queue.';
const TESTS = 'A test reads or changes rows of all accounts.';

/** The statements that may touch several shards. All others name one account. None here belongs to the path of a call, an event or a step. */
export const MANY_SHARDS: readonly ManyShards[] = [
  { pattern: /^with living as .* select distinct o\.account_id/, reason: UPKEEP },
  { pattern: /^delete from (?:event_key|notification) where created_at < \$$/, reason: UPKEEP },
  { pattern: /^select distinct "owner" from "delivery" where "state" = /, reason: UPKEEP },
  {
    pattern: /^delete from delivery where state = 'queued' and \(account_id, subscription_id\) in /,
    reason: UPKEEP,
  },
  { pattern: /^delete from subscription where is_endpoint and deleted_at < /, reason: UPKEEP },
  { pattern: /^delete from "rate_budget" where "expires_at" < /, reason: UPKEEP },
  {
    pattern: /^delete from (?:bulk_chunk c|bulk_row_error e) where not exists \(select from bulk_job j /,
    reason: UPKEEP,
  },
  {
    pattern: /^select "account_id" as "accountId", "id" as "id" from "formula_instance" where "expires_at" <= /,
    reason: UPKEEP,
  },
  { pattern: /^select "account_id" as "accountId", "id" as "id" from "delivery" where "owner" = /, reason: UPKEEP },
  {
    pattern: /^select "account_id" as "accountId", "id" as "id" from "instance" where (?:watches|polls)_version/,
    reason: UPKEEP,
  },
  {
    pattern: /^select "account_id" as "accountId", "instance_id" as "id" from "schema_check" where "is_outdated"/,
    reason: UPKEEP,
  },
  { pattern: /^update "webhook_registration" set "due" = CURRENT_TIMESTAMP where url is not null/, reason: UPKEEP },
  { pattern: /^update poll p set due = \$ from instance i, account a where p\.due is null/, reason: UPKEEP },
  { pattern: /^update "schema_check" set "is_outdated" = /, reason: UPKEEP },
  {
    pattern:
      /^select "account_id" as "accountId", "instance_id" as "instanceId", "resource" as "resource", coalesce\(mapped/,
    reason: UPKEEP,
  },
  { pattern: /^select head\.\* from subscription s cross join lateral/, reason: DUE },
  { pattern: /^select s\.account_id as "accountId", s\.id as "subscriptionId", s\.url, exists/, reason: DUE },
  {
    pattern: /^select account_id as "accountId", instance_id as id, refresh_at::text as "refreshAt" from oauth_token/,
    reason: DUE,
  },
  { pattern: /^with known as materialized \( select p\.account_id, p\.instance_id/, reason: DUE },
  { pattern: /^with known as materialized \( select s\.account_id, s\.instance_id/, reason: DUE },
  { pattern: /^with ready as materialized \( select account_id, id, due from bulk_job/, reason: DUE },
  { pattern: /^with plain as materialized \( select account_id, id, due from formula_run/, reason: DUE },
  {
    pattern:
      /^select account_id as "accountId", id, formula_instance_id as "formulaInstanceId", kind, data, attempts from formula_notice/,
    reason: DUE,
  },
  { pattern: /^select account_id as "accountId", id, next_due as due from formula_instance/, reason: DUE },
  {
    pattern: /^select account_id as "accountId", instance_id as "instanceId" from webhook_registration where due/,
    reason: DUE,
  },
  { pattern: /^select count\(\*\)::int as count, min\(due\) as due from \( ?select due from/, reason: NEXT },
  { pattern: /^select min\("?(?:due|next_due|greatest)/, reason: NEXT },
  {
    pattern:
      /^update (?:poll p|schema_check s|formula_run r|bulk_job j) set (?:lease_until = (?:\$|u\.lease_until)|lease = null, lease_until = null) from /,
    reason: LEASES,
  },
  { pattern: /^select min\(split_part\(/, reason: KEYS },
  { pattern: /from "audit_log" where "organization_id" = /, reason: ORGANIZATION },
  { pattern: /from formula_instance i join account own .* where i\.element_instance_ids && /, reason: ORGANIZATION },
  {
    pattern: /^select i\.account_id as "accountId", own\.organization_id as "organizationId", unnest/,
    reason: ORGANIZATION,
  },
  { pattern: /^select e\.id, e\.account_id as "accountId".* from instance e join account/, reason: ORGANIZATION },
  {
    pattern: /^select "id" as "id", "account_id" as "accountId" from "instance" where "id" in .* organization_id = /,
    reason: ORGANIZATION,
  },
  { pattern: /^update "formula_instance" set "active" = .* where element_instance_ids @>/, reason: ORGANIZATION },
  {
    pattern:
      /^select e\.account_id as "accountId", e\.id, e\.formula_instance_id .* from formula_execution e where account_id = /,
    reason: LISTS,
  },
  {
    pattern:
      /^delete from "(?:oauth_authorization|oauth_code|idempotency_record|schema_change|formula_answer|bulk_job)" where "created_at" < /,
    reason: UPKEEP,
  },
  {
    pattern: /^select (?:count\(\*\)::integer as count from \( select 1|due) from formula_run where due <= /,
    reason: UPKEEP,
  },
  {
    pattern: /^(?:select|update) .*"?formula_instance"? .*"?formula_account_id"? = .* and "?formula_id"? = /,
    reason: ORGANIZATION,
  },
  { pattern: /^update formula_instance set element_instance_ids = given\./, reason: ORGANIZATION },
  { pattern: /^select "id" from "instance" where "id" in .* element_key ilike/, reason: ORGANIZATION },
  {
    pattern: /^update account_(?:definition|transformation) set object_name = .* where organization_id = /,
    reason: ORGANIZATION,
  },
  {
    pattern: /^select \* from \(select 'organization' as level, .* from organization_transformation/,
    reason: ORGANIZATION,
  },
  { pattern: /^select exists \(select 1 from audit_log where organization_id = /, reason: ORGANIZATION },
  { pattern: /^select c\.\*, a\.name as "accountName" from .* from formula_execution e/, reason: ORGANIZATION },
  {
    pattern: /from usage_(?:minute|hour|day) where account_id in \(select id from account where /,
    reason: ORGANIZATION,
  },
  {
    pattern:
      /^select (?:\*|"type"|"payload"|"byte_count"|"tokens"|count\(\*\)(?: as count)?) from "?[a-z_]+"?(?: (?:where|order by) (?:(?!account_id).)*)?$/,
    reason: TESTS,
  },
  { pattern: /^select \* from "[a-z_]+" where "instance_id" = \$ limit \$$/, reason: TESTS },
  { pattern: /^delete from "[a-z_]+"(?: where "(?:instance_id|id)" = \$)?$/, reason: TESTS },
  { pattern: /^update "[a-z_]+" set .* where "instance_id" = \$$/, reason: TESTS },
  { pattern: /^select account_id, instance_id, \(access_expires_at - /, reason: TESTS },
  { pattern: /^select count\(\*\) as "count" from "[a-z_]+"$/, reason: TESTS },
  { pattern: /^select "request_hash" from "idempotency_record"$/, reason: TESTS },
  { pattern: /^update "idempotency_record" set "(?:created_at|request_hash)" = \$$/, reason: TESTS },
  { pattern: /^update "(?:bulk_job|formula_instance)" set [^.]* where "id" = \$$/, reason: TESTS },
  { pattern: /^select coalesce\(string_agg\(t::text, /, reason: TESTS },
  { pattern: /^select id, tableoid::regclass::text as home from audit_log/, reason: TESTS },
];

/** Returns why a statement may touch several shards. Undefined: it may not. */
export function findReason(sql: string): string | undefined {
  return MANY_SHARDS.find(({ pattern }) => pattern.test(sql))?.reason;
}
