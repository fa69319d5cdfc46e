/** Path of the documentation. Paths are constants of their own, because the service needs them before it loads the rest of this folder. */
export const REFERENCE_PATH = '/docs';
/** The page made from the README, where a new reader begins. */
export const FIRST_STEPS_PATH = '/docs/guides/readme';
export const QUERY_LANGUAGE_PATH = '/docs/reference/where';
export const ASSETS_PATH = '/docs/assets';

/** Folders of `docs/`. */
export const GUIDE_KINDS = ['tutorials', 'how-to', 'reference', 'explanation'] as const;
