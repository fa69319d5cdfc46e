/** Paths that the service knows before anybody opens a page, which is when the rest of this folder is loaded. */
export const REFERENCE_PATH = '/docs';
export const QUERY_LANGUAGE_PATH = '/docs/reference/where';
export const ASSETS_PATH = '/docs/assets';

/** The folders of docs/. */
export const GUIDE_KINDS = ['tutorials', 'how-to', 'reference', 'explanation'] as const;
