import { expect } from 'chai';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { configurationFields } from '../../src/instances/configuration.ts';
import { useApp } from '../support/app.ts';

describe('elements', () => {
  const service = useApp({ SIMULATORS_PORT: 'off' });

  it('have a picture, in every listing', async () => {
    const { body } = await service.call('/elements');
    for (const { key, image } of body) expect(image, key).to.match(/^data:image\/svg\+xml,%3Csvg/);
  });

  it('say what a person does who sets one up', async () => {
    const { body } = await service.call('/elements/bamboohr');
    expect(body.documentation[0]).to.deep.equal({
      title: 'Getting started with the API',
      url: 'https://documentation.bamboohr.com/docs/getting-started',
    });
    const [username] = body.configuration;
    expect(username.key).to.equal('username');
    expect(username.setup[1]).to.match(/^Open the menu under your own name/);
  });

  it('say of OAuth how an application is registered, for its key and its secret', async () => {
    const { body } = await service.call('/elements/clover');
    const setupOf = Object.fromEntries(
      body.configuration.map(({ key, setup }: { key: string; setup: readonly string[] }) => [key, setup]),
    );
    expect(setupOf['oauth.api.key'][0]).to.match(/^Create an app/);
    expect(setupOf['oauth.api.secret']).to.deep.equal(setupOf['oauth.api.key']);
    expect(setupOf['oauth.scope']).to.deep.equal([]);
  });
});

/** Connectors from elsewhere may leave this out; ours must not. */
describe('every connector of this repository', async () => {
  for (const connector of await loadConnectors({ folders: [OWN_CONNECTORS] })) {
    it(`leads to the documentation of its provider: ${connector.key}`, () => {
      expect(connector.documentation ?? []).not.to.have.lengthOf(0);
    });

    it(`says how to come by each key that is required or secret: ${connector.key}`, () => {
      const silent = configurationFields(connector)
        .filter(({ required, secret }) => required === true || secret === true)
        .filter(({ setup = [] }) => setup.length === 0);
      expect(silent.map(({ key }) => key)).to.deep.equal([]);
    });
  }
});
