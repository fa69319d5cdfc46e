import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import { DecryptionError, type Keyring } from '../db/keyring.ts';
import type { Logger, Redactor } from '../log.ts';
import { configurationFields, MASK, splitSecrets } from './configuration.ts';
import { readEventSettings } from './event-settings.ts';
import { missingElement, placeholderOf, unreadableSecrets } from './fault.ts';
import type { Instance } from './instances.ts';
import type { InstanceRow } from './store.ts';

export interface CodecPorts {
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly registry: Registry;
  readonly redactor: Redactor;
  readonly log: Pick<Logger, 'error'>;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Between instances and their rows, in which secrets are encrypted for that row alone. */
export interface InstanceCodec {
  /** Its secrets are registered with the redactor. What cannot be read, or has no connector, becomes an instance with a fault. */
  readonly decode: (row: InstanceRow) => Instance;
  readonly encodeSettings: (
    connector: Connector,
    config: Config,
    key: InstanceKey,
  ) => Pick<InstanceRow, 'configuration' | 'credentials'>;
  readonly encodeToken: (token: string, key: InstanceKey) => string;
}

export function createInstanceCodec({ keyring, registry, redactor, log }: CodecPorts): InstanceCodec {
  /** Undefined when it does not open: other rows must not suffer from one. */
  function open(row: InstanceRow, column: 'credentials' | 'token'): string | undefined {
    try {
      return keyring.decrypt(row[column], contextOf(row, column));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      log.error({ err: error, accountId: row.accountId, instanceId: row.id }, `unreadable ${column} of an instance`);
      return undefined;
    }
  }

  return {
    decode: (row) => {
      const { elementKey, credentials: _, ...rest } = row;
      const known = registry.findConnector(elementKey);
      const connector = known ?? placeholderOf(elementKey);
      const opened = open(row, 'credentials');
      const secrets: Config = opened === undefined ? {} : JSON.parse(opened);
      const token = open(row, 'token');
      redactor.add(token ?? '');
      // Without the connector nobody knows which of its keys are secrets, so they stay out of sight.
      const visible = known === undefined ? onlyDeclared(connector, secrets) : secrets;
      const config = Object.freeze({ ...rest.configuration, ...visible });
      redactor.add(readEventSettings(config).signatureKey ?? '');
      const unreadable = opened === undefined ? unreadableSecrets(row.id) : undefined;
      const fault = known === undefined ? missingElement(row.id, elementKey) : unreadable;
      return Object.freeze({
        ...rest,
        connector,
        config,
        token: token ?? MASK,
        ...(fault !== undefined && { fault, valid: false, invalidReason: fault.message }),
      });
    },

    encodeSettings: (connector, config, key) => {
      const { plain, secret } = splitSecrets(connector, config);
      const credentials = keyring.encrypt(JSON.stringify(secret), contextOf(key, 'credentials'));
      return { configuration: plain, credentials };
    },

    encodeToken: (token, key) => keyring.encrypt(token, contextOf(key, 'token')),
  };
}

function onlyDeclared(connector: Connector, secrets: Config): Config {
  const declared = new Set(configurationFields(connector).map(({ key }) => key));
  return Object.fromEntries(Object.entries(secrets).filter(([key]) => declared.has(key)));
}

function contextOf({ accountId, id }: InstanceKey, column: 'credentials' | 'token'): string {
  return encryptionContext(`instance.${column}`, accountId, id);
}
