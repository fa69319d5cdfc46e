import { expect } from 'chai';
import { hashKey } from '../../src/api/element-mark.ts';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { configurationFields } from '../../src/instances/configuration.ts';

describe('the configuration properties of an instance', () => {
  it('have an id for each key of an element, and none has the name of their list', async () => {
    for (const connector of await loadConnectors({ folders: [OWN_CONNECTORS] })) {
      const keys = configurationFields(connector).map(({ key }) => key);
      expect(new Set(keys.map(hashKey)).size, connector.key).to.equal(new Set(keys).size);
      expect(keys, connector.key).not.to.include('properties');
    }
  });

  it('keep their ids', () => {
    expect(hashKey('event.notification.enabled')).to.equal(905092355);
    expect(hashKey('password')).to.equal(910909208);
  });
});
