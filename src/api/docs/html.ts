/** Escapes a text for HTML, also for attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** Returns the markup if the condition is true, otherwise an empty text. */
export function when(condition: boolean, html: () => string): string {
  return condition ? html() : '';
}
