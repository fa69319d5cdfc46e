import type { Request, RequestHandler, Response } from 'express';
import { type Connected, callerOf } from '../connect/completion.ts';
import { type Arrival, AWAY_MS, type RefusedArrival } from '../connect/departures.ts';
import type { ConnectPage } from '../connect/page.ts';
import { PAGE_PATH } from '../connect/sessions.ts';
import type { Console, PageData } from '../console.ts';
import { type AppError, isAppError, redactAppError } from '../errors.ts';
import { signalEnd } from '../http/connection.ts';
import type { TokenBuckets } from '../http/rate-limits.ts';
import { networkOf } from '../http/remote-address.ts';
import type { RedactCall } from '../http/request-log.ts';
import { decodeQuery, findCookie, searchOf } from '../pairs.ts';
import { createRedactor } from '../redaction.ts';
import type { Trace } from '../trace.ts';
import { ACCESS } from './access.ts';
import type { Audit } from './audit.ts';
import { CONNECT_WORDS, type ConnectLanguage, type ConnectWords, type Words } from './connect-words.ts';
import { policyFor } from './console-pages.ts';
import { escapeHtml } from './docs/html.ts';
import { createPage } from './oauth-pages.ts';
import type { KnownCaller } from './redact-call.ts';

interface ConnectPageParts {
  readonly page: ConnectPage;
  readonly console: Console;
  readonly audit: Audit;
  readonly redactCall: RedactCall;
  /** Rate limits per network of the browsers. */
  readonly requests: TokenBuckets;
  /** Public URL of the service, without a slash at the end. */
  readonly publicUrl: () => string;
}

export type ConnectPages = ReturnType<typeof createConnectPages>;

const MARK_SECONDS = AWAY_MS / 1000;

/** Creates the handlers of the URLs that browsers open for connect sessions, outside the base path. */
export function createConnectPages(parts: ConnectPageParts) {
  const { page, console, audit, redactCall, requests, publicUrl } = parts;

  /** Counts a request against the limit of its network, because anybody may send these requests and each costs a query. */
  function count(response: Response): void {
    const network = networkOf(response.locals.address);
    requests.take(network);
  }

  async function finish(request: Request, response: Response, arrival: Arrival): Promise<Connected> {
    const { session } = arrival;
    const principal = callerOf(session);
    response.locals.principal = principal;
    const trace: Trace = response.locals.trace;
    const access = ACCESS.completeConnectPage;
    const call = { id: 'completeConnectPage', access, principal, params: {}, instance: undefined } as const;
    trace.audit = audit.entryOf(request, response, call);
    return audit.run(trace.audit, () => page.finish(arrival, parametersOf(request), signalEnd(response)));
  }

  /** Responds to a window that a provider has sent back. The script closes the window, if the browser lets it. */
  async function endPopup(response: Response, language: ConnectLanguage, words: Words): Promise<void> {
    sendPage(response, { ...words, status: 200, language, script: (await console.script('connect-return')).path });
  }

  /** Responds to a browser that cannot continue here. */
  function stop(response: Response, status: number, wordsOf: (words: ConnectWords) => Words): void {
    const language = languageOf(response.req);
    sendPage(response, { ...wordsOf(CONNECT_WORDS[language]), status, language });
  }

  /**
   * Returns a page for a frame or window that cannot have the page of a session. It states the reason and knows nothing of the session. So
   * any page may frame it; otherwise nothing could state the reason.
   */
  async function standIn(response: Response, status: number, data: PageData = {}): Promise<void> {
    const html = await console.page('connect-refused', data);
    response
      .status(status)
      .set('Content-Security-Policy', policyFor({ frames: ['*'] }))
      .type('html')
      .send(html);
  }

  return {
    showPage: async (request: Request, response: Response) => {
      count(response);
      setPrivate(response);
      response.set('X-Content-Type-Options', 'nosniff');
      const claims = claimsOf(request);
      const session = await page.find(String(request.params.key));
      if (session === undefined)
        return claims.length === 0 ? stop(response, 404, ({ gone }) => gone) : standIn(response, 404);
      const refusal = await page.refuse(session, claims);
      if (refusal !== undefined) {
        const { origin, canRegister } = refusal;
        return standIn(response, 403, { origin, registrable: String(canRegister) });
      }
      const { language, ...others } = await page.looksOf(session);
      // The origins of its organization may frame it. `X-Frame-Options` cannot name them.
      response
        .set('Content-Security-Policy', policyFor(others))
        .type('html')
        .send(await console.page('connect-page', language === undefined ? {} : { language }));
    },

    /** Sends a browser on to a provider. */
    depart: async (request: Request, response: Response) => {
      count(response);
      setPrivate(response);
      // Fetch Metadata: the page does not open a link that one person sent to another.
      const site = request.get('sec-fetch-site') ?? 'same-origin';
      const departure = site === 'same-origin' ? await page.depart(String(request.params.ticket)) : undefined;
      if (departure === undefined) return stop(response, 400, ({ noTicket }) => noTicket);
      const { id, value } = departure.mark;
      response.setHeader('Set-Cookie', printMark(publicUrl(), id, value));
      response.status(302).setHeader('Location', departure.url).end();
    },

    /** Handles a browser that returns from a provider. One whose authorization began elsewhere is passed to `showCallback`. */
    arrive:
      (showCallback: RequestHandler): RequestHandler =>
      async (request, response, next) => {
        const { state } = parametersOf(request);
        if (state === undefined) return showCallback(request, response, next);
        count(response);
        const arrival = await page.arrive(state, (id) => readMark(publicUrl(), request, id));
        if (arrival === undefined) return showCallback(request, response, next);
        setPrivate(response);
        if (arrival.kind === 'refused')
          return stop(response, 400, ({ refused, back }) => withWayBack(refused[arrival.reason], arrival, back));
        const { key } = arrival.session;
        const { elementKey, opener } = arrival.request;
        note(response, { redactor: createRedactor([key, parametersOf(request).code ?? '']) });
        const isPopup = opener === 'popup';
        const language = languageOf(request, (await page.looksOf(arrival.session)).language);
        const { done, failed } = CONNECT_WORDS[language];
        const back = `${publicUrl()}${PAGE_PATH}/${key}?${new URLSearchParams({ element: elementKey, returned: '' })}`;
        try {
          const { returnUrl = back } = await finish(request, response, arrival);
          if (isPopup) return await endPopup(response, language, done);
          response.status(303).setHeader('Location', returnUrl).end();
        } catch (error) {
          if (!isAppError(error) || error.code === 'INTERNAL') throw error;
          response.locals.errorCode = error.code;
          if (!isPopup) return void response.status(303).setHeader('Location', back).end();
          const shown = redactAppError(error, redactCall(request, response));
          await endPopup(response, language, failure(shown, failed));
        }
      },
  };
}

