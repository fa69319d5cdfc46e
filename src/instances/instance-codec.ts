import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import type { Keyring } from '../db/keyring.ts';
import { createRedactor } from '../redaction.ts';
import { splitSecrets } from './configuration.ts';
import type { Instance } from './instances.ts';
import type { InstanceRow } from './store.ts';

export interface CodecPorts {
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly registry: Registry;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Between instances and their rows, in which secrets are encrypted for that row alone. */
export interface InstanceCodec {
  readonly decode: (row: InstanceRow) => Instance;
  readonly encodeSettings: (
    connector: Connector,
    config: Config,
    key: InstanceKey,
  ) => Pick<InstanceRow, 'configuration' | 'credentials'>;
  readonly encodeToken: (token: string, key: InstanceKey) => string;
}

export function createInstanceCodec({ keyring, registry }: CodecPorts): InstanceCodec {
  return {
    decode: (row) => {
      const { elementKey, credentials, token, ...rest } = row;
      const secrets: Config = JSON.parse(keyring.decrypt(credentials, contextOf(row, 'credentials')));
      const plainToken = keyring.decrypt(token, contextOf(row, 'token'));
      const config = Object.freeze({ ...rest.configuration, ...secrets });
      const redactor = createRedactor([plainToken, ...Object.values(secrets).map(String)]);
      const connector = registry.getConnector(elementKey);
      return Object.freeze({ ...rest, connector, config, token: plainToken, redactor });
    },

    encodeSettings: (connector, config, key) => {
      const { plain, secret } = splitSecrets(connector, config);
      const credentials = keyring.encrypt(JSON.stringify(secret), contextOf(key, 'credentials'));
      return { configuration: plain, credentials };
    },

    encodeToken: (token, key) => keyring.encrypt(token, contextOf(key, 'token')),
  };
}

function contextOf({ accountId, id }: InstanceKey, column: 'credentials' | 'token'): string {
  return encryptionContext(`instance.${column}`, accountId, id);
}
