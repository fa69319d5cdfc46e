const MOST_LINES = 100;
const MOST_CHARACTERS = 16_384;

/**
 * The lines that a script writes during one call, up to their limits. A line is kept as a whole or not at all, except for a first one that
 * is too long by itself: the part of a secret at the end of a short line could not be recognized.
 */
interface ConsoleLines {
  readonly write: (line: string) => void;
  /** Returns the lines, and begins again without any. */
  readonly take: () => readonly string[];
}

export function createConsoleLines(): ConsoleLines {
  let lines: string[] = [];
  let left = MOST_CHARACTERS;
  return {
    write: (line) => {
      if (lines.length === MOST_LINES || left === 0) return;
      if (line.length > left && lines.length > 0) {
        left = 0;
        return;
      }
      const kept = line.slice(0, left).toWellFormed();
      left -= kept.length;
      lines.push(kept);
    },
    take: () => {
      const taken = lines;
      lines = [];
      left = MOST_CHARACTERS;
      return taken;
    },
  };
}
