/** Checks documents and the doc comments of `src/` for phrases that readers have to read twice, and prints each with its line. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DOCUMENTS = ['README.md', 'CHANGELOG.md', 'docs/**/*.md', 'connectors/*/README.md', 'sdk/*/README.md'];
const SOURCES = ['src/**/*.ts'];

interface Rule {
  readonly pattern: RegExp;
  readonly instead: string;
}

const RULES: readonly Rule[] = [
  { pattern: /\band all is well\b/i, instead: 'the result that the reader sees' },
  { pattern: /\bthe most is\b/i, instead: 'the maximum is' },
  { pattern: /\bwhat c[ao]me(?:s)? of\b/i, instead: 'the outcome of' },
  { pattern: /\bwhat became of\b/i, instead: 'the outcome of' },
  { pattern: /\bwho has it\b/i, instead: 'the owner' },
  { pattern: /\bgoes on with\b/i, instead: 'continues with, or resumes' },
];

interface ProseFault {
  readonly line: number;
  readonly found: string;
  readonly instead: string;
}

/** Returns each phrase in a Markdown text that a rule rejects, with its line. Code blocks and inline code are skipped. */
export function findInDocument(text: string): readonly ProseFault[] {
  return findIn(text.replace(/^(```|~~~).*?^\1/gms, blank));
}

/** Returns each phrase in the doc comments of a TypeScript text that a rule rejects, with its line. */
export function findInSource(text: string): readonly ProseFault[] {
  const parts = text.split(/(\/\*\*.*?\*\/)/s);
  // Every second part is a comment.
  return findIn(parts.map((part, at) => (at % 2 === 1 ? part : blank(part))).join(''));
}

/** Inline code is no prose. Blanks in place of what is skipped keep the lines. */
function findIn(text: string): readonly ProseFault[] {
  const prose = text.replace(/`[^`\n]*`/g, blank);
  return prose.split('\n').flatMap((line, at) =>
    RULES.flatMap(({ pattern, instead }) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined ? [] : [{ line: at + 1, found, instead }];
    }),
  );
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

if (import.meta.main) {
  const check = (patterns: readonly string[], find: typeof findInDocument) =>
    globSync(patterns, { cwd: ROOT }).flatMap((path) =>
      find(readFileSync(join(ROOT, path), 'utf8')).map(
        ({ line, found, instead }) => `${path}:${line}: '${found}': write ${instead}`,
      ),
    );
  const faults = [...check(DOCUMENTS, findInDocument), ...check(SOURCES, findInSource)];
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
