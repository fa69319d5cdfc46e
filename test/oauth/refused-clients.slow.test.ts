import { expect } from 'chai';
import { expectProblem } from '../api/support/expect-problem.ts';
import { useOAuth } from './support/setup.ts';

const NEXT = 'the-next-client-secret';
const REASON =
  /The provider refuses the client id or secret of this instance \(invalid_client.*\)\. Correct oauth\.api\.secret in its configuration\. You don't need to authenticate the instance again\./;

describe('an instance whose client secret was changed at the provider', () => {
  const setup = useOAuth();
  const { service, authorize, create } = setup;

  afterEach(() => setup.server.changeClientSecret(setup.server.clientSecret));

  const change = (id: number, body: object, method = 'PATCH') => service.call(`/instances/${id}`, { method, body });
  const changeSecret = (id: number, secret: string) => change(id, { configuration: { 'oauth.api.secret': secret } });
  const read = async (id: number) => (await service.call(`/instances/${id}`)).body;
  const items = (token: string) => service.call('/items', { token });

  /** Its access has ended, and its refresh was refused; `asked` counts token requests since. */
  async function connectAndChangeSecret() {
    const { id, token } = (await create(await authorize())).body;
    setup.server.changeClientSecret(NEXT);
    setup.server.expireAccessTokens();
    const before = setup.server.tokenRequests.length;
    const asked = () => setup.server.tokenRequests.slice(before).map(({ parameters }) => parameters.refresh_token);
    const first = await items(token);
    expectProblem(first, 'INSTANCE_CREDENTIALS_FAILED', REASON);
    return { id, token, asked };
  }

  for (const method of ['PATCH', 'PUT']) {
    it(`works again after a ${method} with the new secret: same id, same token, no code, the refresh token that was kept`, async () => {
      const { id, token, asked } = await connectAndChangeSecret();
      const all = { ...setup.configuration(), 'base.url': setup.server.url, 'oauth.api.secret': NEXT };
      const body =
        method === 'PUT' ? { name: 'Ada', configuration: all } : { configuration: { 'oauth.api.secret': NEXT } };
      const { status, body: changed } = await change(id, body, method);
      expect(status).to.equal(200);
      expect(changed).to.include({ id, token, valid: true });
      expect((await items(token)).status).to.equal(200);
      expect(await read(id)).to.include({ valid: true });
      const [kept, question, used, ...rest] = asked();
      expect(used).to.equal(kept);
      expect(question).to.not.equal(kept);
      expect(rest).to.deep.equal([]);
    });
  }

  it('stays invalid when the provider does not take the secret that was sent, and when another key is changed', async () => {
    const { id, token, asked } = await connectAndChangeSecret();
    expectProblem(await changeSecret(id, 'a-secret-that-is-wrong'), 'PROVIDER_CREDENTIALS_INVALID');
    expect((await change(id, { configuration: { 'page.limit': 3, 'oauth.api.secret': '********' } })).status).to.equal(
      200,
    );
    expect(await read(id)).to.include({ valid: false });
    expectProblem(await items(token), 'INSTANCE_CREDENTIALS_FAILED', REASON);
    expect(asked(), 'the refresh and the look at the wrong secret').to.have.length(2);
  });

  it('works again with the secret of before, shown once more, when the provider accepts that back', async () => {
    const { id, token } = await connectAndChangeSecret();
    expectProblem(await changeSecret(id, setup.server.clientSecret), 'PROVIDER_CREDENTIALS_INVALID');
    setup.server.changeClientSecret(setup.server.clientSecret);
    expect((await changeSecret(id, setup.server.clientSecret)).body).to.include({ valid: true });
    expect((await items(token)).status).to.equal(200);
  });

  it('does not work again by a new secret alone when its grant was revoked', async () => {
    const { id, token } = (await create(await authorize())).body;
    await setup.server.revokeGrants();
    expectProblem(await items(token), 'INSTANCE_CREDENTIALS_FAILED', /invalid_grant/);
    setup.server.changeClientSecret(NEXT);
    expect((await changeSecret(id, NEXT)).body).to.include({ valid: false });
    const requests = setup.server.tokenRequests.length;
    expectProblem(await items(token), 'INSTANCE_CREDENTIALS_FAILED', /invalid_grant/);
    expect(setup.server.tokenRequests.length).to.equal(requests);
  });
});
