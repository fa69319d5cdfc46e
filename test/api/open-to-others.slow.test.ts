import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { json, type MisbehavingServer, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { createSource, QUICK, type Receiver, sendEvent, startReceiver } from './events/receiving.ts';
import { expectProblem } from './support/expect-problem.ts';
import { BAMBOOHR } from './support/simulated.ts';
import { SETUPS } from './support/troubled-setups.ts';

const WORDS = { error: { message: 'the words of a machine inside' } };

describe('a service that others than this machine reach', () => {
  describe('with nothing in EGRESS_ALLOW', () => {
    const service = useApp({ HOST: '0.0.0.0', EGRESS_ALLOW: '' });

    it('reaches the simulators all the same', async () => {
      const { id } = await service.createInstance('bamboohr', BAMBOOHR);
      expect(id).to.be.a('number');
    });

    it('does not let a caller reach the simulators, or anything else on this machine, by an address of his own', async () => {
      const configuration = { 'base.url': `${service.app.simulatorsUrl}/odata`, username: 'a', password: 'secret-1' };
      const body = { element: { key: 'odata' }, name: 'x', configuration };
      const response = await service.send('POST', '/instances', body);
      expectProblem(response, 'REQUEST_INVALID', /127\.0\.0\.1 has an address that is neither public nor allowed here/);
    });
  });

  describe('with an address of a private network in EGRESS_ALLOW', () => {
    const service = useApp({ HOST: '0.0.0.0', EGRESS_ALLOW: '127.0.0.0/8' }, { engineOptions: QUICK });
    const { prepare, configuration, list } = SETUPS.odata;
    let provider: MisbehavingServer;
    let receiver: Receiver;
    before(async () => {
      provider = await startMisbehavingServer();
      receiver = await startReceiver();
    });
    after(async () => {
      await provider.close();
      await receiver.close();
    });

    it('answers records from there, and no words of a refusal', async () => {
      prepare(provider);
      const { token } = await service.createInstance('odata', configuration(provider.url));
      expect(await service.get('/items', { token })).to.deep.equal([{ id: 1, name: 'one' }]);
      provider.answer(list, json(WORDS, 400));
      const refused = await service.call('/items', { token });
      expectProblem(refused, 'PROVIDER_REJECTED');
      expect(refused.body).not.to.have.property('providerMessage');
      provider.answer(list, json('<html>inside</html>', 200, { 'content-type': 'text/html; inside' }));
      const misshapen = await service.call('/items', { token });
      expectProblem(misshapen, 'PROVIDER_PROTOCOL');
      expect(JSON.stringify(misshapen.body)).not.to.include('inside');
    });

    it('keeps nothing of what a receiver there answered', async () => {
      const url = receiver.open('inside');
      receiver.server.answer('/inside', json(WORDS, 503));
      const { id } = await createSource(service, url);
      await sendEvent(service, id);
      await receiver.waitFor(url, 1);
      const attemptsMade = async () => {
        const [delivery] = await service.get('/notifications/subscriptions/deliveries');
        return (await service.get(`/notifications/subscriptions/deliveries/${delivery.id}`)).attemptHistory;
      };
      await until(async () => (await attemptsMade()).length > 0);
      const [first] = await attemptsMade();
      expect(first).to.include({ statusCode: 503 });
      expect(first).not.to.have.property('answer');
    });
  });
});
