import type { Knex } from 'knex';
import { StartError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { createKnex } from './database.ts';
import { runOnDistributedSchema } from './distribute.ts';
import { isDistributedSchema } from './distributed.ts';
import { withMigrationLock } from './migration-lock.ts';
import * as foundation from './migrations/0001-foundation.ts';
import * as oauth from './migrations/0002-oauth.ts';
import * as events from './migrations/0003-events.ts';
import * as deliveryEvents from './migrations/0004-delivery-events.ts';
import * as authorizations from './migrations/0005-authorizations.ts';
import * as subscriptionFilters from './migrations/0006-subscription-filters.ts';
import * as polls from './migrations/0007-polls.ts';
import * as webhooks from './migrations/0008-webhooks.ts';
import * as pollPatience from './migrations/0009-poll-patience.ts';
import * as administration from './migrations/0010-administration.ts';
import * as activity from './migrations/0011-activity.ts';
import * as traceContext from './migrations/0012-trace-context.ts';
import * as accounts from './migrations/0013-accounts.ts';
import * as console from './migrations/0015-console.ts';
import * as audit from './migrations/0016-audit.ts';
import * as accountElements from './migrations/0017-account-elements.ts';
import * as bulk from './migrations/0020-bulk.ts';
import * as bulkUsage from './migrations/0022-bulk-usage.ts';
import * as connect from './migrations/0023-connect.ts';
import * as accountRoles from './migrations/0024-account-roles.ts';
import * as oauthCodes from './migrations/0028-oauth-codes.ts';
import * as jobUsers from './migrations/0044-job-users.ts';
import * as sharedProxies from './migrations/0045-shared-proxies.ts';
import * as brandingInvitations from './migrations/0046-branding-invitations.ts';
import * as backgroundRuns from './migrations/0047-background-runs.ts';
import * as lastCalls from './migrations/0048-last-calls.ts';
import * as toldApart from './migrations/0049-told-apart.ts';
import * as mappings from './migrations/0050-mappings.ts';
import * as missingMappings from './migrations/0051-missing-mappings.ts';
import * as scriptNotes from './migrations/0052-script-notes.ts';
import * as formulas from './migrations/0060-formulas.ts';
import * as formulaUsage from './migrations/0061-formula-usage.ts';
import * as formulaOutcomes from './migrations/0064-formula-outcomes.ts';
import * as sharedFormulaResources from './migrations/0065-shared-formula-resources.ts';
import * as instancesById from './migrations/0066-instances-by-id.ts';
import * as endpoints from './migrations/0070-endpoints.ts';
import * as schemaWatches from './migrations/0074-schema-watches.ts';
import * as accessKeys from './migrations/0077-access-keys.ts';
import * as activityKeys from './migrations/0078-activity-keys.ts';
import * as endpointRates from './migrations/0079-endpoint-rates.ts';
import * as accountKeys from './migrations/0080-account-keys.ts';
import * as rateBudgets from './migrations/0081-rate-budgets.ts';
import * as feedTokens from './migrations/0082-feed-tokens.ts';

interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Migrations in the order of their creation. The name of a released migration never changes, and no migration is reversed. */
const MIGRATIONS: readonly Migration[] = [
  { name: '0001-foundation', statements: foundation.STATEMENTS },
  { name: '0002-oauth', statements: oauth.STATEMENTS },
  { name: '0003-events', statements: events.STATEMENTS },
  { name: '0004-delivery-events', statements: deliveryEvents.STATEMENTS },
  { name: '0005-authorizations', statements: authorizations.STATEMENTS },
  { name: '0006-subscription-filters', statements: subscriptionFilters.STATEMENTS },
  { name: '0007-polls', statements: polls.STATEMENTS },
  { name: '0008-webhooks', statements: webhooks.STATEMENTS },
  { name: '0009-poll-patience', statements: pollPatience.STATEMENTS },
  { name: '0010-administration', statements: administration.STATEMENTS },
  { name: '0011-activity', statements: activity.STATEMENTS },
  { name: '0012-trace-context', statements: traceContext.STATEMENTS },
  { name: '0013-accounts', statements: accounts.STATEMENTS },
  { name: '0015-console', statements: console.STATEMENTS },
  { name: '0016-audit', statements: audit.STATEMENTS },
  { name: '0017-account-elements', statements: accountElements.STATEMENTS },
  { name: '0020-bulk', statements: bulk.STATEMENTS },
  { name: '0022-bulk-usage', statements: bulkUsage.STATEMENTS },
  { name: '0023-connect', statements: connect.STATEMENTS },
  { name: '0024-account-roles', statements: accountRoles.STATEMENTS },
  { name: '0028-oauth-codes', statements: oauthCodes.STATEMENTS },
  { name: '0044-job-users', statements: jobUsers.STATEMENTS },
  { name: '0045-shared-proxies', statements: sharedProxies.STATEMENTS },
  { name: '0046-branding-invitations', statements: brandingInvitations.STATEMENTS },
  { name: '0047-background-runs', statements: backgroundRuns.STATEMENTS },
  { name: '0048-last-calls', statements: lastCalls.STATEMENTS },
  { name: '0049-told-apart', statements: toldApart.STATEMENTS },
  { name: '0050-mappings', statements: mappings.STATEMENTS },
  { name: '0051-missing-mappings', statements: missingMappings.STATEMENTS },
  { name: '0052-script-notes', statements: scriptNotes.STATEMENTS },
  { name: '0060-formulas', statements: formulas.STATEMENTS },
  { name: '0061-formula-usage', statements: formulaUsage.STATEMENTS },
  { name: '0064-formula-outcomes', statements: formulaOutcomes.STATEMENTS },
  { name: '0065-shared-formula-resources', statements: sharedFormulaResources.STATEMENTS },
  { name: '0066-instances-by-id', statements: instancesById.STATEMENTS },
  { name: '0070-endpoints', statements: endpoints.STATEMENTS },
  { name: '0074-schema-watches', statements: schemaWatches.STATEMENTS },
  { name: '0077-access-keys', statements: accessKeys.STATEMENTS },
  { name: '0078-activity-keys', statements: activityKeys.STATEMENTS },
  { name: '0079-endpoint-rates', statements: endpointRates.STATEMENTS },
  { name: '0080-account-keys', statements: accountKeys.STATEMENTS },
  { name: '0081-rate-budgets', statements: rateBudgets.STATEMENTS },
  { name: '0082-feed-tokens', statements: feedTokens.STATEMENTS },
];

const migrationSource: Knex.MigrationSource<Migration> = {
  getMigrations: async () => [...MIGRATIONS],
  getMigrationName: ({ name }) => name,
  getMigration: async ({ statements }) => ({ up: (trx) => runStatements(trx, statements), down: refuseToGoBack }),
};

/**
 * Migrates the schema, one process at a time.
 * @returns the names of the migrations that ran
 * @throws StartError when a newer release has migrated it
 */
export function migrateDatabase({ url, log }: { readonly url: string; readonly log: Logger }): Promise<string[]> {
  return withMigrationLock({ url, log }, () => runMigrations(url, log));
}

async function runStatements(trx: Knex, statements: readonly string[]): Promise<void> {
  if (await isDistributedSchema(trx)) return runOnDistributedSchema(trx, statements);
  // One message for all statements, because a new database needs hundreds.
  await trx.raw(statements.join(';\n'));
}

async function runMigrations(url: string, log: Logger): Promise<string[]> {
  const knex = createKnex({ url, poolSize: 1, log });
  try {
    const config = { migrationSource, tableName: 'schema_migration' };
    // The holder of the advisory lock is alone, so a lock row that is set comes from a killed process.
    await knex.migrate.forceFreeMigrationsLock(config);
    await assertNoneUnknown(knex);
    const [, names]: [number, string[]] = await knex.migrate.latest(config);
    if (names.length > 0) log.info({ migrations: names }, 'migrated the database');
    return names;
  } finally {
    await knex.destroy();
  }
}

/** @throws StartError where a newer release was at work: what this one would read and write is not there as it knows it. */
async function assertNoneUnknown(knex: Knex): Promise<void> {
  if (!(await knex.schema.hasTable('schema_migration'))) return;
  const ran: readonly { readonly name: string }[] = await knex('schema_migration').select('name').orderBy('id');
  const unknown = ran.map(({ name }) => name).filter((name) => MIGRATIONS.every((known) => known.name !== name));
  if (unknown.length === 0) return;
  throw new StartError(
    `A newer release has changed the database (${unknown.join(', ')}); start that release, or restore the backup from before it`,
  );
}

async function refuseToGoBack(): Promise<never> {
  throw new Error('Migrations go forward only: write a new one that undoes the change');
}
