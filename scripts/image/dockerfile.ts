/** One instruction of a Dockerfile. */
export interface Step {
  /** In capitals. */
  readonly instruction: string;
  /** What stands behind it, on one line. */
  readonly text: string;
}

/** The instructions in their order, without comments; lines that end in a backslash go on in the next. */
export function parseDockerfile(file: string): readonly Step[] {
  const lines = file
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, instruction = '', text = ''] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? [];
    return { instruction: instruction.toUpperCase(), text };
  });
}
