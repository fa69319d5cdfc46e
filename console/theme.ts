import { THEME_KEY } from './theme-key.ts';

// Runs before the page is painted, so that it never shows another theme first. The page waits for this script, which is a small file of its
// own.
const chosen = localStorage.getItem(THEME_KEY);
if (chosen !== null) document.documentElement.dataset.theme = chosen;
