import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SimulatorMemory } from '../contract.ts';

/** A file of JSON for its owner alone. */
export function createMemory(file: string): SimulatorMemory {
  return {
    load: () => (existsSync(file) ? parse(file) : undefined),
    // At once, so that nothing is answered which the next process does not know; renamed, so that a death in between leaves the old.
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
