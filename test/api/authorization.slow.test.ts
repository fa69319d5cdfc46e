import { expect } from 'chai';
import { type ApiAnswer, ORGANIZATION_SECRET, USER_SECRET, useApp } from '../support/app.ts';
import { expectProblem } from './support/expect-problem.ts';
import { useInstance } from './support/instances.ts';
import { sendRaw } from './support/raw-request.ts';
import { SHOP } from './support/simulated.ts';
import { useTenants } from './support/tenants.ts';

const FORM =
  '`User <secret>, Organization <secret>` for the platform, `User <secret>, Element <token>` for an instance';
const USER = `User ${USER_SECRET}`;
const ORGANIZATION = `Organization ${ORGANIZATION_SECRET}`;
const WRONG_SECRET = 'The User or Organization secret in the Authorization header is not valid.';
const WRONG_TOKEN = 'The Element token is not valid, or its instance was deleted.';

function expectUnauthenticated(response: ApiAnswer, message: string): void {
  expectProblem(response, 'UNAUTHENTICATED', message);
  expect(response.headers.get('www-authenticate')).to.equal('User realm="causeway"');
}

describe('authorization', () => {
  const service = useApp();
  const tenants = useTenants(service);
  const instance = useInstance(service, 'odata', SHOP);

  const get = (path: string, authorization: string) => service.call(path, { headers: { authorization } });

  describe('of platform calls', () => {
    it('needs the header', async () => {
      const response = await sendRaw(service.app.url, { path: '/elements/api-v2/elements' });
      expectUnauthenticated(response, `The Authorization header is missing. Send ${FORM}.`);
    });

    const unreadable = `The Authorization header cannot be read. Send ${FORM}.`;
    const withoutUser = `The Authorization header has no User. Send ${FORM}.`;
    const withoutOrganization = 'This path also needs `Organization <secret>` in the Authorization header.';
    const refused: Readonly<Record<string, readonly [string, string]>> = {
      'an empty header': ['', `The Authorization header is missing. Send ${FORM}.`],
      'blanks alone': ['  ', `The Authorization header is missing. Send ${FORM}.`],
      'a keyword without its secret': ['User', 'The Authorization header has no secret after User.'],
      'half a header': [`${USER}, Organization`, 'The Authorization header has no secret after Organization.'],
      'User alone': [USER, withoutOrganization],
      'Organization alone': [ORGANIZATION, withoutUser],
      'Element alone': ['Element abc', withoutUser],
      'an unknown keyword': [`Bearer ${USER_SECRET}`, unreadable],
      'an unknown keyword beside the known ones': [`${USER}, ${ORGANIZATION}, Admin yes`, unreadable],
      'no comma between the parts': [`${USER} ${ORGANIZATION}`, unreadable],
      'an empty part': [`${USER},, ${ORGANIZATION}`, unreadable],
      'a comma at the end': [`${USER}, ${ORGANIZATION},`, unreadable],
      'a keyword twice with one secret': [`${USER}, ${USER}`, 'The Authorization header has User twice.'],
      'a keyword twice in two spellings': [
        `${USER}, ${ORGANIZATION}, organization x`,
        'The Authorization header has organization twice.',
      ],
      'letters that look like ours': [`Usér ${USER_SECRET}, ${ORGANIZATION}`, unreadable],
      'a wrong user secret': [`User wrong, ${ORGANIZATION}`, WRONG_SECRET],
      'a wrong organization secret': [`${USER}, Organization wrong`, WRONG_SECRET],
      'the secrets exchanged': [`User ${ORGANIZATION_SECRET}, Organization ${USER_SECRET}`, WRONG_SECRET],
      'a secret with a letter too many': [`${USER}x, ${ORGANIZATION}`, WRONG_SECRET],
      'a secret in another case': [`User ${USER_SECRET.toUpperCase()}, ${ORGANIZATION}`, WRONG_SECRET],
      'the names of members of objects': ['User __proto__, Organization constructor', WRONG_SECRET],
      'more than any secret has': [
        `User ${'x'.repeat(5000)}, ${ORGANIZATION}`,
        'The Authorization header is longer than 4096 characters.',
      ],
    };
    for (const [what, [authorization, message]] of Object.entries(refused)) {
      it(`refuses ${what}`, async () => expectUnauthenticated(await get('/elements', authorization), message));
    }

    it('refuses the secret of another organization', async () => {
      const authorization = `${USER}, Organization ${tenants.stranger.organizationSecret}`;
      expectUnauthenticated(await get('/elements', authorization), WRONG_SECRET);
    });

    it('refuses two headers', async () => {
      const response = await sendRaw(service.app.url, {
        path: '/elements/api-v2/elements',
        headers: { authorization: [USER, ORGANIZATION] },
      });
      expect(response.status).to.equal(401);
    });

    for (const authorization of [
      `${ORGANIZATION}, ${USER}`,
      `user ${USER_SECRET}, ORGANIZATION ${ORGANIZATION_SECRET}`,
      `  User   ${USER_SECRET}  ,Organization\t${ORGANIZATION_SECRET} `,
    ]) {
      it(`takes the parts in any order and case, with any blanks: ${JSON.stringify(authorization)}`, async () => {
        expect((await get('/elements', authorization)).status).to.equal(200);
      });
    }

    it('checks the caller before it reads the body', async () => {
      const response = await service.send('POST', '/instances', '{', {
        headers: { authorization: 'User x, Organization y' },
      });
      expectUnauthenticated(response, WRONG_SECRET);
    });

    it('does not say whether a path exists to somebody unknown', async () => {
      for (const path of ['/instances/999', '/accounts/999/instances', '/instances/x/y/z']) {
        expectUnauthenticated(await get(path, `User wrong, ${ORGANIZATION}`), WRONG_SECRET);
      }
    });
  });

  describe('of calls on an instance', () => {
    it('is User and Element', async () => {
      expect((await get('/Products', `${USER}, Element ${instance.token}`)).status).to.equal(200);
    });

    it('takes the Organization as well, if it is the right one', async () => {
      const authorization = `${USER}, ${ORGANIZATION}, Element ${instance.token}`;
      expect((await get('/Products', authorization)).status).to.equal(200);
      const wrong = `${USER}, Organization wrong, Element ${instance.token}`;
      expectUnauthenticated(await get('/Products', wrong), WRONG_SECRET);
    });

    it('is not Organization and Element', async () => {
      const response = await get('/Products', `${ORGANIZATION}, Element ${instance.token}`);
      expectUnauthenticated(response, `The Authorization header has no User. Send ${FORM}.`);
    });

    it('needs a token for the paths of an instance', async () => {
      const message =
        'This path needs an instance. Add `Element <token>` to the Authorization header; in a session of the console, send the header Elements-Element-Instance-Id.';
      for (const path of [
        ...['/objects', '/objects/Products/metadata', '/query/explain', '/ping', '/bulk/query'],
        ...['/hubs/general/Products', '/hubs/general/objects'],
      ]) {
        expectUnauthenticated(await get(path, `${USER}, ${ORGANIZATION}`), message);
      }
      expect((await get('/hubs', `${USER}, ${ORGANIZATION}`)).status).to.equal(200);
      expect((await get('/hubs/', `${USER}, ${ORGANIZATION}`)).status).to.equal(200);
    });

    it('is needed to find an object: without a token there is no such path, for those who are known', async () => {
      const hint = 'If it is an object of an element, add `Element <token>` to the Authorization header.';
      for (const path of ['/Products', '/Products/1', '/']) {
        const message = `There is no GET /elements/api-v2${path}. ${hint}`;
        expectProblem(await get(path, `${USER}, ${ORGANIZATION}`), 'NOT_FOUND', message);
        expectUnauthenticated(await get(path, `${USER}, Organization wrong`), WRONG_SECRET);
      }
    });

    it('needs the Organization for a path of the platform, token or not', async () => {
      const message = 'This path also needs `Organization <secret>` in the Authorization header.';
      const response = await get(`/instances/${instance.id}`, `${USER}, Element ${instance.token}`);
      expectUnauthenticated(response, message);
    });

    it('refuses what is no token', async () => {
      for (const token of ['x', instance.token.slice(1), `${instance.token}x`, String(instance.id), '__proto__']) {
        expectUnauthenticated(await get('/Products', `${USER}, Element ${token}`), WRONG_TOKEN);
      }
    });

    it('takes the token from another user of the account', async () => {
      const response = await tenants.colleague.call('/Products', { token: instance.token });
      expect(response.status).to.equal(200);
    });

    it('refuses the token of a deleted instance', async () => {
      const { id, token } = await service.createInstance('odata', SHOP);
      expect((await service.call('/Products', { token })).status).to.equal(200);
      await service.send('DELETE', `/instances/${id}`);
      expectUnauthenticated(await service.call('/Products', { token }), WRONG_TOKEN);
      expectUnauthenticated(await service.call('/instances', { token }), WRONG_TOKEN);
    });

    it('is of the platform where the element has no object of that name, and then needs the Organization', async () => {
      for (const path of ['/elements', '/accounts/instances', '/notifications', '/events/test']) {
        expectUnauthenticated(
          await instance.call(path),
          'This path also needs `Organization <secret>` in the Authorization header.',
        );
      }
    });
  });

  describe('of what belongs to another tenant', () => {
    it('answers 404 for the account of a stranger and for no account alike', async () => {
      for (const id of [String(tenants.stranger.accountId), '999999', '01', '1 ', 'x', "1' or '1'='1", '%']) {
        const response = await service.call(`/accounts/${encodeURIComponent(id)}/instances`);
        expectProblem(response, 'NOT_FOUND', `There is no account ${/^\d+$/.test(id) ? id : `'${id}'`}.`);
      }
    });
  });

  describe('of a disabled instance', () => {
    const disabled = useInstance(service, 'odata', SHOP);
    before(async () => {
      await service.send('DELETE', `/instances/${disabled.id}/enabled`);
    });

    it('answers 403 to every call on its objects', async () => {
      const requests: readonly (readonly [string, string, unknown?])[] = [
        ['GET', '/Products'],
        ['GET', '/Products/1'],
        ['POST', '/Products', { Name: 'x' }],
        ['PATCH', '/Products/1', { Name: 'x' }],
        ['PUT', '/Products/1', { Name: 'x' }],
        ['DELETE', '/Products/1'],
        ['GET', '/Products/1/Lines'],
        ['GET', '/hubs/general/Products'],
      ];
      for (const [method, path, body] of requests) {
        const response = await disabled.send(method, path, body);
        const message = `Instance ${disabled.id} is disabled. Enable it with PUT /instances/${disabled.id}/enabled.`;
        expectProblem(response, 'FORBIDDEN', message);
      }
    });

    it('still answers what its objects are', async () => {
      for (const path of [
        ...['/objects', '/objects/Products/metadata', '/hubs/general/objects'],
        ...['/hubs/general/objects/Products/metadata', '/instances'],
      ]) {
        expect((await disabled.call(path)).status, path).to.equal(200);
      }
    });
  });

  it('lets nobody have words blanked out for others by sending them as secrets', async () => {
    await get('/elements', 'User requestId, Organization message');
    await get('/elements', 'User Authorization, Organization "code":');
    const { body } = await get('/elements', '');
    expect(body).to.have.all.keys('requestId', 'code', 'message');
    expect(body.message).to.match(/^The Authorization header is missing/);
  });
});
