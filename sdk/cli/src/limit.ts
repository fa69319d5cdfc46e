/** Returns the first `count` entries. No page beyond them is requested. */
export async function* first<Entry>(count: number, entries: AsyncIterable<Entry>): AsyncGenerator<Entry, void> {
  let left = count;
  for await (const entry of entries) {
    yield entry;
    if (--left <= 0) return;
  }
}
