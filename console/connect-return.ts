import { SOURCE } from './connect/messages.ts';

/** On the page to which a provider has sent a window back: the page that opened it need not wait until it asks again. */
const opener: Window | null = window.opener;
opener?.postMessage({ source: SOURCE, type: 'returned' }, location.origin);
window.close();
