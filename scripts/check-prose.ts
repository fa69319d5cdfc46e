/**
 * Checks documents and doc comments for phrases that readers have to read twice, and prints each with its line. In connectors and the suite
 * it also checks how each doc comment opens. With `--hints` it also prints long and passive sentences, which are no failure.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'docs/**/*.md',
  'connectors/*/README.md',
  'sdk/*/README.md',
  'src/README.md',
  'spec/**/*.yaml',
];
const sourcesIn = (...folders: readonly string[]) => folders.map((folder) => `${folder}/**/*.{ts,tsx}`);
const SOURCES = sourcesIn('src');
/** Folders in which each doc comment must open with a sentence or a noun, also those of members and of what is not exported. */
const STRICT_SOURCES = sourcesIn(
  ...['connectors', 'suite', 'console', 'embedded', 'scripts', 'sdk/*/src', 'sdk/*/test', 'test/support'],
);

interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** Matches the words of a phrase, also where a line of text or of a comment ends between them. */
function phrase(words: string): RegExp {
  return new RegExp(String.raw`\b${words.replaceAll(' ', String.raw`\s+(?:\*\s+)?`)}\b`, 'gi');
}

const BE = '(?:is|are|was|were|be|been)';

const RULES: readonly Rule[] = [
  { pattern: phrase('and all is well'), instead: 'the result that the reader sees' },
  { pattern: phrase('the most is'), instead: 'the maximum is' },
  { pattern: phrase('what c[ao]mes? of'), instead: 'the outcome of' },
  { pattern: phrase('what became of'), instead: 'the outcome of' },
  { pattern: phrase('who has it'), instead: 'the owner' },
  { pattern: phrase('go(?:es)? on'), instead: 'continues, or resumes' },
  { pattern: phrase(`${BE} (?:not )?told`), instead: 'receives, or is reported' },
  { pattern: phrase(`${BE} (?:not )?asked`), instead: 'is requested, called or searched' },
  {
    pattern: phrase('gives (?:back )?(?:(?:a|an|the|no|all|its) )?(?:error|page|response|result)s?'),
    instead: 'returns',
  },
  {
    pattern: phrase('takes (?:(?:a|an|the|no|any|only) )?(?:condition|field|filter|parameter|request|value)s?'),
    instead: 'accepts',
  },
  { pattern: phrase('t(?:ells?|old) of'), instead: 'reports' },
  { pattern: phrase('whose (?:it is|they are)'), instead: 'the owner' },
  { pattern: phrase('what (?:has |have )?(?:come|becomes?) of'), instead: 'the outcome of' },
];

/** Rules for the first word of a doc comment. */
const COMMENT_RULES: readonly Rule[] = [
  { pattern: /(?<=\/\*\*\s+(?:\*\s+)?)Of\b/g, instead: 'a sentence that stands alone' },
  { pattern: /(?<=\/\*\*\s+(?:\*\s+)?)The most\b/g, instead: 'Maximum' },
];

/** Openings of a fragment, unless a comma or a colon leads to a main clause. */
const PREPOSITIONS =
  'After|Among|As|At|Before|Behind|Below|Beside|By|For|From|In|Into|Like|On|The same|Those|To|Until|Under|With|Without';
const DOC_COMMENT_OF_EXPORT = /\/\*\*(?<text>(?:(?!\*\/)[\s\S])*)\*\/\s*export\b/g;
const FRAGMENT = new RegExp(String.raw`^[\s*]*(?<opening>${PREPOSITIONS})\b(?:(?!\.\s)[^,:])*(?:\.\s|$)`);

const DOC_COMMENT = /\/\*\*(?<text>(?:(?!\*\/)[\s\S])*)\*\//g;
const HEADLESS =
  /^[\s*]*(?<opening>What|Whatever|Whoever|Which|Where|Whose|Who|How|It|Its|They|Them|Others?|Nothing|Nobody|Somebody)\b/;
const PARTICIPLE =
  /^[\s*]*(?<opening>(?:(?!Called)[A-Z]\w+ed|Given|Kept|Known|Made|Said|Seen|Sent|Set|Shown|Taken|Told|Written) (?:after|as|at|before|by|for|from|in|on|once|only|so|to|until|when|where|with|without))\b/;
const TAG_ALONE = /^[\s*]*(?<opening>@(?:param|returns|throws))\b/;
/** Openings that a doc comment must not have in the folders of `STRICT_SOURCES`. */
const STRICT_OPENINGS = [FRAGMENT, HEADLESS, PARTICIPLE, TAG_ALONE];

