import type { SimulatorMemory } from '../contract.ts';

/** A simulator is given one memory, and several of its parts remember. */
export function shareMemory(memory: SimulatorMemory | undefined, name: string): SimulatorMemory {
  return {
    load: () => Object(memory?.load())[name],
    save: (value) => memory?.save({ ...Object(memory.load()), [name]: value }),
  };
}
