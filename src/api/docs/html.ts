/** Text as HTML, in attributes too. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Markup, or nothing where there is nothing to mark up. */
export function when(condition: boolean, html: () => string): string {
  return condition ? html() : '';
}
