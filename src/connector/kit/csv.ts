/** Maximum number of cells in a row: as many as a record may have members. */
const MOST_CELLS = 100_000;

/**
 * The rows of a text of CSV (RFC 4180), their names first; rows end with CRLF or LF.
 * @throws Error where a quote is open or closes too early, and for a row of more than 100,000 cells
 */
export function* csvRows(text: string): Generator<readonly string[], void> {
  let cells: string[] = [];
  const add = (cell: string) => {
    if (cells.push(cell) > MOST_CELLS) throw new Error(`The CSV has a row of more than ${MOST_CELLS} cells.`);
  };
  for (let at = 0; at < text.length; ) {
    const end = text[at] === '"' ? endOfQuoted(text, at) : endOfPlain(text, at);
    add(text[at] === '"' ? text.slice(at + 1, end - 1).replaceAll('""', '"') : text.slice(at, end));
    if (text[end] === ',') {
      at = end + 1;
      // The last cell of a text may be empty.
      if (at === text.length) add('');
      continue;
    }
    at = end + (text[end] === '\r' ? 2 : 1);
    yield cells;
    cells = [];
  }
  if (cells.length > 0) yield cells;
}

const END = /[,\n]|\r\n/g;

function endOfPlain(text: string, begin: number): number {
  END.lastIndex = begin;
  return END.exec(text)?.index ?? text.length;
}

/** Behind the closing quote. */
function endOfQuoted(text: string, begin: number): number {
  const end = closingQuote(text, begin) + 1;
  const isWhole = end > 0 && (end === text.length || /^(?:,|\n|\r\n)/.test(text.slice(end, end + 2)));
  if (!isWhole) throw new Error(`The CSV has a quoted text at ${begin} that does not end.`);
  return end;
}

/** Where the quote is that closes the one at `begin`: the first that is not doubled. -1: none does. */
export function closingQuote(text: string, begin: number): number {
  let at = text.indexOf('"', begin + 1);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}
