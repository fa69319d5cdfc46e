import { expect } from 'chai';
import { useSharedApp } from '../../support/app.ts';
import { expectProblem, faultsOf } from '../support/expect-problem.ts';

const DEFAULTS = {
  'notification.webhook.failure.policy': 'retry',
  'notification.webhook.retry.count': 5,
  'notification.operational.callback.url': null,
};
const PATH = '/accounts/settings';

describe('the settings of an account', () => {
  const service = useSharedApp();
  afterEach(() => service.send('POST', PATH, {}));

  const get = async () => await service.get(PATH);
  const send = (method: 'POST' | 'PATCH', body: unknown) => service.send(method, PATH, body);

  it('have their defaults until something is set', async () => {
    expect(await get()).to.deep.equal(DEFAULTS);
  });

  it('are all shown by GET, POST and PATCH', async () => {
    const set = await send('POST', { 'notification.webhook.failure.policy': 'queue' });
    const expected = { ...DEFAULTS, 'notification.webhook.failure.policy': 'queue' };
    expect(set.status).to.equal(200);
    expect(set.body).to.deep.equal(expected);
    expect(await get()).to.deep.equal(expected);
    const changed = await send('PATCH', { 'notification.webhook.retry.count': 9 });
    expect(changed.body).to.deep.equal({ ...expected, 'notification.webhook.retry.count': 9 });
    expect(await get()).to.deep.equal(changed.body);
  });

  it('get their defaults back by POST, and stay by PATCH', async () => {
    await send('POST', { 'notification.webhook.failure.policy': 'queue' });
    await send('PATCH', {});
    expect(await get()).to.include({ 'notification.webhook.failure.policy': 'queue' });
    await send('POST', { 'notification.webhook.retry.count': 9 });
    expect(await get()).to.deep.equal({ ...DEFAULTS, 'notification.webhook.retry.count': 9 });
  });

  it('make a subscription of the URL for operational events, and forget the URL with null', async () => {
    const url = 'http://127.0.0.1:9/operations';
    await send('PATCH', { 'notification.operational.callback.url': url });
    expect(await get()).to.include({ 'notification.operational.callback.url': url });
    const subscriptions = await service.call('/notifications/subscriptions', { query: { where: `url = '${url}'` } });
    expect(subscriptions.body).to.have.length(1);
    await send('PATCH', { 'notification.operational.callback.url': null });
    expect(await get()).to.deep.equal(DEFAULTS);
  });

  for (const method of ['POST', 'PATCH'] as const) {
    it(`refuse an unknown key by ${method}, naming it and the nearest one`, async () => {
      const response = await send(method, { 'notification.webhook.failure.polcy': 'queue', other: 1 });
      const message =
        "Unknown setting 'notification.webhook.failure.polcy'. Did you mean 'notification.webhook.failure.policy'? (and 1 more, see details)";
      expectProblem(response, 'REQUEST_INVALID', message);
      expect(faultsOf(response)).to.have.property('body.other', "Unknown setting 'other'.");
      expect(response.body.details[0].nearest).to.equal('notification.webhook.failure.policy');
      expect(await get()).to.deep.equal(DEFAULTS);
    });

    it(`refuse a value that a key does not take by ${method}`, async () => {
      for (const body of [
        { 'notification.webhook.failure.policy': 'drop' },
        { 'notification.webhook.failure.policy': null },
        { 'notification.webhook.retry.count': 7 },
        { 'notification.webhook.retry.count': '5' },
        { 'notification.operational.callback.url': 12 },
      ]) {
        const response = await send(method, body);
        expectProblem(response, 'REQUEST_INVALID', new RegExp(Object.keys(body)[0] ?? ''));
      }
      expect(await get()).to.deep.equal(DEFAULTS);
    });

    it(`refuse a callback URL that may not be called by ${method}, and say why`, async () => {
      const key = 'notification.operational.callback.url';
      for (const [url, reason] of [
        ['http://10.0.0.1/x', /10\.0\.0\.1/],
        ['ftp://example.com/x', /ftp/],
        ['not a url', /absolute URL/],
        ['https://user:secret@127.0.0.1/', /user name/],
      ] as const) {
        const response = await send(method, { [key]: url });
        expectProblem(response, 'REQUEST_INVALID', reason);
        expect(response.body.message).to.match(new RegExp(`^'${key}' cannot be called: `));
        expect(response.body.details[0].path).to.equal(`/body/${key}`);
      }
      expect(await get()).to.deep.equal(DEFAULTS);
    });
  }

  it('refuse a body that is no object', async () => {
    for (const body of [[], 'text', null]) {
      const response = await service.send('PATCH', PATH, JSON.stringify(body));
      expectProblem(response, 'REQUEST_INVALID');
    }
  });

  it('do not exist for an account that does not', async () => {
    for (const id of ['999', 'x', '01', '1%00'])
      expectProblem(await service.call(`/accounts/${id}/settings`), 'NOT_FOUND');
  });
});
