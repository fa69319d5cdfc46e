import { expect } from 'chai';
import { useSharedApp } from '../support/app.ts';
import { allowTarget, arrive, type CreatedProxy, createProxy, purgeTargets } from './support/oauth-proxies.ts';
import { APPLICATION, QUERIES, STATES, TARGET } from './support/open-redirects.ts';
import { authorizationOf, countRows, createTenants, updateRows, withDatabase } from './support/tenants.ts';

const state = (url: string) => `state=${encodeURIComponent(url)}`;

describe('the redirect URL of an OAuth proxy', () => {
  const service = useSharedApp();
  let proxy: CreatedProxy;
  /** Of another organization, with a target and an application URL of its own. */
  let foreign: CreatedProxy;

  const addApplicationUrl = (id: number, url: string, headers = {}) =>
    service.send('POST', `/elements/oauthProxies/${id}/applicationUrls`, { url }, { headers });

  before(async () => {
    const strangers = authorizationOf((await createTenants(service)).stranger);
    proxy = await createProxy(service);
    foreign = await createProxy(service, strangers);
    await allowTarget(service, proxy, TARGET);
    await addApplicationUrl(proxy.id, APPLICATION);
    await allowTarget(service, foreign, 'https://foreign.example.com/target');
    await addApplicationUrl(foreign.id, 'https://foreign.example.com/application', strangers);
  });

  async function expectPage(at: Pick<CreatedProxy, 'proxyUrl'>, query: string, words: RegExp): Promise<void> {
    const response = await arrive(at, query);
    expect(response.status, query).to.equal(400);
    expect(response.headers.has('location')).to.equal(false);
    expect(response.headers.has('refresh')).to.equal(false);
    expect(response.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).to.match(/^default-src 'none';/);
    expect(response.headers.get('cache-control')).to.equal('no-store');
    expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(response.body).to.match(words);
    expect(response.body).not.to.match(/<script|http-equiv="refresh"|attacker/i);
  }

  describe('sends a browser on', () => {
    async function expectRedirect(query: string, location: string): Promise<void> {
      for (const method of ['GET', 'HEAD']) {
        const response = await arrive(proxy, query, method);
        expect(response.status, String(response.body)).to.equal(302);
        expect(response.headers.get('location')).to.equal(location);
        expect(response.headers.get('cache-control')).to.equal('no-store');
        expect(response.headers.get('referrer-policy')).to.equal('no-referrer');
        expect(response.headers.get('elements-request-id')).to.match(/^[0-9a-f-]{36}$/);
        expect(response.body).to.equal('');
      }
    }

    it('to the named target, with what the provider sent behind its own query', async () => {
      const query = `code=a%2Fb%2Bc&${state(TARGET)}&realmId=123&scope=a+b%20c&scope=d&empty=&bare`;
      await expectRedirect(query, `${TARGET}&${query}`);
    });

    it('with an error as with a code', async () => {
      const query = `error=access_denied&error_description=The+user+said+no&${state(TARGET)}`;
      await expectRedirect(query, `${TARGET}&${query}`);
    });

    it('to a target without a query', async () => {
      await allowTarget(service, proxy, 'http://localhost:3000');
      const query = `${state('http://localhost:3000')}&code=1`;
      await expectRedirect(query, `http://localhost:3000/?${query}`);
    });

    it('to an application URL, whatever its query', async () => {
      for (const url of [APPLICATION, `${APPLICATION}?tab=2&next=%2Fhome`]) {
        const query = `code=1&${state(url)}`;
        await expectRedirect(query, `${url}${url === APPLICATION ? '?' : '&'}${query}`);
      }
    });

    it('by the parsed form of the URL, and to that', async () => {
      for (const text of [
        ...['HTTPS://APP.EXAMPLE.COM/connected?user=5', 'https://app.example.com:443/connected?user=5'],
        ...['https://app.example.com/x/../connected?user=5', 'https://ａｐｐ.example.com/connected?user=5'],
        ...['https://app。example.com/connected?user=5', 'https://%61pp.example.com/connected?user=5'],
      ]) {
        const query = `${state(text)}&code=1`;
        await expectRedirect(query, `${TARGET}&${query}`);
      }
    });

    it('with line breaks still encoded, so that no header is added', async () => {
      const query = `code=1%0d%0aSet-Cookie:%20a=b&${state(TARGET)}`;
      await expectRedirect(query, `${TARGET}&${query}`);
    });

    it('for 24 hours after the URL was named, and again when it is named again', async () => {
      const url = 'https://app.example.com/later';
      const age = (hours: number) =>
        updateRows(
          service,
          'oauth_proxy_target',
          { proxy_id: proxy.id },
          { created_at: new Date(Date.now() - hours * 3_600_000) },
        );
      await allowTarget(service, proxy, url);
      await age(23.9);
      expect((await arrive(proxy, state(url))).status).to.equal(302);
      await age(24.1);
      await expectPage(proxy, state(url), /not one that this OAuth proxy may redirect to/);
      await allowTarget(service, proxy, url);
      expect((await arrive(proxy, state(url))).status).to.equal(302);
      await allowTarget(service, proxy, TARGET);
    });

    it('no more after the proxy is deleted', async () => {
      const gone = await createProxy(service);
      await allowTarget(service, gone, TARGET);
      expect((await arrive(gone, state(TARGET))).status).to.equal(302);
      await service.send('DELETE', `/elements/oauthProxies/${gone.id}`);
      await expectPage(gone, state(TARGET), /does not belong to any OAuth proxy/);
    });

    it('no more to an application URL that was removed', async () => {
      const url = 'https://old.example.com/';
      await addApplicationUrl(proxy.id, url);
      expect((await arrive(proxy, state(url))).status).to.equal(302);
      const path = `/elements/oauthProxies/${proxy.id}/applicationUrls`;
      await service.call(path, { method: 'DELETE', query: { url } });
      expect((await arrive(proxy, state(url))).status).to.equal(400);
    });

    it('and only by GET', async () => {
      const response = await arrive(proxy, state(TARGET), 'POST');
      expect(response.status).to.equal(405);
      expect(response.headers.get('allow')).to.equal('GET, HEAD');
    });
  });

  describe('answers a page', () => {
    it('without a state, with an empty one and with several', async () => {
      await expectPage(proxy, '', /sent no <code>state<\/code>/);
      await expectPage(proxy, 'code=1', /sent no <code>state<\/code>/);
      await expectPage(proxy, 'code=1&state=', /sent no <code>state<\/code>/);
      await expectPage(proxy, `State=${encodeURIComponent(TARGET)}`, /sent no <code>state<\/code>/);
      await expectPage(proxy, `${state(TARGET)}&${state(TARGET)}`, /more than one <code>state<\/code>/);
    });

    it('for a key that no proxy has', async () => {
      for (const key of [`${'x'.repeat(32)}`, 'x', `${proxy.proxyUrl.split('/').at(-1)}x`, '%00', "'%20or%20''='"]) {
        const proxyUrl = `${service.app.url}/oauth/proxy/${key}`;
        await expectPage({ proxyUrl }, state(TARGET), /does not belong to any OAuth proxy/);
      }
    });
  });

  describe('is no open redirect', () => {
    it('in any of many attempts', () => {
      expect(Object.keys(STATES).length).to.be.greaterThan(40);
    });

    for (const [title, attempt] of Object.entries(STATES)) {
      it(`for ${title}`, async () => {
        const url = attempt.replace('PROXY', proxy.proxyUrl).replace('SERVICE', service.app.url);
        await expectPage(proxy, `code=1&state=${encodeURIComponent(url.toWellFormed())}`, /may redirect to/);
      });
    }

    for (const [title, query] of Object.entries(QUERIES)) {
      it(`for ${title}`, async () => {
        await expectPage(proxy, query, /may redirect to|more than one|sent no/);
      });
    }

    it('for its own target at the proxy of another', async () => {
      await expectPage(foreign, state(TARGET), /may redirect to/);
      await expectPage(foreign, state(APPLICATION), /may redirect to/);
    });
  });

  it('is a 400 without a redirect also where its key is not well encoded', async () => {
    const response = await arrive({ proxyUrl: `${service.app.url}/oauth/proxy/%ff` }, state(TARGET));
    expect([response.status, response.headers.has('location')]).to.deep.equal([400, false]);
  });

  it('keeps no hash by which a URL could be guessed', async () => {
    const url = 'https://app.example.com/?session=1234';
    await allowTarget(service, proxy, url);
    const found = await withDatabase(service, (knex) =>
      knex('oauth_proxy_target').whereRaw('url_hash = sha256(?)', [url]),
    );
    expect(found).to.deep.equal([]);
    expect((await arrive(proxy, state(url))).status).to.equal(302);
  });

  it('forgets the targets that were named before a time', async () => {
    const before = await countRows(service, 'oauth_proxy_target');
    await allowTarget(service, proxy, 'https://app.example.com/old');
    await withDatabase(service, (knex) =>
      knex.raw(`update oauth_proxy_target set created_at = now() - interval '25 hours'
        where created_at = (select max(created_at) from oauth_proxy_target)`),
    );
    expect(await countRows(service, 'oauth_proxy_target')).to.equal(before + 1);
    await purgeTargets(service, new Date(Date.now() - 24 * 3_600_000));
    expect(await countRows(service, 'oauth_proxy_target')).to.equal(before);
    expect((await arrive(proxy, state(TARGET))).status).to.equal(302);
  });
});
