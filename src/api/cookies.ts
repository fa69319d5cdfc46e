/** The cookies of a request, as `name=value`. Not by a pattern: one with blanks on both sides takes seconds over a header of blanks. */
export function cookiesIn(header: string): readonly string[] {
  return header.split(';').map((pair) => pair.trim());
}

/** The value of a cookie; undefined where there is none, or several, of which one is somebody else's doing. */
export function findCookie(header: string, name: string): string | undefined {
  const start = `${name}=`;
  const [found, ...others] = cookiesIn(header).filter((pair) => pair.startsWith(start));
  return others.length > 0 ? undefined : found?.slice(start.length);
}
