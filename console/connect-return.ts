import { SOURCE } from './connect/messages.ts';

/** The page to which a provider returned a window. It notifies the page that opened the window, so that page need not poll. */
const opener: Window | null = window.opener;
opener?.postMessage({ source: SOURCE, type: 'returned' }, location.origin);
window.close();
