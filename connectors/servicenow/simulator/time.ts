/** `yyyy-MM-dd HH:mm:ss`, in UTC. */
export function printMoment(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** The same as ISO 8601; a day is its first second. Undefined for anything else. */
export function readMoment(text: string): string | undefined {
  const iso = `${text.length === 10 ? `${text} 00:00:00` : text}`.replace(' ', 'T');
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(iso)) return undefined;
  const ms = Date.parse(`${iso}Z`);
  // The thirtieth of February is none, though it can be parsed.
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== iso ? undefined : `${iso}Z`;
}
