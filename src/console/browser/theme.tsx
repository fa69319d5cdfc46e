/*
 * Runs before anything is painted, so that a page never shows another theme first: a script of its own without imports, which the page waits for.
 * What it keeps and sets is changed by `theme-choice.tsx`.
 */
const chosen = localStorage.getItem('theme');
if (chosen !== null) document.documentElement.dataset.theme = chosen;

export {};
