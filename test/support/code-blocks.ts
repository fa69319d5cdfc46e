/** A fenced block of a Markdown file. */
export interface CodeBlock {
  /** What stands behind the fence; empty where nothing does. */
  readonly language: string;
  readonly code: string;
}

/** The fenced blocks of a text in their order, those in lists without their indent. */
export function codeBlocks(markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
