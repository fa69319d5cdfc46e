/** Headers of a list (decisions D3): how many, and how to go on. */
export function listHeaders(
  count: number,
  next: { readonly url: string; readonly token: string | undefined },
): Record<string, string | number | undefined> {
  return {
    'Elements-Returned-Count': count,
    ...(next.token !== undefined && {
      'Elements-Next-Page-Token': next.token,
      Link: `<${nextUrl(next.url, next.token)}>; rel="next"`,
    }),
  };
}

/** The same request with the token in place of the page it had. */
function nextUrl(given: string, token: string): string {
  // Sent as they are by lax clients; in a Link header they would end the address.
  const url = given.replace(/[<>"#]/g, encodeURIComponent);
  // Most requests have no page yet, and parsing a long URL costs more than the rest of the headers.
  if (!/[?&](?:page|nextPage)=/.test(url)) return `${url}${url.includes('?') ? '&' : '?'}nextPage=${token}`;
  const next = new URL(url);
  next.searchParams.delete('page');
  next.searchParams.set('nextPage', token);
  return next.href;
}
