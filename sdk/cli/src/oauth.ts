import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { CAUSEWAY } from './command-name.js';
import { receive } from './receiver.js';

/** The result of an authorization in the browser. */
export interface Authorization {
  readonly code: string;
  readonly state: string;
  readonly callbackUrl: string;
}

export interface AuthorizationOptions {
  readonly port: number;
  /** The callback URL that is registered with the provider. Default: the address of this machine. */
  readonly callbackUrl?: string;
  readonly signal: AbortSignal;
}

const CALLBACK_PATH = '/oauth/callback';

/**
 * Waits on this machine until the provider's page redirects the browser with a code.
 * @param send shows the user the page for this callback URL and state
 * @throws Error if the user or the provider refused, or the reason of the signal if it aborted
 */
export async function authorize(
  { port, callbackUrl, signal }: AuthorizationOptions,
  send: (callbackUrl: string, state: string) => Promise<void>,
): Promise<Authorization> {
  const state = randomBytes(24).toString('base64url');
  let settle: { readonly resolve: (code: string) => void; readonly reject: (reason: unknown) => void } | undefined;
  const redirected = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The redirect may arrive before anybody waits for it.
  redirected.catch(() => undefined);
  const abort = () => settle?.reject(signal.reason);
  signal.addEventListener('abort', abort);
  await using receiver = await receive(port, async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || pathname !== CALLBACK_PATH) return page(response, 404, 'This page does not exist.');
    // Any page in the browser can send a request here. Only the one that was opened knows the state.
    if (!isSame(searchParams.get('state') ?? '', state))
      return page(response, 400, `This is not the log-in that ${CAUSEWAY} connect waits for.`);
    const code = searchParams.get('code');
    const refusal = searchParams.get('error_description') ?? searchParams.get('error') ?? 'it returned no code';
    await page(
      response,
      200,
      code === null
        ? 'The account was not connected. The terminal shows the reason.'
        : 'Connected. You can close this page and return to the terminal.',
    );
    if (code === null) settle?.reject(new Error(`The provider did not authorize the access: ${refusal}`));
    else settle?.resolve(code);
  });
  try {
    const url = callbackUrl ?? `http://127.0.0.1:${receiver.port}${CALLBACK_PATH}`;
    await send(url, state);
    return { code: await redirected, state, callbackUrl: url };
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Sends a page to the browser. It resolves when the response is complete, so that the server can be closed. */
function page(response: ServerResponse, status: number, text: string): Promise<void> {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close',
  });
  return new Promise((resolve) => {
    response.end(
      `<!doctype html><title>Causeway</title><p style="font: 1.2em sans-serif; margin: 3em">${text}</p>\n`,
      resolve,
    );
  });
}

function isSame(text: string, expected: string): boolean {
  const bytes = Buffer.from(text);
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}
