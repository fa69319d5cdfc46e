/** Value of a key column as the database returns it. */
export type KeyValue = string | number | Buffer;

export interface EncryptedColumnSpec {
  /** Key columns of a row with their types, in the order of the context. */
  readonly key: Readonly<Record<string, 'bigint' | 'text' | 'bytea'>>;
  /** Context of columns that are older than the rule of `encryptionContext`, so that released ciphertexts can still be decrypted. */
  readonly context?: (...key: readonly string[]) => string;
  /**
   * Further columns of the row that the ciphertext is bound to. If one of them is changed alone, the ciphertext no longer opens
   * (`bound-values.ts`).
   */
  readonly bound?: readonly string[];
}

const INSTANCE_KEY = { account_id: 'bigint', id: 'bigint' } as const;

/** Every column with ciphertexts of the keyring. A rotation reads all of them. */
export const ENCRYPTED_COLUMNS = {
  'platform_key.ciphertext': { key: { name: 'text' }, context: (name) => `platform_key:${name}` },
  'instance.credentials': {
    key: INSTANCE_KEY,
    context: (accountId, id) => `instance:${accountId}:${id}:credentials`,
    // They say where the credentials go.
    bound: ['element_key', 'configuration'],
  },
  'instance.token': { key: INSTANCE_KEY, context: (accountId, id) => `instance:${accountId}:${id}:token` },
  'idempotency_record.response': {
    key: { account_id: 'bigint', user_id: 'bigint', key_hash: 'bytea' },
    context: (accountId, userId, keyHash) => `idempotency:${accountId}:${userId}:${keyHash}`,
  },
  'oauth_token.tokens': { key: { account_id: 'bigint', instance_id: 'bigint' } },
  'oauth_proxy.api_secret': {
    key: { account_id: 'bigint', id: 'bigint' },
    bound: ['organization_id', 'api_key', 'configuration'],
  },
  'subscription.secrets': { key: { account_id: 'bigint', id: 'bigint' } },
  'endpoint.secrets': { key: { account_id: 'bigint', subscription_id: 'bigint' } },
  'organization_secret.secret': { key: { organization_id: 'bigint', id: 'bigint' } },
  'user_secret.secret': { key: { account_id: 'bigint', user_id: 'bigint', id: 'bigint' } },
  'webhook_registration.secret': { key: { account_id: 'bigint', instance_id: 'bigint' } },
  'connect_session.configuration': { key: { account_id: 'bigint', id: 'bigint' } },
  'connect_authorization.request': { key: { account_id: 'bigint', id: 'bigint' } },
} as const satisfies Readonly<Record<`${string}.${string}`, EncryptedColumnSpec>>;

export type EncryptedColumn = keyof typeof ENCRYPTED_COLUMNS;

/**
 * Returns the additional data of a ciphertext: its column and the key of its row, in the order of `ENCRYPTED_COLUMNS`. So a ciphertext that
 * was moved to another row, tenant or column does not open.
 */
export function encryptionContext(column: EncryptedColumn, ...key: readonly KeyValue[]): string {
  const { context }: EncryptedColumnSpec = ENCRYPTED_COLUMNS[column];
  const texts = key.map((value) => (Buffer.isBuffer(value) ? value.toString('base64url') : String(value)));
  return context === undefined ? [column, ...texts].join(':') : context(...texts);
}
