import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { useOAuth } from './support/setup.ts';

describe('a file that is sent with an access token', () => {
  const setup = useOAuth();
  const { service } = setup;

  it('is to be sent again when the provider refuses the token, and then has another', async () => {
    const { code = '' } = await setup.authorize();
    const { body: instance } = await setup.create({ code });
    const send = () => {
      const form = new FormData();
      form.set('file', new Blob(['hello']), 'a.txt');
      return service.call('/items', { method: 'POST', token: instance.token, body: form });
    };
    expect((await send()).status).to.equal(200);
    setup.server.expireAccessTokens();
    const refused = await send();
    expectProblem(refused, 'PROVIDER_UNAVAILABLE', /refused the access token .* send the file again/);
    expect(refused.headers.get('retry-after')).to.equal('1');
    expect((await service.call(`/instances/${instance.id}`)).body.valid).to.equal(true);
    const sent = await send();
    expect([sent.status, sent.headers.get('elements-provider-calls')]).to.deep.equal([200, '1']);
  });
});
