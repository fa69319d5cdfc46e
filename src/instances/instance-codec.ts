import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { encryptionContext } from '../db/encrypted-columns.ts';
import type { Keyring } from '../db/keyring.ts';
import type { Redactor } from '../log.ts';
import { splitSecrets } from './configuration.ts';
import { readEventSettings } from './event-settings.ts';
import type { Instance } from './instances.ts';
import type { InstanceRow } from './store.ts';

export interface CodecPorts {
  readonly keyring: Pick<Keyring, 'encrypt' | 'decrypt'>;
  readonly registry: Registry;
  readonly redactor: Redactor;
}

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Between instances and their rows, in which secrets are encrypted for that row alone. */
export interface InstanceCodec {
  /** Its secrets are registered with the redactor. */
  readonly decode: (row: InstanceRow) => Instance;
  readonly encodeSettings: (
    connector: Connector,
    config: Config,
    key: InstanceKey,
  ) => Pick<InstanceRow, 'configuration' | 'credentials'>;
  readonly encodeToken: (token: string, key: InstanceKey) => string;
}

export function createInstanceCodec({ keyring, registry, redactor }: CodecPorts): InstanceCodec {
  return {
    decode: (row) => {
      const { elementKey, credentials, token, ...rest } = row;
      const secrets: Config = JSON.parse(keyring.decrypt(credentials, contextOf(row, 'credentials')));
      const plainToken = keyring.decrypt(token, contextOf(row, 'token'));
      redactor.add(plainToken);
      const config = Object.freeze({ ...rest.configuration, ...secrets });
      redactor.add(readEventSettings(config).signatureKey ?? '');
      return Object.freeze({ ...rest, connector: registry.getConnector(elementKey), config, token: plainToken });
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
