/** A fenced block of a Markdown file. */
export interface CodeBlock {
  /** The language after the fence. Empty if there is none. */
  readonly language: string;
  readonly code: string;
}

/** Returns the fenced blocks of a text in their order. Blocks in lists lose their indent. */
export function codeBlocks(markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', code = '']) => ({
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
