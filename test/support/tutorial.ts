/** A tutorial as a reader follows it: files to save, commands to run, and the output that the page shows. */
export type TutorialStep =
  | { readonly kind: 'file'; readonly name: string; readonly code: string }
  | { readonly kind: 'command'; readonly code: string }
  | { readonly kind: 'output'; readonly text: string };

/** Languages of blocks that a reader saves as a file. The paragraph before such a block names the file. */
const SAVED = ['js', 'ts', 'html'];

/**
 * Returns the steps of a page in order. Blocks of `bash` are commands, blocks of `text` are the output of the command before,
 * and blocks of other languages are files.
 *
 * @throws Error for a block that is none of these, or that names no file
 */
export function readTutorial(markdown: string): readonly TutorialStep[] {
  const blocks = markdown.matchAll(/([^\n]*)\n\n```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, sentence = '', language = '', code = '']) => {
    if (language === 'bash') return { kind: 'command', code };
    if (language === 'text') return { kind: 'output', text: code };
    const [, name] = /`([\w./-]+\.\w+)`:$/.exec(sentence) ?? [];
    if (name === undefined || !SAVED.includes(language))
      throw new Error(`'${sentence}' introduces a block of '${language}' without the name of a file.`);
    return { kind: 'file', name, code };
  });
}

/** Whether the output of a command is what a page shows. `…` stands for any text, and a line of `…` for any lines. */
export function isShown(output: string, shown: string): boolean {
  const parts = shown.trim().split('…').map(RegExp.escape);
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`).test(output.replaceAll('\r', '').trim());
}
