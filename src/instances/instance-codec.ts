import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { type BoundPlace, decryptBound, encryptBound } from '../db/bound-values.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { DecryptionError, type Keyring } from '../db/keyring.ts';
import type { Logger } from '../log.ts';
import { createRedactor } from '../redaction.ts';
import { MASK, splitSecrets } from './configuration.ts';
import { missingElement, placeholderOf, unreadableSecrets } from './fault.ts';
import type { Instance } from './instance.ts';
import type { InstanceRow } from './store.ts';

export interface CodecPorts {
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly registry: Registry;
  readonly log: Pick<Logger, 'error'>;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Between instances and their rows, in which secrets are encrypted for that row alone. */
export interface InstanceCodec {
  /** What cannot be read, or has no connector, becomes an instance with a fault. */
  readonly decode: (row: InstanceRow) => Instance;
  readonly encodeSettings: (
    connector: Connector,
    config: Config,
    key: InstanceKey,
  ) => Pick<InstanceRow, 'configuration' | 'credentials'>;
  readonly encodeToken: (token: string, key: InstanceKey) => string;
}

export function createInstanceCodec({ keyring, registry, log }: CodecPorts): InstanceCodec {
  /** Undefined when it does not open: other rows must not suffer from one. */
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
    decode: (row) => {
      const { elementKey, credentials, token: sealedToken, ...rest } = row;
      const known = registry.findConnector(elementKey);
      const opened = open(row, 'credentials', () => decryptBound(keyring, credentials, placeOf(row)).plain);
      const token = open(row, 'token', () => keyring.decrypt(sealedToken, tokenContextOf(row)));
      // Without the connector nobody knows which of its keys are secrets, so they stay out of sight.
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

    encodeSettings: (connector, config, key) => {
      const { plain, secret } = splitSecrets(connector, config);
      const place = placeOf({ ...key, elementKey: connector.key, configuration: plain });
      return { configuration: plain, credentials: encryptBound(keyring, JSON.stringify(secret), place) };
    },

    encodeToken: (token, key) => keyring.encrypt(token, tokenContextOf(key)),
  };
}

function tokenContextOf({ accountId, id }: InstanceKey): string {
  return encryptionContext('instance.token', accountId, id);
}

/** Settings say where credentials are sent, so these open only beside the very settings they were stored with. */
function placeOf({
  accountId,
  id,
  elementKey,
  configuration,
}: Pick<InstanceRow, 'accountId' | 'id' | 'elementKey' | 'configuration'>): BoundPlace {
  return { column: 'instance.credentials', key: [accountId, id], bound: [elementKey, configuration] };
}
