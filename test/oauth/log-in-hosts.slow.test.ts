import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Config, Connector, OAuth2Auth } from '#connector';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { useApp } from '../support/app.ts';

/**
 * A log-in begins before there is an instance. So every setting on which the address of the log-in depends must be a parameter of
 * `GET /elements/{keyOrId}/oauth/url`: `siteAddress`, `sandbox`, or `merchantId`.
 */

const CALLBACK = 'https://app.example.com/callback';

/** What users send as `siteAddress`, with the hosts of the log-in and of the token endpoint. Each element with the parameter has more than one. */
const SITES: Readonly<Record<string, readonly (readonly [site: string, logIn: string, token: string])[]>> = {
  clover: [
    ['eu', 'www.eu.clover.com', 'api.eu.clover.com'],
    ['https://www.la.clover.com', 'www.la.clover.com', 'api.la.clover.com'],
  ],
  concur: [
    ['https://us2.api.concursolutions.com', 'www-us2.api.concursolutions.com', 'us2.api.concursolutions.com'],
    ['eu2.api.concursolutions.com', 'www-eu2.api.concursolutions.com', 'eu2.api.concursolutions.com'],
  ],
  intercom: [
    ['EU', 'app.eu.intercom.com', 'api.eu.intercom.io'],
    ['https://app.au.intercom.com', 'app.au.intercom.com', 'api.au.intercom.io'],
  ],
  salesforce: [
    ['https://acme.my.salesforce.com', 'acme.my.salesforce.com', 'acme.my.salesforce.com'],
    ['test.salesforce.com', 'test.salesforce.com', 'test.salesforce.com'],
  ],
  servicenowoauth: [
    ['https://acme.service-now.com', 'acme.service-now.com', 'acme.service-now.com'],
    ['other.service-now.com', 'other.service-now.com', 'other.service-now.com'],
  ],
  shopify: [
    ['https://acme.myshopify.com', 'acme.myshopify.com', 'acme.myshopify.com'],
    ['other', 'other.myshopify.com', 'other.myshopify.com'],
  ],
  zendesk: [
    ['https://acme.zendesk.com', 'acme.zendesk.com', 'acme.zendesk.com'],
    ['other', 'other.zendesk.com', 'other.zendesk.com'],
  ],
  zohocrm: [
    ['eu', 'accounts.zoho.eu', 'accounts.zoho.eu'],
    ['crm.zoho.in', 'accounts.zoho.in', 'accounts.zoho.in'],
    ['crm.zohocloud.ca', 'accounts.zohocloud.ca', 'accounts.zohocloud.ca'],
  ],
};

/** Elements whose log-in has one host for everybody, although they have a `siteAddress`. */
const ONE_HOST: Readonly<Record<string, string>> = {
  dynamics: 'Microsoft Entra ID has one host. The site is in the scope.',
  jiraoauth: 'Atlassian has one host. The site is chosen by its name after the log-in.',
};

async function load(key: string): Promise<Connector> {
  const module = await import(join(OWN_CONNECTORS, key, 'index.ts'));
  return module.default;
}

/** Returns the settings that a function reads. */
function readBy(addressOf: (config: Config) => string, { configuration }: Connector): readonly string[] {
  const read = new Set<string>();
  const examples = configuration.map(({ key, default: usual, example }) => [key, usual ?? example]);
  const config = new Proxy(Object.fromEntries(examples), {
    get: (target, key) => {
      if (typeof key === 'string') read.add(key);
      return Reflect.get(target, key);
    },
  });
  addressOf(config);
  return [...read];
}

function carriedBy({ siteAddressKey, sandboxKey, merchantIdKey }: OAuth2Auth) {
  return [siteAddressKey, sandboxKey, merchantIdKey].filter((key) => key !== undefined);
}

describe('the host of the log-in', () => {
  const service = useApp();
  const oauth = new Map<string, { readonly connector: Connector; readonly auth: OAuth2Auth }>();

  before(async () => {
    for (const key of readdirSync(OWN_CONNECTORS)) {
      const connector = await load(key);
      if (connector.auth.type === 'oauth2') oauth.set(key, { connector, auth: connector.auth });
    }
  });

  it('depends only on what the request of its address can set', () => {
    for (const [key, { connector, auth }] of oauth) {
      const carried = carriedBy(auth);
      for (const addressOf of [auth.authorizeUrl, auth.tokenUrl].filter((each) => each !== undefined)) {
        const others = readBy(addressOf, connector).filter((each) => !carried.includes(each));
        expect(others, `${key}: settings of its log-in that no parameter of the address carries`).to.be.empty;
      }
    }
  });

  it('is known for every element with a site', () => {
    const sited = [...oauth].filter(([, { auth }]) => auth.siteAddressKey !== undefined).map(([key]) => key);
    expect(sited.sort()).to.deep.equal([...Object.keys(SITES), ...Object.keys(ONE_HOST)].sort());
  });

  for (const [key, sites] of Object.entries(SITES)) {
    it(`of ${key} is the one of the site that the user names`, async () => {
      const { connector, auth } = oauth.get(key) ?? expect.fail(`'${key}' has no log-in.`);
      for (const [siteAddress, logIn, token] of sites) {
        const query = { apiKey: 'client', callbackUrl: CALLBACK, siteAddress, state: 's' };
        const { status, body } = await service.call(`/elements/${key}/oauth/url`, { query });
        expect(status, `${siteAddress} ${JSON.stringify(body)}`).to.equal(200);
        expect(new URL(body.oauthUrl).host).to.equal(logIn);
        const site = /^https:/.test(siteAddress) ? new URL(siteAddress).host : siteAddress;
        const config = { [auth.siteAddressKey ?? '']: site };
        expect(new URL(auth.tokenUrl(config)).host, siteAddress).to.equal(token);
        const hosts = typeof connector.hosts === 'function' ? connector.hosts(config) : connector.hosts;
        expect(hosts.some((host) => token.endsWith(host.replace('*', '')))).to.equal(true);
      }
    });
  }

  it('of elements with a sandbox is another one in the sandbox, or has another address behind it', async () => {
    for (const [key, { auth, connector }] of oauth) {
      if (auth.sandboxKey === undefined) continue;
      const query = { apiKey: 'client', callbackUrl: CALLBACK, sandbox: 'true', state: 's' };
      const { body } = await service.call(`/elements/${key}/oauth/url`, { query });
      const usual = (await service.call(`/elements/${key}/oauth/url`, { query: { ...query, sandbox: 'false' } })).body;
      const isOther = new URL(body.oauthUrl).host !== new URL(usual.oauthUrl).host;
      const base = (sandbox: boolean) =>
        connector.baseUrl({ [auth.sandboxKey ?? '']: sandbox, realmId: '1', merchantId: 'M' });
      expect(isOther || base(true) !== base(false), key).to.equal(true);
    }
  });

  it('of a single-tenant application of Dynamics has its tenant in the path', async () => {
    const query = { apiKey: 'client', callbackUrl: CALLBACK, siteAddress: 'contoso.crm4.dynamics.com' };
    const tenanted = { ...query, merchantId: 'contoso.onmicrosoft.com' };
    const paths = await Promise.all(
      [query, tenanted].map(async (each) => {
        const { body } = await service.call('/elements/dynamics/oauth/url', { query: each });
        return new URL(body.oauthUrl).pathname.split('/')[1];
      }),
    );
    expect(paths).to.deep.equal(['organizations', 'contoso.onmicrosoft.com']);
  });
});
