const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN = [0x5b, 0x7b] as const;
const CLOSE = [0x5d, 0x7d] as const;

/** Returns how many values a JSON text has, about, and how deeply they are nested. */
export function measureJson(text: string): { readonly values: number; readonly depth: number } {
  let values = 1;
  let depth = 0;
  let level = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (code === OPEN[0] || code === OPEN[1]) {
      values++;
      depth = Math.max(depth, ++level);
    } else if (code === CLOSE[0] || code === CLOSE[1]) level--;
  }
  return { values, depth };
}

function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** An odd number of backslashes escapes what follows. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (at - first) % 2 === 1;
}
