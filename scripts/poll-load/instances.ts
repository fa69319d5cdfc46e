import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { createRegistry, loadConnectors } from '../../src/connector/registry.ts';
import { json } from '../../src/db/json.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import { openPlatformKeys } from '../../src/db/platform-keys.ts';
import { firstOf } from '../../src/db/row.ts';
import { createInstanceCodec } from '../../src/instances/instance-codec.ts';
import { createLogger } from '../../src/log.ts';
import { hashOf } from '../../src/polls/plan.ts';
import type { NewestThing } from './messages.ts';

/** For CONNECTORS_PATH. */
export const POLLED_CONNECTORS = join(import.meta.dirname, 'connectors');
const ROWS_AT_ONCE = 500;

export interface PolledInstances {
  readonly accountId: number;
  /** Of the service, as in ENCRYPTION_KEYS. */
  readonly encryptionKeys: string;
  readonly providerUrl: string;
  readonly count: number;
  readonly intervalMs: number;
  /** Due evenly over so many milliseconds from now. */
  readonly dueOverMs: number;
  /** Of each tenant the record that was there at the first poll; without it the first is still to be made. */
  readonly newest?: readonly NewestThing[];
  /** By a URL with a time in it, as in most configurations; otherwise as the element declares. */
  readonly byUrl: boolean;
}

const URL_OF_THINGS = "/things?where=updated>='${gmtDate:yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}'";

/**
 * Stores instances of the connector `polled` and their pollers as the service does, many at a time: instance n has the records of tenant n.
 * @returns a token of the first
 */
export async function addPolledInstances(knex: Knex, wanted: PolledInstances): Promise<string> {
  const { accountId, encryptionKeys, count, intervalMs, dueOverMs, newest } = wanted;
  const keyring = createKeyring(encryptionKeys);
  const registry = createRegistry(await loadConnectors({ folders: [POLLED_CONNECTORS] }));
  const connector = registry.getConnector('polled');
  const codec = createInstanceCodec({ keyring, log: createLogger({ level: 'fatal' }) }, registry);
  const keys = await openPlatformKeys({ knex, keyring });
  const userId = await userOf(knex, accountId);
  const ids = await idsOf(knex, count);
  const tokens = ids.map(() => randomBytes(32).toString('base64url'));
  const rows = ids.map((id, tenant) => {
    const token = tokens[tenant] ?? '';
    const place = { accountId, id };
    const { configuration, credentials } = codec.encodeSettings(connector, configurationOf(wanted, tenant), place);
    return {
      account_id: accountId,
      id,
      user_id: userId,
      name: `Tenant ${tenant}`,
      element_key: connector.key,
      tags: [],
      configuration: json(knex, configuration),
      credentials,
      token: codec.encodeToken(token, place),
      token_hash: keys.lookupHash(token),
    };
  });
  // One transaction: the service looks for instances without pollers every minute.
  await knex.transaction(async (via) => {
    for (let at = 0; at < count; at += ROWS_AT_ONCE) await via('instance').insert(rows.slice(at, at + ROWS_AT_ONCE));
    await via.raw(ADD_POLLS, [intervalMs, dueOverMs, accountId, [...ids]]);
    if (newest !== undefined) await via.raw(ADD_SEEN, [accountId, ...seenOf(newest, ids)]);
    await via.raw(
      'update instance set polls_version = settings_version where account_id = ? and id = any(?::bigint[])',
      [accountId, [...ids]],
    );
  });
  await knex.raw('vacuum analyze instance, poll, poll_seen');
  return firstOf(tokens);
}

const ADD_POLLS = `
  insert into poll (account_id, instance_id, resource, settings_version, interval_ms, due)
  select account_id, id, 'things', settings_version, p.interval_ms, now() + random() * p.over_ms * interval '1 ms'
  from instance, (select ?::bigint as interval_ms, ?::float8 as over_ms) p
  where account_id = ? and id = any(?::bigint[])`;

const ADD_SEEN = `
  with seen as (
    select p.account_id, n.* from (select ?::bigint as account_id) p,
      unnest(?::bigint[], ?::timestamptz[], ?::bytea[], ?::bytea[]) as n(instance_id, updated, record_key, version)
  ),
  reached as (
    update poll p set kind = 'window', watermark = s.updated
    from seen s where p.account_id = s.account_id and p.instance_id = s.instance_id
  )
  insert into poll_seen (account_id, instance_id, resource, record_key, version, seen_at)
  select account_id, instance_id, 'things', record_key, version, now() from seen`;

/** As a poller keeps it of a record whose times are told in milliseconds. */
function seenOf(newest: readonly NewestThing[], ids: readonly number[]): (number[] | string[] | Buffer[])[] {
  return [
    [...ids],
    newest.map(({ updated }) => updated),
    newest.map(({ id }) => hashOf(id)),
    newest.map(({ updated }) => hashOf(`at ${Date.parse(updated)}`)),
  ];
}

function configurationOf({ providerUrl, intervalMs, byUrl }: PolledInstances, tenant: number) {
  const dates = { updatedDateField: 'updated', createdDateField: 'created' };
  return {
    'base.url': providerUrl,
    tenant: String(tenant),
    'api.key': `key-of-${tenant}`,
    'event.notification.enabled': true,
    'event.notification.callback.url': `${providerUrl}/callback`,
    'event.poller.refresh_interval': intervalMs / 60_000,
    ...(byUrl && {
      'event.poller.configuration': { things: { url: URL_OF_THINGS, datesConfiguration: dates } },
    }),
  };
}

async function userOf(knex: Knex, accountId: number): Promise<number> {
  const known = await knex('app_user').where({ account_id: accountId }).first('id');
  if (known !== undefined) return known.id;
  const user = { account_id: accountId, email_address: 'load@causeway.example', first_name: 'L', last_name: 'O' };
  return firstOf(
    await knex('app_user')
      .insert({ organization_id: 1, ...user })
      .returning('id'),
  ).id;
}

async function idsOf(knex: Knex, count: number): Promise<readonly number[]> {
  const { rows } = await knex.raw<{ rows: { readonly id: number }[] }>(
    "select nextval(pg_get_serial_sequence('instance', 'id')) as id from generate_series(1, ?)",
    [count],
  );
  return rows.map(({ id }) => id);
}