interface ProseFault {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** Returns each phrase in a Markdown text that a rule rejects, with its line. Code blocks and inline code are skipped. */
export function findInDocument(text: string): readonly ProseFault[] {
  return findIn(proseOfDocument(text), RULES);
}

/**
 * Returns each phrase in the doc comments of a TypeScript text that a rule rejects, with its line, and each comment of an export that begins
 * with a fragment. Inline code is skipped.
 */
export function findInSource(text: string): readonly ProseFault[] {
  const phrases = findIn(proseOfSource(text), [...RULES, ...COMMENT_RULES]);
  return [...phrases, ...findOpenings(text, DOC_COMMENT_OF_EXPORT, [FRAGMENT])].sort((a, b) => a.line - b.line);
}

/**
 * Returns the faults of `findInSource`, and each doc comment of a TypeScript text that does not open with a sentence or a noun: a fragment, a
 * clause without a head, a participle, or a tag such as `@throws` without a sentence before it.
 */
export function findInStrictSource(text: string): readonly ProseFault[] {
  const phrases = findIn(proseOfSource(text), [...RULES, ...COMMENT_RULES]);
  return [...phrases, ...findOpenings(text, DOC_COMMENT, STRICT_OPENINGS)].sort((a, b) => a.line - b.line);
}

function findOpenings(text: string, comment: RegExp, openings: readonly RegExp[]): readonly ProseFault[] {
  return [...text.matchAll(comment)].flatMap(({ index, groups }) =>
    openings.flatMap((pattern) => {
      const opening = pattern.exec(groups?.text ?? '')?.groups?.opening;
      return opening === undefined
        ? []
        : [{ line: lineOf(text, index), found: opening, instead: 'a sentence that stands alone' }];
    }),
  );
}

function findIn(prose: string, rules: readonly Rule[]): readonly ProseFault[] {
  const faults = rules.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map(({ 0: found, index }) => ({
      line: lineOf(prose, index),
      found: found.replace(/\s+(?:\*\s+)?/g, ' '),
      instead,
    })),
  );
  return faults.sort((a, b) => a.line - b.line);
}

/** Blanks in place of what is skipped keep the lines. */
function proseOfDocument(text: string): string {
  return withoutCode(text.replace(/^(```|~~~).*?^\1/gms, blank));
}

function proseOfSource(text: string): string {
  const parts = text.split(/(\/\*\*.*?\*\/)/s);
  // Every second part is a comment.
  return withoutCode(parts.map((part, at) => (at % 2 === 1 ? part : blank(part))).join(''));
}

function withoutCode(text: string): string {
  return text.replace(/`[^`\n]*`/g, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Maximum number of words in a sentence without a hint. The style guide recommends 25. */
const MOST_WORDS = 40;
/** Number of passive verbs in a sentence from which it gets a hint. */
const MANY_PASSIVES = 3;
const PASSIVE = new RegExp(
  String.raw`\b${BE}\s+(?:not\s+|\w+ly\s+)?(?:\w+ed|\w+[wt]n|ke?pt|sent|read|set|made|found|held)\b`,
  'gi',
);

interface Hint {
  readonly line: number;
  readonly hint: string;
}

/** Returns the sentences of a Markdown text that are long or mostly passive, with the line in which they begin. */
export function hintsInDocument(text: string): readonly Hint[] {
  // Tables and headings are no sentences.
  return hintsIn(proseOfDocument(text).replace(/^(?:\||#).*$/gm, blank), /\n\s*(?:\n|[-*]\s|\d+\.\s)/);
}

/** Returns the sentences in doc comments that are long or mostly passive, with the line in which they begin. */
export function hintsInSource(text: string): readonly Hint[] {
  const prose = proseOfSource(text).replace(/\/\*\*|\*\/|^\s*\*/gm, blank);
  return hintsIn(prose, /\n\s*\n|\n\s*@|(?<=\n)\s*(?=@)/);
}

function hintsIn(prose: string, paragraph: RegExp): readonly Hint[] {
  const ends = new RegExp(`${paragraph.source}|[.!?:](?=\\s)`, 'g');
  const hints: Hint[] = [];
  let begin = 0;
  for (const { index, 0: end } of [...prose.matchAll(ends), { index: prose.length, 0: '' }]) {
    const sentence = prose.slice(begin, index);
    const hint = hintOf(sentence);
    const first = begin + sentence.search(/\S|$/);
    if (hint !== undefined) hints.push({ line: lineOf(prose, first), hint });
    begin = index + end.length;
  }
  return hints;
}

function hintOf(sentence: string): string | undefined {
  const words = sentence.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length;
  if (words > MOST_WORDS) return `a sentence of ${words} words`;
  const passives = sentence.match(PASSIVE)?.length ?? 0;
  return passives >= MANY_PASSIVES ? `a sentence with ${passives} passive verbs` : undefined;
}

/** Reads the files and prints a line for each finding. */
function report<Found extends { readonly line: number }>(
  patterns: readonly string[],
  find: (text: string) => readonly Found[],
  print: (found: Found) => string,
): readonly string[] {
  return globSync(patterns, { cwd: ROOT }).flatMap((path) =>
    find(readFileSync(join(ROOT, path), 'utf8')).map((found) => `${path}:${found.line}: ${print(found)}`),
  );
}

if (import.meta.main) {
  if (process.argv.includes('--hints')) {
    const print = ({ hint }: Hint) => hint;
    const sources = [...SOURCES, ...STRICT_SOURCES];
    const hints = [...report(DOCUMENTS, hintsInDocument, print), ...report(sources, hintsInSource, print)];
    for (const hint of hints) console.log(hint);
  }
  const print = ({ found, instead }: ProseFault) => `'${found}': write ${instead}`;
  const faults = [
    ...report(DOCUMENTS, findInDocument, print),
    ...report(SOURCES, findInSource, print),
    ...report(STRICT_SOURCES, findInStrictSource, print),
  ];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
