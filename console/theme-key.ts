/** Key of the chosen theme in the browser's local storage. */
export const THEME_KEY = 'theme';