function note(response: Response, caller: KnownCaller): void {
  response.locals.caller = caller;
}

/** The address of the page, and the data of the browser, are secrets: they must not be cached or sent elsewhere. */
function setPrivate(response: Response): void {
  response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer');
}

/** The first of each name. */
function parametersOf({ originalUrl }: Request): Readonly<Record<string, string>> {
  return Object.fromEntries([...decodeQuery(searchOf(originalUrl))].toReversed());
}

/** `Sec-Fetch-Dest` of a page that stands in another one. */
const EMBEDDED: readonly string[] = ['iframe', 'frame', 'embed', 'object'];

/**
 * Returns the origins of the pages around this one, as the script reports them. For other frames, the browser reports the nearest, unless a
 * policy forbids it.
 */
function claimsOf(request: Request): readonly string[] {
  const said = decodeQuery(searchOf(request.originalUrl)).getAll('from');
  if (said.length > 0) return said.slice(0, MOST_CLAIMS);
  const isEmbedded = EMBEDDED.includes(request.get('sec-fetch-dest') ?? '');
  return isEmbedded ? [request.get('referer') ?? ''] : [];
}

/** Frames in frames. */
const MOST_CLAIMS = 10;

const MARK_NAME = 'causeway-connect';

/** Returns the name of the cookie. As with the cookie of the console, no other host of the domain can set it over HTTPS. */
function markName(publicUrl: string, id: number): string {
  return `${publicUrl.startsWith('https:') ? '__Host-' : ''}${MARK_NAME}-${id}`;
}

/** `Lax`: the provider's page leads back here. */
function printMark(publicUrl: string, id: number, value: string): string {
  const secure = publicUrl.startsWith('https:') ? ['Secure'] : [];
  const attributes = ['Path=/', 'HttpOnly', 'SameSite=Lax', `Max-Age=${MARK_SECONDS}`, ...secure];
  return [`${markName(publicUrl, id)}=${value}`, ...attributes].join('; ');
}

function readMark(publicUrl: string, { headers: { cookie = '' } }: Request, id: number): string | undefined {
  return findCookie(cookie, markName(publicUrl, id));
}

/** Returns the language of the session, or otherwise the one that the browser prefers. */
function languageOf(request: Request, ofSession?: ConnectLanguage): ConnectLanguage {
  const asked = request.acceptsLanguages([...LANGUAGES]);
  return ofSession ?? LANGUAGES.find((language) => language === asked) ?? 'en';
}

const LANGUAGES: readonly ConnectLanguage[] = ['en', 'de', 'fr', 'es'];

function withWayBack(words: Words, { left }: RefusedArrival, label: string): Words {
  if (left === undefined) return words;
  const path = `${PAGE_PATH}/${left.key}?${new URLSearchParams({ element: left.elementKey })}`;
  return { ...words, words: `${words.words}</p>\n<p><a href="${escapeHtml(path)}">${label}</a>` };
}

function failure({ message, providerMessage }: AppError, { title, close }: ConnectWords['failed']): Words {
  const said = providerMessage === undefined ? '' : `</p>\n<p>${escapeHtml(providerMessage)}`;
  return { title, words: `${escapeHtml(message)}${said}</p>\n<p>${close}` };
}

interface SentPage extends Words {
  readonly status: number;
  readonly language: ConnectLanguage;
  /** The path of one of this service. */
  readonly script?: string;
}

function sendPage(response: Response, { status, title, words, ...parts }: SentPage): void {
  const body = `<h1>${title}</h1>\n<p>${words}</p>`;
  const { html, contentSecurityPolicy } = createPage({ title, body, ...parts });
  response.status(status).set('Content-Security-Policy', contentSecurityPolicy).type('html').send(html);
}
