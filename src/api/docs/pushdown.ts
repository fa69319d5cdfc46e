import { readFile } from 'node:fs/promises';
import { slug } from './markdown.ts';

/** The parts of `generated/pushdown.md`: its legend, and a chapter per element. */
interface Pushdown {
  /** The meaning of the marks. */
  readonly legend: string;
  readonly chapters: ReadonlyMap<string, Chapter>;
}

interface Chapter {
  /** The name of the element. */
  readonly name: string;
  readonly markdown: string;
}

const CHAPTER = /^<!-- element: (\S+) -->\n## (.+)\n/m;
const TITLE = /^[\s\S]*?^# .+\n/m;

/** Reads which filters each provider evaluates. */
export async function readPushdown(file: string): Promise<Pushdown> {
  // Key and name stand between the texts, as `split` returns what its pattern captures.
  const [introduction = '', ...parts] = (await readFile(file, 'utf8')).split(CHAPTER);
  const chapters = Array.from({ length: parts.length / 3 }, (_, index): [string, Chapter] => {
    const [key = '', name = '', markdown = ''] = parts.slice(index * 3);
    return [key, { name, markdown }];
  });
  return { legend: introduction.replace(TITLE, '').trim(), chapters: new Map(chapters) };
}

const titleOf = ({ name }: Chapter) => `Filters that ${name} evaluates`;

/** Returns the chapter of an element for its page. */
export function chapterOf({ legend, chapters }: Pushdown, key: string): string | undefined {
  const chapter = chapters.get(key);
  return chapter && `## ${titleOf(chapter)}\n\n${legend}\n\n${chapter.markdown}`;
}

/** Returns links to the chapters of all elements that have a page. */
export function indexOf(
  { legend, chapters }: Pushdown,
  pages: readonly { readonly key: string; readonly path: string }[],
): string {
  const links = pages.flatMap(({ key, path }) => {
    const chapter = chapters.get(key);
    return chapter === undefined ? [] : [`- [${chapter.name}](${path}#${slug(titleOf(chapter))})`];
  });
  return ['## Filters that each provider evaluates', '', legend, '', ...links, ''].join('\n');
}
