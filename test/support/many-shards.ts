/** The statements that may touch several shards, by reason. All others name one account. None here belongs to the path of a call, an event or a step. */
const MANY_SHARDS: Readonly<Record<string, readonly RegExp[]>> = {
  'Upkeep looks for work of all accounts.': [
    /^with living as .* select distinct o\.account_id/,
    /^delete from (?:event_key|notification) where created_at < \$$/,
    /^select distinct "owner" from "delivery" where "state" = /,
    /^delete from delivery where state = 'queued' and \(account_id, subscription_id\) in /,
    /^delete from subscription where is_endpoint and deleted_at < /,
    /^delete from "rate_budget" where "expires_at" < /,
    /^delete from (?:bulk_chunk c|bulk_row_error e) where not exists \(select from bulk_job j /,
    /^select "account_id" as "accountId", "id" as "id" from "formula_instance" where "expires_at" <= /,
    /^select "account_id" as "accountId", "id" as "id" from "delivery" where "owner" = /,
    /^select "account_id" as "accountId", "id" as "id" from "instance" where (?:watches|polls)_version/,
    /^select "account_id" as "accountId", "instance_id" as "id" from "schema_check" where "is_outdated"/,
    /^update "webhook_registration" set "due" = CURRENT_TIMESTAMP where url is not null/,
    /^update poll p set due = \$ from instance i, account a where p\.due is null/,
    /^update "schema_check" set "is_outdated" = /,
    /^select "account_id" as "accountId", "instance_id" as "instanceId", "resource" as "resource", coalesce\(mapped/,
    /^delete from "(?:oauth_authorization|oauth_code|idempotency_record|schema_change|formula_answer|bulk_job)" where "created_at" < /,
    /^select (?:count\(\*\)::integer as count from \( select 1|due) from formula_run where due <= /,
  ],
  'It finds due work of all accounts; the claim that follows names one account.': [
    /^select head\.\* from subscription s cross join lateral/,
    /^select s\.account_id as "accountId", s\.id as "subscriptionId", s\.url, exists/,
    /^select account_id as "accountId", instance_id as id, refresh_at::text as "refreshAt" from oauth_token/,
    /^with known as materialized \( select p\.account_id, p\.instance_id/,
    /^with known as materialized \( select s\.account_id, s\.instance_id/,
    /^with ready as materialized \( select account_id, id, due from bulk_job/,
    /^with plain as materialized \( select account_id, id, due from formula_run/,
    /^select account_id as "accountId", id, formula_instance_id as "formulaInstanceId", kind, data, attempts from formula_notice/,
    /^select account_id as "accountId", id, next_due as due from formula_instance/,
    /^select account_id as "accountId", instance_id as "instanceId" from webhook_registration where due/,
  ],
  'It reads when the next work of all accounts is due.': [
    /^select count\(\*\)::int as count, min\(due\) as due from \( ?select due from/,
    /^select min\("?(?:due|next_due|greatest)/,
  ],
  'It renews or releases leases of one process, many at a time.': [
    /^update (?:poll p|schema_check s|formula_run r|bulk_job j) set (?:lease_until = (?:\$|u\.lease_until)|lease = null, lease_until = null) from /,
  ],
  'A start or a rotation reads which encryption keys are in use.': [/^select min\(split_part\(/],
  'It is for a whole organization, and is not on the way of a call or an event.': [
    /from "audit_log" where "organization_id" = /,
    /from formula_instance i join account own .* where i\.element_instance_ids && /,
    /^select i\.account_id as "accountId", own\.organization_id as "organizationId", unnest/,
    /^select e\.id, e\.account_id as "accountId".* from instance e join account/,
    /^select "id" as "id", "account_id" as "accountId" from "instance" where "id" in .* organization_id = /,
    /^update "formula_instance" set "active" = .* where element_instance_ids @>/,
    /^(?:select|update) .*"?formula_instance"? .*"?formula_account_id"? = .* and "?formula_id"? = /,
    /^update formula_instance set element_instance_ids = given\./,
    /^select "id" from "instance" where "id" in .* element_key ilike/,
    /^update account_(?:definition|transformation) set object_name = .* where organization_id = /,
    /^select \* from \(select 'organization' as level, .* from organization_transformation/,
    /^select exists \(select 1 from audit_log where organization_id = /,
    /^select c\.\*, a\.name as "accountName" from .* from formula_execution e/,
    /from usage_(?:minute|hour|day) where account_id in \(select id from account where /,
  ],
  'A page for people; each row is read with its place in the queue.': [
    /^select e\.account_id as "accountId", e\.id, e\.formula_instance_id .* from formula_execution e where account_id = /,
  ],
  'A test reads or changes rows of all accounts.': [
    /^select (?:\*|"type"|"payload"|"byte_count"|"tokens"|count\(\*\)(?: as count)?) from "?[a-z_]+"?(?: (?:where|order by) (?:(?!account_id).)*)?$/,
    /^select \* from "[a-z_]+" where "instance_id" = \$ limit \$$/,
    /^delete from "[a-z_]+"(?: where "(?:instance_id|id)" = \$)?$/,
    /^update "[a-z_]+" set .* where "instance_id" = \$$/,
    /^select account_id, instance_id, \(access_expires_at - /,
    /^select count\(\*\) as "count" from "[a-z_]+"$/,
    /^select "request_hash" from "idempotency_record"$/,
    /^update "idempotency_record" set "(?:created_at|request_hash)" = \$$/,
    /^update "(?:bulk_job|formula_instance)" set [^.]* where "id" = \$$/,
    /^select coalesce\(string_agg\(t::text, /,
    /^select id, tableoid::regclass::text as home from audit_log/,
  ],
};

/** Returns why a statement may touch several shards. Undefined: it may not. */
export function findReason(sql: string): string | undefined {
  const found = Object.entries(MANY_SHARDS).find(([, patterns]) => patterns.some((pattern) => pattern.test(sql)));
  return found?.[0];
}
