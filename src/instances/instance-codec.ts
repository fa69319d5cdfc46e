import type { Config, Connector } from '../connector/contract.ts';
import type { Registry } from '../connector/registry.ts';
import { type BoundPlace, decryptBound, encryptBound, isRefused } from '../db/bound-values.ts';
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

/** For people. */
const TAMPERED =
  'Its settings and its credentials are not those that were stored together: one of them was changed outside of the service, or is damaged. Send the whole configuration again.';

type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Between instances and their rows, in which secrets are encrypted for that row alone. */
export interface InstanceCodec {
  /** Its secrets are registered with the redactor. Where settings and credentials do not belong together, it has neither. */
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
      const plainToken = keyring.decrypt(token, tokenContextOf(row));
      redactor.add(plainToken);
      const secrets = openSecrets(row);
      const config = Object.freeze(secrets === undefined ? {} : { ...rest.configuration, ...secrets });
      redactor.add(readEventSettings(config).signatureKey ?? '');
      return Object.freeze({
        ...rest,
        ...(secrets === undefined && { valid: false, invalidReason: TAMPERED }),
        intact: secrets !== undefined,
        connector: registry.getConnector(elementKey),
        config,
        token: plainToken,
      });
    },

    encodeSettings: (connector, config, key) => {
      const { plain, secret } = splitSecrets(connector, config);
      const place = placeOf({ ...key, elementKey: connector.key, configuration: plain });
      return { configuration: plain, credentials: encryptBound(keyring, JSON.stringify(secret), place) };
    },

    encodeToken: (token, key) => keyring.encrypt(token, tokenContextOf(key)),
  };

  /** Undefined when they are not those of the settings beside them. */
  function openSecrets(row: InstanceRow): Config | undefined {
    try {
      return JSON.parse(decryptBound(keyring, row.credentials, placeOf(row)).plain);
    } catch (error) {
      if (isRefused(error)) return undefined;
      throw error;
    }
  }
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
