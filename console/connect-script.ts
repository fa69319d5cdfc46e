import { type ConnectMessage, FROM, SOURCE, UNREGISTERED } from './connect/messages.ts';

/** `/connect.js`: shows the page of a connect session on a page of a product, and reports the outcome to it. */

interface Options {
  /** The `url` of a connect session. */
  readonly sessionUrl: string;
  /** Default: `window`. */
  readonly mode?: 'window' | 'frame';
  /** Element for the frame, or a selector of it. Without a container, the frame appears in a dialog above the page. */
  readonly container?: Element | string;
}

interface Connected {
  readonly instanceId: number;
  readonly sessionId: number;
}

/** The window or the frame that shows the page of a session. */
interface SessionView {
  readonly target: () => Window | null;
  readonly isGone: () => boolean;
  readonly resize: (height: number) => void;
  readonly remove: () => void;
}

declare global {
  interface Window {
    Causeway: { readonly connect: typeof connect };
  }
}

const TITLE = 'Connect an account';
const WIDTH = 480;
const HEIGHT = 640;
const LOOK_MS = 400;
/** Milliseconds without a message after which the page counts as unreachable. */
const SILENCE_MS = 30_000;

/**
 * Shows the page of a session and resolves when the account is connected. Call it when the user clicks: browsers open windows at no other
 * time.
 * @throws an Error with a `code`: `closed`; `blocked` if the browser opened no window; `unreachable` if the page did not respond;
 * `unregistered` if this page is on none of the connect origins, and then the window stays open and says so; or the outcome of the session:
 * `used`, `ended` or `expired`
 */
async function connect({ sessionUrl, mode, container }: Options): Promise<Connected> {
  const url = new URL(sessionUrl);
  url.searchParams.set(FROM, location.origin);
  // Every page around a frame must be registered.
  if (mode === 'frame') for (const around of location.ancestorOrigins ?? []) url.searchParams.append(FROM, around);
  const view = mode === 'frame' ? openFrame(url.href, container) : openWindow(url.href);
  return hear(view, url.origin);
}

function hear(view: SessionView, origin: string): Promise<Connected> {
  return new Promise((resolve, reject) => {
    const end = () => {
      removeEventListener('message', read);
      clearInterval(look);
      clearTimeout(silence);
      view.remove();
    };
    const fail = (code: string, message: string) => {
      reject(failure(code, message));
      if (code !== UNREGISTERED) end();
    };
    const look = setInterval(() => {
      if (view.isGone()) fail('closed', 'The connect page was closed.');
    }, LOOK_MS);
    const silence = setTimeout(() => {
      fail(
        'unreachable',
        `The connect page did not respond. Check that ${location.origin} is one of the connect origins.`,
      );
    }, SILENCE_MS);
    const read = ({ data, origin: sender, source }: MessageEvent<ConnectMessage | null>) => {
      if (sender !== origin || source !== view.target() || data?.source !== SOURCE) return;
      clearTimeout(silence);
      if (data.type === 'resize') view.resize(data.height);
      if (data.type === 'closed') fail('closed', 'The user cancelled.');
      if (data.type === 'error') fail(data.error.code, data.error.message);
      if (data.type !== 'done') return;
      resolve({ instanceId: data.instanceId, sessionId: data.sessionId });
      end();
    };
    addEventListener('message', read);
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function openWindow(url: string): SessionView {
  const left = screenX + Math.max(0, (outerWidth - WIDTH) / 2);
  const top = screenY + Math.max(0, (outerHeight - HEIGHT) / 2);
  const opened = open(url, '_blank', `popup,width=${WIDTH},height=${HEIGHT},left=${left},top=${top}`);
  if (opened === null)
    throw failure('blocked', 'The browser opened no window. Call this function when the user clicks.');
  return { target: () => opened, isGone: () => opened.closed, resize: () => {}, remove: () => opened.close() };
}

function openFrame(url: string, container: Options['container']): SessionView {
  const frame = document.createElement('iframe');
  frame.src = url;
  frame.title = TITLE;
  Object.assign(frame.style, { display: 'block', width: '100%', height: `${HEIGHT}px`, border: '0' });
  const around = container === undefined ? createDialog() : undefined;
  const parent = around ?? (typeof container === 'string' ? document.querySelector(container) : container);
  if (!parent) throw new TypeError(`There is no ${String(container)} on this page.`);
  parent.append(frame);
  around?.showModal();
  return {
    target: () => frame.contentWindow,
    isGone: () => !frame.isConnected || around?.open === false,
    resize: (height) => {
      frame.style.height = `${height}px`;
    },
    remove: () => (around ?? frame).remove(),
  };
}

/** Creates the dialog around the frame. Escape closes it. */
function createDialog(): HTMLDialogElement {
  const dialog = document.createElement('dialog');
  dialog.ariaLabel = TITLE;
  Object.assign(dialog.style, {
    width: `min(${WIDTH}px, 100vw)`,
    maxWidth: '100vw',
    padding: '0',
    border: '0',
    borderRadius: '8px',
  });
  document.body.append(dialog);
  return dialog;
}

window.Causeway = { connect };
