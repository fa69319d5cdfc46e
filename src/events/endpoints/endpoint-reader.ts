import type { Knex } from 'knex';
import { encryptionContext } from '../../db/encrypted-columns.ts';
import { DecryptionError } from '../../db/keyring.ts';
import type { Platform } from '../../platform.ts';
import type { EndpointSending } from '../model.ts';
import { type EndpointSecrets, type EventEndpoint, maskSecrets } from './endpoint.ts';
import { createEndpointStore, type EndpointRow } from './endpoint-store.ts';

export interface EndpointReaderPlatform extends Pick<Platform, 'knex'> {
  readonly keyring: Pick<Platform['keyring'], 'encrypt' | 'decrypt'>;
  readonly log: Pick<Platform['log'], 'error'>;
}

/** A row of `subscription`, as far as its endpoint needs it. */
interface EndpointKey {
  readonly id: number;
  readonly isEndpoint: boolean;
  readonly maxPerSecond: number | null;
}

/** Reads what belongs to the subscriptions of endpoints. */
export function createEndpointReader({ knex, keyring, log }: EndpointReaderPlatform) {
  function open({ accountId, subscriptionId, secrets }: EndpointRow): EndpointSecrets {
    return secrets === null ? {} : JSON.parse(keyring.decrypt(secrets, contextOf(accountId, subscriptionId)));
  }

  return {
    open,

    seal: (accountId: number, id: number, { headers, authentication }: EndpointSecrets): string | null =>
      headers === undefined && authentication === undefined
        ? null
        : keyring.encrypt(JSON.stringify({ headers, authentication }), contextOf(accountId, id)),

    /** Returns how an endpoint is sent to. */
    findSending: async (accountId: number, id: number): Promise<EndpointSending | undefined> => {
      const store = createEndpointStore(knex);
      const row = await store.find(accountId, id);
      if (row === undefined) return undefined;
      const { format } = row.choice;
      const companyId = format === 'elements' ? await store.organizationId(accountId) : 0;
      const { headers = {}, authentication } = open(row);
      return { format, companyId, headers, authentication };
    },

    /** Returns the endpoints among the subscriptions by id, their secrets masked. */
    describe: async (
      via: Knex,
      accountId: number,
      subscriptions: readonly EndpointKey[],
    ): Promise<ReadonlyMap<number, EventEndpoint>> => {
      const rates = new Map(subscriptions.filter(({ isEndpoint }) => isEndpoint).map((row) => [row.id, row]));
      if (rates.size === 0) return new Map();
      const rows = await createEndpointStore(via).list(accountId, [...rates.keys()]);
      return new Map(
        rows.map((row) => {
          const maxPerSecond = rates.get(row.subscriptionId)?.maxPerSecond ?? undefined;
          const shown = { ...row.choice, ...show(row), name: row.name ?? undefined, maxPerSecond };
          return [row.subscriptionId, shown];
        }),
      );
    },
  };

  /** One row that cannot be read must not make the others unreadable. */
  function show(row: EndpointRow): EndpointSecrets {
    try {
      return maskSecrets(open(row));
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const { accountId, subscriptionId } = row;
      log.error({ err: error, accountId, subscriptionId }, 'unreadable secrets of an endpoint');
      return {};
    }
  }
}

function contextOf(accountId: number, subscriptionId: number): string {
  return encryptionContext('endpoint.secrets', accountId, subscriptionId);
}
