/** Returns a function that finds out whether a text contains a name as a word. */
export function createMentions(text: string): (name: string) => boolean {
  const words = new Set(text.match(/[\p{L}\p{N}_$]+/gu));
  return (name) => (/^[\p{L}\p{N}_$]+$/u.test(name) ? words.has(name) : text.includes(name));
}
