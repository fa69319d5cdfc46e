import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SimulatorMemory } from '../contract.ts';

/** Creates a memory that is a file of JSON, which only its owner can read. */
export function createMemory(file: string): SimulatorMemory {
  return {
    load: () => (existsSync(file) ? parse(file) : undefined),
    // The file is written at once, so that the next process knows everything that was sent. It is renamed, so that a crash leaves the old
    // file.
    save: (value) => {
      mkdirSync(dirname(file), { recursive: true });
      const draft = `${file}.new`;
      writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
      renameSync(draft, file);
    },
  };
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(
      `${file} is not what a simulator saved. Delete it: simulators then forget the tokens they issued.`,
      {
        cause: error,
      },
    );
  }
}
