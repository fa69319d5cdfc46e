import { expect } from 'chai';
import { useOAuth } from './support/setup.ts';

describe('a request that is passed through with an access token', () => {
  const setup = useOAuth();
  const { service } = setup;

  async function connect() {
    const { code = '' } = await setup.authorize();
    const { body } = await setup.create({ code });
    return {
      pass: (method: string, length?: number) =>
        service.call('/passthrough/items', {
          method,
          token: body.token,
          ...(length !== undefined && { body: JSON.stringify('x'.repeat(length)) }),
        }),
    };
  }

  it('gets another one when the provider refuses it, and is sent again', async () => {
    const { pass } = await connect();
    expect((await pass('GET')).status).to.equal(200);
    setup.server.expireAccessTokens();
    const answer = await pass('POST', 100);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('elements-provider-calls')).to.equal('2');
    expect(answer.body).to.have.property('records');
  });

  it('is not sent again when its body was not kept, but the next one has a good token', async () => {
    const { pass } = await connect();
    setup.server.expireAccessTokens();
    const refused = await pass('POST', 2 * 1024 * 1024);
    expect(refused.status).to.equal(401);
    expect(refused.headers.get('elements-provider-calls')).to.equal('1');
    expect((await pass('GET')).headers.get('elements-provider-calls')).to.equal('1');
  });
});
