import { json, type MisbehavingServer, status } from '../../support/misbehaving-server.ts';
import { METADATA } from './odata-metadata.ts';
import { PASSWORD, SILENCES, TROUBLES, type Trouble } from './troubles.ts';

export interface Setup {
  readonly name: string;
  /** What the first call, which tries the credentials, asks for. */
  readonly probe: string;
  readonly list: string;
  readonly configuration: (url: string) => Readonly<Record<string, unknown>>;
  readonly checked: string;
  readonly prepare: (provider: MisbehavingServer) => void;
  readonly troubles: Readonly<Record<string, Trouble>>;
}

/** The same trouble, by way of two connectors. */
export const SETUPS: Readonly<Record<'odata' | 'impatient', Setup>> = {
  odata: {
    name: 'OData',
    probe: '/api/',
    list: '/api/items',
    configuration: (url) => ({ 'base.url': `${url}/api`, username: 'somebody', password: PASSWORD }),
    checked: 'base.url, username, password',
    prepare: (provider) => {
      provider.answer('/api/', json({ value: [] }));
      provider.answer('/api/$metadata', status(200, { 'content-type': 'application/xml' }, METADATA));
      provider.answer('/api/items', json({ value: [{ id: 1, name: 'one' }] }));
    },
    troubles: TROUBLES,
  },
  impatient: {
    name: 'Impatient',
    probe: '/me',
    list: '/items',
    configuration: (url) => ({ 'base.url': url, 'api.key': PASSWORD }),
    checked: 'base.url, api.key',
    prepare: (provider) => {
      provider.answer('/me', json({}));
      provider.answer('/items', json({ records: [{ id: 1, name: 'one' }] }));
    },
    troubles: SILENCES,
  },
};
