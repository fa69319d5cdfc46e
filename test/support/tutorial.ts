/** A step that a reader of a tutorial takes, or the output that the page shows after it. */
export type TutorialStep =
  | { readonly kind: 'file'; readonly name: string; readonly code: string }
  | { readonly kind: 'command'; readonly code: string }
  | { readonly kind: 'other terminal'; readonly code: string }
  | { readonly kind: 'output'; readonly text: string };

export interface TutorialSection {
  readonly title: string;
  readonly steps: readonly TutorialStep[];
}

/** Languages of blocks that a reader saves as a file. The paragraph before such a block names the file. */
const SAVED = ['js', 'ts', 'html'];

/**
 * Returns the sections of a page with their steps. Blocks of `bash` are commands, those of `sh` are for another terminal. Blocks of
 * `text` below a command of the same section are its output, and blocks of other languages are files.
 *
 * @throws Error for a block of another language, or for a file without a name
 */
export function readTutorial(markdown: string): readonly TutorialSection[] {
  const [, ...sections] = markdown.split(/^## /m);
  return sections.map((section) => {
    const blocks = section.matchAll(/([^\n]*)\n\n```(\w*)\n([\s\S]*?)^```$/gm);
    const steps = [...blocks].map(([, sentence = '', language = '', code = '']) => readStep(sentence, language, code));
    return { title: section.split('\n')[0] ?? '', steps: steps.filter(isTaken) };
  });
}

function readStep(sentence: string, language: string, code: string): TutorialStep {
  if (language === 'bash') return { kind: 'command', code };
  if (language === 'sh') return { kind: 'other terminal', code };
  if (language === 'text') return { kind: 'output', text: code };
  const [, name] = /`([\w./-]+\.\w+)`:$/.exec(sentence) ?? [];
  if (name === undefined || !SAVED.includes(language))
    throw new Error(`'${sentence}' introduces a block of '${language}' without the name of a file.`);
  return { kind: 'file', name, code };
}

/** Returns whether a step is executed. A text without a command before it is a picture. */
function isTaken({ kind }: TutorialStep, index: number, steps: readonly TutorialStep[]): boolean {
  return kind !== 'output' || steps.slice(0, index).some((step) => step.kind === 'command');
}

/** Returns whether the output of a command is what the page shows. `…` stands for any text, and a line of `…` for any lines. */
export function isShown(output: string, shown: string): boolean {
  const parts = shown.trim().split('…').map(RegExp.escape);
  return new RegExp(`^${parts.join('[\\s\\S]*?')}$`).test(output.replaceAll('\r', '').trim());
}
