import { THEME_KEY } from './theme-key.ts';

// Before anything is painted, so that the page never shows another theme first: it waits for this script, which is one of its own.
const chosen = localStorage.getItem(THEME_KEY);
if (chosen !== null) document.documentElement.dataset.theme = chosen;
