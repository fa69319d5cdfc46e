import type { RequestHandler } from 'express';
import { escapeHtml } from './docs/html.ts';
import { createPage } from './page.ts';

/** What providers send with the browser (RFC 6749, 4.1.2 and 4.1.2.1), in the order it is of use. */
const KNOWN = ['code', 'state', 'error', 'error_description'];
const MAX_PARAMETERS = 50;

/** `/oauth/callback`: a redirect URL for people who try an authorization by hand. It keeps nothing and exchanges nothing. */
export const showCallback: RequestHandler = (request, response) => {
  const [, query = ''] = /\?(.*)$/s.exec(request.originalUrl) ?? [];
  const { html, contentSecurityPolicy } = callbackPage([...new URLSearchParams(query)]);
  response
    // The address has a grant code in it: it stays nowhere.
    .set('Cache-Control', 'no-store')
    .set('Referrer-Policy', 'no-referrer')
    .set('Content-Security-Policy', contentSecurityPolicy)
    .type('html')
    .send(html);
};

type Parameters = readonly (readonly [name: string, value: string])[];

function callbackPage(sent: Parameters) {
  const parameters = inOrder(sent).slice(0, MAX_PARAMETERS);
  const { title, words } = describe(parameters);
  const next = findValue(parameters, 'code') === undefined ? '' : nextStep(parameters);
  return createPage({ title, body: `<h1>${title}</h1>\n<p>${words}</p>\n${table(parameters)}\n${next}` });
}

function inOrder(sent: Parameters): Parameters {
  const known = KNOWN.flatMap((name) => sent.filter(([given]) => given === name));
  return [...known, ...sent.filter(([name]) => !KNOWN.includes(name))];
}

function describe(parameters: Parameters): { readonly title: string; readonly words: string } {
  if (findValue(parameters, 'error') !== undefined) {
    return {
      title: 'The authorization was not given',
      words:
        'The provider sent the browser back with an error, so there is no code and nothing was connected. To try again, ask for a new <code>oauthUrl</code> and open it.',
    };
  }
  if (findValue(parameters, 'code') !== undefined) {
    return {
      title: 'Authorized',
      words:
        'The provider sent this code. It can be used once and for a few minutes only; whoever has it and your client secret gets the access, so pass it to nobody.',
    };
  }
  return {
    title: 'Nothing came with the browser',
    words:
      'This is a redirect URL for trying OAuth by hand. Register it at the provider, give it as <code>callbackUrl</code> to <code>GET /elements/{keyOrId}/oauth/url</code>, and open the <code>oauthUrl</code> of the answer.',
  };
}

function findValue(parameters: Parameters, name: string): string | undefined {
  return parameters.find(([given]) => given === name)?.[1];
}

function table(parameters: Parameters): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(([name, value]) => {
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><code>${escapeHtml(value)}</code></td></tr>`;
  });
  return `<table>\n${rows.join('\n')}\n</table>`;
}

/** To be copied: every parameter counts, as some providers need more than the code. */
function nextStep(parameters: Parameters): string {
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
