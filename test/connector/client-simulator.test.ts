import { expect } from 'chai';
import type { Connector } from '../../src/connector/contract.ts';
import { expectFailure, failureOf } from '../support/failures.ts';
import { json, type MisbehavingServer, redirect, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { API_KEY, type ClientSetup, setUpClient } from './client-setup.ts';

describe('the provider client and simulators', () => {
  let simulators: MisbehavingServer;
  let setup: ClientSetup;
  const connector: Partial<Connector> = {
    baseUrl: () => 'https://api.bamboohr.com/gateway/acme',
    hosts: ['api.bamboohr.com', '*.bamboohr.com:8443'],
  };
  const config = { apiKey: API_KEY, simulator: true };

  beforeEach(async () => {
    simulators = await startMisbehavingServer();
    setup = await setUpClient({ simulatorsUrl: `${simulators.url}/` });
  });
  afterEach(async () => {
    await setup.close();
    await simulators.close();
  });

  it('sends to the simulator, with the credentials and the host that was meant', async () => {
    simulators.answer('/bamboohr/gateway/acme/v1/employees', json([]));
    await setup.client.send(setup.call({ connector, config }), { path: '/v1/employees', query: { a: 'b c' } });
    const [request] = simulators.requests;
    expect(request?.url).to.equal('/bamboohr/gateway/acme/v1/employees?a=b%20c');
    expect(request?.headers.forwarded).to.equal('host=api.bamboohr.com');
    expect(request?.headers.authorization).to.match(/^Basic /);
  });

  it('follows links to the provider, to the simulator and to a path', async () => {
    const links = {
      'https://api.bamboohr.com/next?c=1': ['/bamboohr/next?c=1', 'host=api.bamboohr.com'],
      [`${simulators.url}/bamboohr/next?c=2`]: ['/bamboohr/next?c=2', 'host=api.bamboohr.com'],
      '/next?c=3': ['/bamboohr/next?c=3', 'host=api.bamboohr.com'],
      'https://eu.bamboohr.com:8443/next?c=4': ['/bamboohr/next?c=4', 'host="eu.bamboohr.com:8443"'],
    };
    simulators.answer('/bamboohr/next', json(1));
    for (const url of Object.keys(links)) await setup.client.send(setup.call({ connector, config }), { url });
    expect(simulators.requests.map(({ url, headers }) => [url, headers.forwarded])).to.deep.equal(Object.values(links));
  });

  it('follows a redirect of a simulator', async () => {
    simulators.answer('/bamboohr/gateway/acme/a', redirect(`${simulators.url}/bamboohr/b`));
    simulators.answer('/bamboohr/b', redirect('/c'));
    simulators.answer('/bamboohr/c', json('arrived'));
    const response = await setup.client.send(setup.call({ connector, config }), { path: '/a' });
    expect(response.body).to.equal('arrived');
  });

  it("stays within the provider's part of the simulators", async () => {
    for (const url of [
      `${simulators.url}/sfdc/a`,
      `${simulators.url}/bamboohrx/a`,
      `${simulators.url}/bamboohr/../sfdc`,
    ]) {
      const error = await failureOf(setup.client.send(setup.call({ connector, config }), { url }));
      expect(error.code, url).to.equal('PROVIDER_PROTOCOL');
    }
    simulators.answer('/bamboohr/sfdc/a', json(1));
    await setup.client.send(setup.call({ connector, config }), { path: '/../../../../sfdc/a' });
    expect(simulators.requests.map(({ url }) => url)).to.deep.equal(['/bamboohr/sfdc/a']);
  });

  it('says so where no simulators run', async () => {
    const elsewhere = await setUpClient();
    await expectFailure(
      elsewhere.client.send(elsewhere.call({ connector, config }), { path: '/a' }),
      'REQUEST_INVALID',
      'This process has no access to the simulator of BambooHR. The operator sets SIMULATORS_PORT for the process that serves the simulators, and SIMULATORS_URL for the others.',
    );
    await elsewhere.close();
  });
});
