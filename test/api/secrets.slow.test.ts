import { expect } from 'chai';
import { type ApiAnswer, ENCRYPTION_KEYS, useSharedApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { BAMBOOHR, PRIVATE_SHOP } from './support/simulated.ts';
import { authorizationOf, createTenants, readEverything } from './support/tenants.ts';

const NEW_PASSWORD = 'a-password-that-is-wrong-"1"';

describe('secrets', () => {
  const service = useSharedApp();
  const answers: ApiAnswer[] = [];
  const secrets: string[] = [];

  before('a service that has been used', async () => {
    const { stranger } = await createTenants(service);
    const record = async (...input: Parameters<typeof service.call>) => {
      const response = await service.call(...input);
      answers.push(response);
      return response;
    };
    const body = { element: { key: 'odata' }, name: 'Shop', configuration: PRIVATE_SHOP };
    const headers = { 'idempotency-key': 'the-first-key' };
    const shop = await service.change('POST', '/instances', body, { headers });
    const people = await service.createInstance('bamboohr', BAMBOOHR);
    secrets.push(
      service.userSecret,
      service.organizationSecret,
      stranger.userSecret,
      stranger.organizationSecret,
      PRIVATE_SHOP.password,
      NEW_PASSWORD,
      BAMBOOHR.username,
      shop.token,
      people.token,
      ENCRYPTION_KEYS.slice('test:'.length),
    );

    const token = shop.token;
    await record('/Products', { token, query: { where: `Name = '${PRIVATE_SHOP.password}'` } });
    await record('/Products', { token, query: { where: `Nmae = '${PRIVATE_SHOP.password}'` } });
    await record(`/Products/${token}`, { token });
    await record(`/${encodeURIComponent(token)}`, { token });
    await record('/Products', { method: 'POST', body: { [token]: 1, Name: token }, token });
    await record('/Products', { method: 'POST', body: { Id: 1, Name: token }, token });
    await record('/employees/1', { token: people.token, method: 'PATCH', body: { hireDate: BAMBOOHR.username } });
    await record('/instances', { method: 'POST', body, headers: { ...headers, authorization: 'User x' } });
    await record('/instances', { method: 'POST', body: `{"password": "${PRIVATE_SHOP.password}" ` });
    await record(`/instances/${shop.id}/configuration`, { method: 'PATCH', body: { password: NEW_PASSWORD } });
    await record('/instances', {
      method: 'POST',
      body: { ...body, configuration: { ...PRIVATE_SHOP, [PRIVATE_SHOP.password]: 1 } },
    });
    await record('/instances', {
      method: 'POST',
      body: { ...body, configuration: { ...PRIVATE_SHOP, password: [NEW_PASSWORD] } },
    });
    await record(`/Products/${PRIVATE_SHOP.password}/x`, { token });
    await record('/instances', { query: { nextPage: token } });
    await record('/Products', { token: `${token}x` });
    await record('/Products', { headers: authorizationOf(stranger, token) });
    await record(`/Products?access_token=${token}`, { token });
  });

  it('are in no table in clear, nor in the usual encodings', async () => {
    const everything = await readEverything(service);
    expect(everything).to.include('app_user').and.include('admin@localhost').and.include('shop.example.com');
    for (const secret of secrets) {
      for (const form of formsOf(secret)) expect(everything.includes(form), `a form of ${secret}`).to.equal(false);
    }
  });

  it('are in no line of the log', () => {
    expect(service.logged.length).to.be.greaterThan(answers.length);
    const text = service.logged.join('\n');
    for (const secret of secrets) expect(text.includes(secret), secret).to.equal(false);
  });

  it('are in no body and no header of an error', () => {
    const errors = answers.filter(({ status }) => status !== 200);
    expect(errors.length).to.equal(answers.length - 1);
    for (const { body, headers } of errors) {
      const text = JSON.stringify([body, [...headers]]);
      for (const secret of secrets) expect(text.includes(secret), `${secret} in ${text}`).to.equal(false);
    }
  });

  it('are taken out of what is quoted, and the rest of the message stays', async () => {
    const { body } = await service
      .createInstance('odata', PRIVATE_SHOP)
      .then(({ token }) => service.call(`/Products/${PRIVATE_SHOP.password}`, { token }));
    expect(body).to.include({
      code: 'PROVIDER_REJECTED',
      providerMessage: "''[redacted]'' is no Edm.Int32, which the key 'Id' is.",
    });
  });

  it('never break the body of an error, whatever they are', async () => {
    const passwords = ['","code":"', '"requestId"', 'REQUEST_INVALID', '"message":', '\\"\\"\\"\\"', '}}}}}}}'];
    for (const password of passwords) {
      const configuration = { ...PRIVATE_SHOP, password };
      const body = { element: { key: 'odata' }, name: 'x', configuration };
      expectProblem(await service.send('POST', '/instances', body), 'PROVIDER_CREDENTIALS_INVALID');
    }
    expectProblem(await service.call('/instances?pageSize=0'), 'REQUEST_INVALID', 'query.pageSize must be >= 1.');
  });
});

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
}
