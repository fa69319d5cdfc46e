import type { SimulatorMemory } from '../contract.ts';

/** Returns a part of a simulator's memory, so that several parts of the simulator can share one memory. */
export function shareMemory(memory: SimulatorMemory | undefined, name: string): SimulatorMemory {
  return {
    load: () => Object(memory?.load())[name],
    save: (value) => memory?.save({ ...Object(memory.load()), [name]: value }),
  };
}
