import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startSimulators } from '../../../src/connector/simulators/index.ts';

const SIMULATOR = `
import { createTable, json, simulate, type SimulatorOptions } from '#connector/simulator';

export function createSimulator(options: SimulatorOptions) {
  const things = createTable({ rows: [{ id: 1 }], keyOf: ({ id }) => String(id) });
  return simulate(
    {
      routes: { 'GET /things': ({ origin }) => json({ origin, things: things.rows() }) },
      print: ({ status, message }) => json({ message }, status),
    },
    options,
  );
}
`;

describe('a simulator outside of this repository', () => {
  it('is written with #connector/simulator and served beside the others', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-simulators-'));
    await mkdir(join(folder, 'toy'));
    await writeFile(join(folder, 'toy', 'simulator.ts'), SIMULATOR);
    const simulators = await startSimulators({ port: 0, sources: { folders: [folder] } });
    try {
      const answer = await fetch(`${simulators.url}/toy/things`);
      expect(await answer.json()).to.deep.equal({ origin: `${simulators.url}/toy`, things: [{ id: 1 }] });
    } finally {
      await simulators.stop();
      await rm(folder, { recursive: true });
    }
  });
});
