import { createHash } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Console } from '../console.ts';
import type { TokenBuckets } from '../http/rate-limits.ts';
import { networkOf } from '../http/remote-address.ts';
import type { Proxies } from '../instances/oauth/proxies/proxies.ts';
import type { RedirectRefusal } from '../instances/oauth/proxies/redirect.ts';
import { decodeQuery, searchOf } from '../pairs.ts';
import { escapeHtml } from './docs/html.ts';
import type { DocsPage } from './docs/layout.ts';

const STYLE = `
  body { font: 16px/1.55 system-ui, sans-serif; color: #1d2733; max-width: 68rem; margin: 2rem auto; padding: 0 1.5rem; }
  h1 { border-bottom: 2px solid #d5dde6; padding-bottom: .3rem; margin-top: 2.5rem; }
  h3 { margin-top: 2rem; }
  table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
  th, td { border: 1px solid #d5dde6; padding: .3rem .6rem; text-align: left; vertical-align: top; }
  th { background: #f2f5f9; }
  td[align=center], th[align=center] { text-align: center; }
  code { background: #f2f5f9; padding: .1rem .25rem; border-radius: 3px; font-size: .92em; }
  pre { background: #f2f5f9; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; }
  pre code { padding: 0; }
  nav { font-size: .95em; }
`;

/** The page needs its own style and nothing else, unless it has a script. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

interface PageParts {
  readonly title: string;
  readonly body: string;
  /** The path of one of this service. */
  readonly script?: string | undefined;
  /** English unless given. */
  readonly language?: string;
}

/** Creates a page of text; `title` and `body` are HTML. */
export function createPage({ title, body, script, language = 'en' }: PageParts): DocsPage {
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${body}
${script === undefined ? '' : `<script src="${script}"></script>\n`}</body>
</html>
`;
  return { html, contentSecurityPolicy: script === undefined ? POLICY : `${POLICY}; script-src 'self'` };
}

/** The parameters that providers send with the browser (RFC 6749, 4.1.2 and 4.1.2.1), the most useful first. */
const KNOWN = ['code', 'state', 'error', 'error_description'];
const MAX_PARAMETERS = 50;

/**
 * Creates the handler of `/oauth/callback`. This redirect URL serves the console, whose window it notifies, and people who try an
 * authorization by hand. It stores nothing and exchanges nothing.
 */
export function createCallback(console: Pick<Console, 'script'>): RequestHandler {
  return async (request, response) => {
    const query = searchOf(request.originalUrl);
    // Without its scripts, the console shows an error by itself, and this page is still useful by hand.
    const script = await console.script('oauth-callback').catch(() => undefined);
    const { html, contentSecurityPolicy } = callbackPage([...decodeQuery(query)], script?.path);
    response
      // The address has a grant code in it: it stays nowhere.
      .set('Cache-Control', 'no-store')
      .set('Referrer-Policy', 'no-referrer')
      .set('Content-Security-Policy', contentSecurityPolicy)
      .type('html')
      .send(html);
  };
}

type SentParameters = readonly (readonly [name: string, value: string])[];

function callbackPage(sent: SentParameters, script: string | undefined) {
  const parameters = inOrder(sent).slice(0, MAX_PARAMETERS);
  const { title, words } = describe(parameters);
  const next = findValue(parameters, 'code') === undefined ? '' : nextStep(parameters);
  return createPage({ title, body: `<h1>${title}</h1>\n<p>${words}</p>\n${table(parameters)}\n${next}`, script });
}

function inOrder(sent: SentParameters): SentParameters {
  const known = KNOWN.flatMap((name) => sent.filter(([given]) => given === name));
  return [...known, ...sent.filter(([name]) => !KNOWN.includes(name))];
}

function describe(parameters: SentParameters): { readonly title: string; readonly words: string } {
  if (findValue(parameters, 'error') !== undefined) {
    return {
      title: 'Access was not authorized',
      words:
        'The provider returned an error and no code, so nothing was connected. To try again, request a new <code>oauthUrl</code> and open it.',
    };
  }
  if (findValue(parameters, 'code') !== undefined) {
    return {
      title: 'Authorized',
      words:
        'The provider sent this code. It can be used once, within a few minutes. Keep it secret: together with your client secret, it grants access.',
    };
  }
  return {
    title: 'The address has no code',
    words:
      'Use this redirect URL to try OAuth by hand. Register it at the provider, send it as <code>callbackUrl</code> to <code>GET /elements/{keyOrId}/oauth/url</code>, and open the returned <code>oauthUrl</code>.',
  };
}

function findValue(parameters: SentParameters, name: string): string | undefined {
  return parameters.find(([given]) => given === name)?.[1];
}

function table(parameters: SentParameters): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(([name, value]) => {
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><code>${escapeHtml(value)}</code></td></tr>`;
  });
  return `<table>\n${rows.join('\n')}\n</table>`;
}

