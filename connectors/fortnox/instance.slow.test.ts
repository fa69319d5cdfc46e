import { expect } from 'chai';
import { useApp } from '../../test/support/app.ts';
import { DEMO_AUTHORIZATION_CODE, DEMO_CONFIGURATION } from './simulator.ts';

describe('an instance of Fortnox', () => {
  const service = useApp();

  it('is made with a code, once, and reads with the token that it was exchanged for', async () => {
    const { 'client.secret': secret } = DEMO_CONFIGURATION;
    const configuration = { 'authorization.code': DEMO_AUTHORIZATION_CODE, 'client.secret': secret, simulator: true };
    const { id, token } = await service.createInstance('fortnox', configuration);
    const shown = (await service.call(`/instances/${id}/configuration`)).body;
    expect(shown).to.deep.equal({ 'client.secret': '********', 'access.token': '********', simulator: true });
    const { body } = await service.call('/customers/1', { token });
    expect(body).to.include({ CustomerNumber: '1' }).and.to.have.property('DefaultDeliveryTypes');
    const again = { element: { key: 'fortnox' }, name: 'x', configuration };
    const refused = await service.call('/instances', { method: 'POST', body: again });
    expect(refused.body).to.deep.include({
      code: 'PROVIDER_CREDENTIALS_INVALID',
      providerMessage: 'Ogiltig inloggning (Fortnox error 2000310)',
    });
  });
});
