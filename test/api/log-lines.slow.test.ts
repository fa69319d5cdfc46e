import { expect } from 'chai';
import { useApp } from '../support/app.ts';
import { type MisbehavingServer, startMisbehavingServer, status } from '../support/misbehaving-server.ts';
import { until } from '../support/until.ts';
import { BAMBOOHR, PRIVATE_SHOP } from './support/simulated.ts';

type Line = Readonly<Record<string, unknown>>;

describe('the log of a call on an instance', () => {
  const service = useApp({ LOG_LEVEL: 'debug' });
  const lines = (msg: string): readonly Line[] =>
    service.logged.map((line) => JSON.parse(line)).filter((line) => line.msg === msg);

  /** Lines that came while `work` was done, the last of them the one of the request. */
  async function linesOf(work: () => Promise<{ readonly headers: Headers }>) {
    const { headers } = await work();
    const requestId = headers.get('elements-request-id');
    const own = (line: Line) => line.requestId === requestId;
    await until(async () => lines('request').some(own));
    return { request: lines('request').find(own) ?? {}, sent: lines('provider request').filter(own) };
  }

  it('says whose it is, of which element, and how often the provider was asked', async () => {
    const instance = await service.createInstance('bamboohr', BAMBOOHR);
    const { request } = await linesOf(() => service.call('/employees?pageSize=2', { token: instance.token }));
    expect(request).to.include({ instanceId: instance.id, element: 'bamboohr', status: 200, method: 'GET' });
    expect(request).to.include.keys('accountId', 'userId', 'ms');
    expect(request.providerCalls).to.be.a('number').above(0);
    expect(request).not.to.have.property('errorCode');
  });

  it('has the code of an error, on an instance or not', async () => {
    const instance = await service.createInstance('bamboohr', BAMBOOHR);
    const onInstance = await linesOf(() =>
      service.call('/employees?where=nothing%20%3D%201', { token: instance.token }),
    );
    expect(onInstance.request).to.include({ errorCode: 'WHERE_INVALID', element: 'bamboohr', status: 400 });
    const platform = await linesOf(() => service.call('/instances/999999'));
    expect(platform.request).to.include({ errorCode: 'NOT_FOUND', status: 404 });
    expect(platform.request).not.to.have.any.keys('element', 'instanceId', 'providerCalls');
  });

  it('counts the calls of one that failed, and of one that makes an instance', async () => {
    const provider: MisbehavingServer = await startMisbehavingServer();
    provider.answer('/x/', status(404));
    provider.answer('/x/$metadata', status(404));
    const { request } = await linesOf(() =>
      service.send('POST', '/instances', {
        element: { key: 'odata' },
        name: 'x',
        configuration: { 'base.url': `${provider.url}/x` },
      }),
    );
    expect(request.status).to.be.at.least(400);
    expect(request.providerCalls).to.equal(provider.requests.length);
    await provider.close();
  });

  it('counts the call of a request that is passed through', async () => {
    const { token } = await service.createInstance('bamboohr', BAMBOOHR);
    const { request } = await linesOf(() => service.call('/passthrough/api/v1/meta/fields', { token }));
    expect(request).to.include({ status: 200, providerCalls: 1 });
  });

  it('has at the level debug each request for a token, without its secrets', async () => {
    const configuration = {
      simulator: true,
      'oauth.api.key': 'demo-client',
      'oauth.api.secret': 'canary-of-the-client',
      'oauth.callback.url': 'https://app.example.com/callback',
      'oauth.user.refresh_token': 'canary-of-the-token',
    };
    const { sent } = await linesOf(() =>
      service.send('POST', '/instances', { element: { key: 'box' }, name: 'x', configuration }),
    );
    expect(sent).to.have.length(1);
    expect(sent[0]).to.include({
      level: 'debug',
      element: 'box',
      method: 'POST',
      host: 'api.box.com',
      simulator: true,
    });
    expect(JSON.stringify(sent)).not.to.contain('canary');
  });

  it('has at the level debug each request to the provider, without its query and its secrets', async () => {
    const instance = await service.createInstance('odata', PRIVATE_SHOP);
    const { request, sent } = await linesOf(() =>
      service.call('/Products', { token: instance.token, query: { where: "name = 'canary-of-the-query'" } }),
    );
    expect(sent).to.have.length(Number(request.providerCalls));
    expect(JSON.stringify(sent)).not.to.match(/canary|demo-password/);
    for (const line of sent) {
      const { level, time, ms, ...rest } = line;
      expect(level).to.equal('debug');
      expect(ms).to.be.a('number');
      expect(time).to.be.a('string');
      expect(rest).to.include({
        element: 'odata',
        instanceId: instance.id,
        method: 'GET',
        host: 'shop.example.com',
        simulator: true,
      });
      expect(rest.path).to.match(/^\/odata\/v4\/private\//);
      expect(rest).to.have.any.keys('status', 'failure');
    }
  });

  it('takes a secret out of the path of such a request', async () => {
    const provider: MisbehavingServer = await startMisbehavingServer();
    provider.answer('/', status(404));
    const configuration = {
      'base.url': `${provider.url}/canary-0123456789`,
      username: 'me',
      password: 'canary-0123456789',
    };
    const { sent } = await linesOf(() =>
      service.send('POST', '/instances', { element: { key: 'odata' }, name: 'x', configuration }),
    );
    expect(sent.length).to.be.above(0);
    for (const { path } of sent) expect(path).to.match(/^\/\[redacted\]\//);
    await provider.close();
  });
});
