/** An instruction of a Dockerfile. */
export interface Step {
  /** Name of the instruction in capitals. */
  readonly instruction: string;
  /** Text of the instruction on one line, without its name. */
  readonly text: string;
}

/** Returns the instructions in their order, without comments. Lines that end in a backslash continue in the next line. */
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
