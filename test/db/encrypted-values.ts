import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { type BoundCell, encryptBound } from '../../src/db/bound-values.ts';
import { ENCRYPTED_COLUMNS, type EncryptedColumn, type KeyValue } from '../../src/db/encrypted-columns.ts';
import { json } from '../../src/db/json.ts';
import { encryptedColumns } from '../../src/db/key-usage.ts';
import type { Keyring } from '../../src/db/keyring.ts';

export const randomKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

export interface StoredValue {
  readonly column: EncryptedColumn;
  readonly key: readonly KeyValue[];
  readonly plain: string;
}

const CONFIGURATION = { 'base.url': 'https://example.com', limit: 1.5, 'a.flag': true };

/** What stands in the stored rows beside the ciphertexts that are bound to it. */
const BOUND: Partial<Record<EncryptedColumn, readonly unknown[]>> = {
  'instance.credentials': ['e', CONFIGURATION],
  'oauth_proxy.api_secret': [1, 'k', '{}'],
};

export function placeOf({ column, key }: Pick<StoredValue, 'column' | 'key'>): BoundCell {
  return { column, key, bound: BOUND[column] ?? [] };
}

type Encrypt = (column: EncryptedColumn, ...key: readonly KeyValue[]) => string;

/** Empties the tables and stores `rows` values of every encrypted column, except two of platform_key. */
export async function storeValues(knex: Knex, keyring: Keyring, rows: number): Promise<readonly StoredValue[]> {
  const stored: StoredValue[] = [];
  const encrypt: Encrypt = (column, ...key) => {
    const plain = `plain text of ${column} ${stored.length}`;
    const value = { column, key, plain };
    stored.push(value);
    return encryptBound(keyring, plain, placeOf(value));
  };
  await knex.raw('truncate platform_key, organization restart identity cascade');
  for (const name of ['lookup', 'page-token']) {
    await knex('platform_key').insert({ name, ciphertext: encrypt('platform_key.ciphertext', name) });
  }
  await knex('organization').insert({ name: 'o' });
  await knex('account').insert({ organization_id: 1, name: 'a', external_id: 'a' });
  await knex('app_user').insert({ organization_id: 1, account_id: 1, email_address: 'a@example.com' });
  for (let id = 1; id <= rows; id++) await storeRow(knex, encrypt, id);
  return stored;
}

async function storeRow(knex: Knex, encrypt: Encrypt, id: number): Promise<void> {
  const key = { account_id: 1, id };
  const hash = randomBytes(32);
  await knex('instance').insert({
    ...key,
    user_id: 1,
    name: `instance ${id}`,
    element_key: 'e',
    configuration: json(knex, CONFIGURATION),
    credentials: encrypt('instance.credentials', 1, id),
    token: encrypt('instance.token', 1, id),
    token_hash: hash,
  });
  await knex('oauth_token').insert({
    account_id: 1,
    instance_id: id,
    tokens: encrypt('oauth_token.tokens', 1, id),
  });
  await knex('idempotency_record').insert({
    account_id: 1,
    user_id: 1,
    key_hash: hash,
    request_hash: hash,
    state: 'done',
    status: 200,
    response: encrypt('idempotency_record.response', 1, 1, hash),
  });
  await knex.raw(
    `insert into oauth_proxy (account_id, id, organization_id, key, name, api_key, api_secret)
    overriding system value values (1, ?, 1, ?, ?, 'k', ?)`,
    [id, hash.toString('hex').slice(0, 32), `proxy ${id}`, encrypt('oauth_proxy.api_secret', 1, id)],
  );
  // One is current, and the others end.
  const expires_at = id === 1 ? null : new Date(Date.now() + id * 3_600_000);
  await knex('organization_secret').insert({
    organization_id: 1,
    id,
    secret: encrypt('organization_secret.secret', 1, id),
    secret_hash: hash,
    expires_at,
  });
  await knex('user_secret').insert({
    account_id: 1,
    user_id: 1,
    id,
    secret: encrypt('user_secret.secret', 1, 1, id),
    secret_hash: hash,
    expires_at,
  });
  await knex('webhook_registration').insert({
    account_id: 1,
    instance_id: id,
    secret: encrypt('webhook_registration.secret', 1, id),
  });
  const at = new Date();
  await knex('connect_session').insert({
    ...key,
    user_id: 1,
    key_hash: hash,
    configuration: encrypt('connect_session.configuration', 1, id),
    reauthenticates: false,
    created_at: at,
    expires_at: at,
  });
  await knex('connect_authorization').insert({
    ...key,
    session_id: id,
    state_hash: hash,
    request: encrypt('connect_authorization.request', 1, id),
    created_at: at,
  });
  await knex.raw(
    'insert into subscription (account_id, id, url, secrets) overriding system value values (1, ?, ?, ?)',
    [id, `https://example.com/${id}`, encrypt('subscription.secrets', 1, id)],
  );
  await knex('endpoint').insert({
    account_id: 1,
    subscription_id: id,
    choice: '{}',
    secrets: encrypt('endpoint.secrets', 1, id),
  });
}

/** All ciphertexts of the database by their column. */
export async function readCiphertexts(knex: Knex): Promise<Record<string, readonly string[]>> {
  const entries = encryptedColumns().map(async (column) => {
    const { table, name } = partsOf(column);
    return [column, await knex(table).whereNotNull(name).orderBy(name).pluck(name)];
  });
  return Object.fromEntries(await Promise.all(entries));
}

export async function keyIdsInUse(knex: Knex): Promise<ReadonlySet<string | undefined>> {
  const ciphertexts = Object.values(await readCiphertexts(knex)).flat();
  return new Set(ciphertexts.map((ciphertext) => ciphertext.split('.')[1]));
}

/** The ciphertext of one value, which the database holds. */
export async function readCiphertext(knex: Knex, { column, key }: StoredValue): Promise<string> {
  const { table, name } = partsOf(column);
  const row = await knex(table).where(toWhere(column, key)).first({ ciphertext: name });
  return row.ciphertext;
}

export async function writeCiphertext(knex: Knex, { column, key }: StoredValue, ciphertext: string): Promise<void> {
  const { table, name } = partsOf(column);
  await knex(table)
    .where(toWhere(column, key))
    .update({ [name]: ciphertext });
}

function toWhere(column: EncryptedColumn, key: readonly KeyValue[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.keys(ENCRYPTED_COLUMNS[column].key).map((part, at) => [part, key[at]]));
}

function partsOf(column: EncryptedColumn): { readonly table: string; readonly name: string } {
  const [table = '', name = ''] = column.split('.');
  return { table, name };
}
