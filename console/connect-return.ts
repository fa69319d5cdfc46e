import { SOURCE } from './connect/messages.ts';

/**
 * The page to which a provider redirects the browser in a separate window. It notifies the page that opened the window, so that page need
 * not poll.
 */
const opener: Window | null = window.opener;
opener?.postMessage({ source: SOURCE, type: 'returned' }, location.origin);
window.close();
