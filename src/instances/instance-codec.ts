import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { type BoundCell, decryptBound, encryptBound } from '../db/bound-values.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { DecryptionError } from '../db/keyring.ts';
import type { Platform } from '../platform.ts';
import { createRedactor } from '../redaction.ts';
import { MASK, splitSecrets } from './configuration.ts';
import type { Instance, InstanceFault, InstanceKey } from './instance.ts';
import type { InstanceRow } from './store.ts';

/** Converts between instances and their rows, in which secrets are encrypted for that row alone. */
export type InstanceCodec = ReturnType<typeof createInstanceCodec>;

export function createInstanceCodec({ keyring, log }: Platform, registry: Registry) {
  /** Returns undefined for a value that cannot be decrypted, so that other rows are not affected. */
  function open(row: InstanceRow, column: 'credentials' | 'token', decrypt: () => string): string | undefined {
    try {
      return decrypt();
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      log.error({ err: error, accountId: row.accountId, instanceId: row.id }, `unreadable ${column} of an instance`);
      return undefined;
    }
  }

  return {
    /** Decodes a row. A row that is unreadable or has no connector becomes an instance with a fault. */
    decode: (row: InstanceRow): Instance => {
      const { elementKey, credentials, token: sealedToken, ...rest } = row;
      const known = registry.findConnector(elementKey);
      const opened = open(row, 'credentials', () => decryptBound(keyring, credentials, cellOf(row)).plain);
      const token = open(row, 'token', () => keyring.decrypt(sealedToken, tokenContextOf(row)));
      // Without the connector, it is not known which keys are secrets, so none is shown.
      const secrets: Config = opened === undefined || known === undefined ? {} : JSON.parse(opened);
      const config: Config = Object.freeze(opened === undefined ? {} : { ...rest.configuration, ...secrets });
      const unreadable = opened === undefined ? unreadableSecrets(row.id) : undefined;
      const fault = known === undefined ? missingElement(row.id, elementKey) : unreadable;
      return Object.freeze({
        ...rest,
        connector: known ?? placeholderOf(elementKey),
        config,
        token: token ?? MASK,
        redactor: createRedactor([token ?? '', ...Object.values(secrets).map(String)]),
        ...(fault !== undefined && { fault, valid: false, invalidReason: fault.message }),
      });
    },

    encodeSettings: (connector: Connector, config: Config, key: InstanceKey) => {
      const { plain, secret } = splitSecrets(connector, config);
      const cell = cellOf({ ...key, elementKey: connector.key, configuration: plain });
      return { configuration: plain, credentials: encryptBound(keyring, JSON.stringify(secret), cell) };
    },

    encodeToken: (token: string, key: InstanceKey) => keyring.encrypt(token, tokenContextOf(key)),
  };
}

function tokenContextOf({ accountId, id }: InstanceKey): string {
  return encryptionContext('instance.token', accountId, id);
}

/** The settings decide where credentials are sent, so credentials can be decrypted only with the settings that they were stored with. */
function cellOf(row: Pick<InstanceRow, 'accountId' | 'id' | 'elementKey' | 'configuration'>): BoundCell {
  const { accountId, id, elementKey, configuration } = row;
  return { column: 'instance.credentials', key: [accountId, id], bound: [elementKey, configuration] };
}

/**
 * The settings and the credentials were not stored together, or the key of the credentials is missing. Settings decide where credentials
 * are sent, so none of them is used. Sending the whole configuration repairs the instance.
 */
function unreadableSecrets(id: number): InstanceFault {
  const message = `The stored settings and credentials of instance ${id} cannot be read, or were changed outside of the service. Send the whole configuration with PATCH /instances/${id}.`;
  return { kind: 'secrets', code: 'INSTANCE_CREDENTIALS_FAILED', message };
}

/** The connector of this key no longer exists. */
function missingElement(id: number, elementKey: string): InstanceFault {
  const message = `The element '${elementKey}' of instance ${id} is no longer offered by this service.`;
  return { kind: 'element', code: 'NOT_FOUND', message };
}

/** Replaces a connector that no longer exists. It is never called, because its instances have a fault. */
function placeholderOf(elementKey: string): Connector {
  return {
    key: elementKey,
    id: 0,
    name: elementKey,
    description: 'No longer offered.',
    hub: 'general',
    auth: { type: 'none' },
    configuration: [],
    baseUrl: () => '',
    hosts: [],
    objects: {},
    probe: {},
  };
}
