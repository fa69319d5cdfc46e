import { extname } from 'node:path';
import { type RequestHandler, type Response, Router } from 'express';
import type { Console } from '../console.ts';
import { AppError } from '../errors.ts';
import { type KeptResponse, keep, sendKept } from '../http/kept-response.ts';
import { createShared } from '../http/shared.ts';
import { refuseOtherMethods } from './problem.ts';

const CONSOLE_PATH = '/console';

interface Others {
  /** Origins whose pages may frame this one. */
  readonly frames?: readonly string[];
  /** An origin that images come from. */
  readonly images?: string | undefined;
}

/** Returns the content security policy of a page. Everything comes from the service except the given origins, and nothing is inline. */
export function policyFor({ frames = [], images }: Others = {}): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${images === undefined ? '' : ` ${images}`}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frames.length === 0 ? "'none'" : frames.join(' ')}`,
  ].join('; ');
}

const PAGE_HEADERS = {
  'Content-Security-Policy': policyFor(),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  // Windows of other sites that the console opens, or that open it, cannot access it. Those that it opens for OAuth respond by a channel.
  'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
};
/** A file of another content has another name. */
const FOR_EVER = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' };

/** Headers of scripts that pages of any site may load. Their path stays the same for each version, so they are not cached for ever. */
const SCRIPT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'X-Content-Type-Options': 'nosniff',
};

interface ConsolePages {
  readonly sendPage: RequestHandler;
  /** Sends the script that opens the page of a connect session. */
  readonly sendConnectScript: RequestHandler;
  /** Router for the files of the pages, and for all paths of the console. */
  readonly router: Router;
}

/** Creates the pages of the console. All paths below it return the same page, and its script shows the view of the path. */
export function createConsolePages(console: Console): ConsolePages {
  const page = createShared(async () => keep('.html', await console.page('console'), PAGE_HEADERS));
  const files = new Map<string, KeptResponse>();
  const connectScript = createShared(async () => {
    const { bytes } = await console.script('connect-script');
    return keep('.js', bytes, SCRIPT_HEADERS);
  });
  const sendConnectScript: RequestHandler = async (_request, response) => sendKept(response, await connectScript());
  const sendPage: RequestHandler = async (_request, response) => sendKept(response, await page());

  async function sendFile(response: Response, name: string): Promise<void> {
    const bytes = files.has(name) ? undefined : await console.file(name);
    if (bytes !== undefined) files.set(name, keep(extname(name), bytes, FOR_EVER));
    const kept = files.get(name);
    if (kept === undefined) throw new AppError('NOT_FOUND', `The console has no file ${name}.`);
    await sendKept(response, kept);
  }

  const router = Router()
    .get(`${CONSOLE_PATH}/assets/:name`, (request, response) => sendFile(response, request.params.name))
    .get(`${CONSOLE_PATH}/{*path}`, sendPage)
    .all(`${CONSOLE_PATH}/{*path}`, refuseOtherMethods);
  return { sendPage, sendConnectScript, router };
}