/** Shows the parameters to copy. Every parameter counts, because some providers need more than the code. */
function nextStep(parameters: SentParameters): string {
  const body = {
    element: { key: '<element key>' },
    name: '<a name>',
    providerData: Object.fromEntries(parameters),
    configuration: {
      'oauth.api.key': '<client id>',
      'oauth.api.secret': '<client secret>',
      'oauth.callback.url': '<the URL of this page, up to the question mark>',
    },
  };
  return `<h2>Next step</h2>
<p>Send this to <code>POST /elements/api-v2/instances</code>, with the secrets of the user and the organization in the <code>Authorization</code> header.</p>
<pre><code>${escapeHtml(JSON.stringify(body, null, 2))}</code></pre>`;
}

/** The texts of the page, for the person in front of the browser. They never repeat a part of the request. */
const WORDS: Readonly<Record<RedirectRefusal, { readonly what: string; readonly next: string }>> = {
  unknownProxy: {
    what: 'This redirect URL does not belong to any OAuth proxy.',
    next: 'It may have been deleted. List the proxies with <code>GET /elements/oauthProxies</code> and register the <code>proxyUrl</code> of one at the provider.',
  },
  noState: {
    what: 'The provider sent no <code>state</code>, so the service does not know the URL of your application.',
    next: 'Start again: send the URL of your application as <code>state</code> to <code>GET /elements/{keyOrId}/oauth/url</code>, and open the returned <code>oauthUrl</code> unchanged.',
  },
  severalStates: {
    what: 'The address has more than one <code>state</code>, so the service does not know which one to use.',
    next: 'Start again with the unchanged <code>oauthUrl</code> of <code>GET /elements/{keyOrId}/oauth/url</code>.',
  },
  notAllowed: {
    what: 'The URL in <code>state</code> is not one that this OAuth proxy may redirect to.',
    next: 'It must be exactly the <code>state</code> that the account of the proxy sent to <code>GET /elements/{keyOrId}/oauth/url</code> in the last 24 hours, or a URL that was added with <code>POST /elements/oauthProxies/{id}/applicationUrls</code>.',
  },
};

/**
 * Creates the handler of `/oauth/proxy/{proxyKey}`. It redirects a browser from a provider to an application, or explains why it does not.
 * @param redirects rate limits for the networks of browsers
 */
export function createProxyRedirect(proxies: Pick<Proxies, 'redirectTarget'>, redirects: TokenBuckets): RequestHandler {
  return async (request, response) => {
    // Anybody may send these requests, and each costs a query.
    const network = networkOf(response.locals.address);
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
  const body = `<h1>The service cannot return to your application</h1>\n<p>${what}</p>\n<p>${next}</p>`;
  const { html, contentSecurityPolicy } = createPage({ title: 'Not redirected', body });
  response.status(400).set('Content-Security-Policy', contentSecurityPolicy).type('html').send(html);
}
