import type { RequestHandler, Response } from 'express';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { RedirectRefusal } from '../instances/oauth/proxies/redirect.ts';
import { assertLeft } from './caller-limits.ts';
import { createPage } from './page.ts';
import { networkOf } from './remote-address.ts';
import type { TokenBuckets } from './token-buckets.ts';

/** What stands on the page, in words for the person in front of the browser; nothing of the request is repeated. */
const WORDS: Readonly<Record<RedirectRefusal, { readonly what: string; readonly next: string }>> = {
  unknownProxy: {
    what: 'This redirect URL does not belong to any OAuth proxy.',
    next: 'It may have been deleted. List the proxies with <code>GET /elements/oauthProxies</code> and register the <code>proxyUrl</code> of one at the provider.',
  },
  noState: {
    what: 'The provider sent no <code>state</code>, so it is not known where to go on.',
    next: 'Begin with the <code>oauthUrl</code> of <code>GET /elements/{keyOrId}/oauth/url</code> as it was answered, with the URL of your application as <code>state</code>.',
  },
  severalStates: {
    what: 'The address has more than one <code>state</code>, so it is not known which one is meant.',
    next: 'Begin again with the <code>oauthUrl</code> of <code>GET /elements/{keyOrId}/oauth/url</code> as it was answered.',
  },
  notAllowed: {
    what: 'The URL in <code>state</code> is not one that this OAuth proxy may redirect to.',
    next: 'It must be exactly the <code>state</code> that the account of the proxy gave to <code>GET /elements/{keyOrId}/oauth/url</code> in the last 24 hours, or a URL that was added with <code>POST /elements/oauthProxies/{id}/applicationUrls</code>.',
  },
};

export interface ProxyRedirectPorts {
  readonly proxies: Pick<Proxies, 'redirectTarget'>;
  /** For each network that browsers come from. */
  readonly redirects: TokenBuckets;
}

/** `/oauth/proxy/{proxyKey}`: sends a browser that comes from a provider on to an application, or tells it why not. */
export function createProxyRedirect({ proxies, redirects }: ProxyRedirectPorts): RequestHandler {
  return async (request, response) => {
    // Anybody may ask, and it costs a query.
    const network = networkOf(response.locals.address);
    assertLeft('this address', redirects.look(network));
    redirects.take(network);
    // The address has a grant code in it: it goes to the application, and stays nowhere else.
    response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer');
    const [, query = ''] = /\?(.*)$/s.exec(request.originalUrl) ?? [];
    const redirect = await proxies.redirectTarget(String(request.params.proxyKey), query);
    if (redirect.kind === 'refused') return refuse(response, redirect.reason);
    response.status(302).setHeader('Location', redirect.url).end();
  };
}

function refuse(response: Response, reason: RedirectRefusal): void {
  const { what, next } = WORDS[reason];
  const body = `<h1>The way back to your application is not known</h1>\n<p>${what}</p>\n<p>${next}</p>`;
  const { html, contentSecurityPolicy } = createPage({ title: 'Not redirected', body });
  response.status(400).set('Content-Security-Policy', contentSecurityPolicy).type('html').send(html);
}
