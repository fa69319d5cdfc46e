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
      const response = await fetch(`${simulators.url}/toy/things`);
      expect(await response.json()).to.deep.equal({ origin: `${simulators.url}/toy`, things: [{ id: 1 }] });
    } finally {
      await simulators.stop();
      await rm(folder, { recursive: true });
    }
  });

  it('that cannot be loaded answers so, and keeps neither the others nor the start from working', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-simulators-'));
    for (const [key, source] of Object.entries({ toy: SIMULATOR, broken: 'export const CLIENTS = {};' })) {
      await mkdir(join(folder, key));
      await writeFile(join(folder, key, 'simulator.ts'), source);
    }
    const simulators = await startSimulators({ port: 0, sources: { folders: [folder] } });
    try {
      const statusOf = async (path: string) => (await fetch(`${simulators.url}${path}`)).status;
      expect(await statusOf('/broken/things')).to.equal(500);
      expect(await statusOf('/toy/things')).to.equal(200);
      expect(await statusOf('/other/things')).to.equal(404);
      const fault = await simulators.findAccount('broken').catch((error: unknown) => error);
      expect(String(fault)).to.match(/exports no createSimulator\.$/);
      expect(await simulators.findAccount('toy')).to.deep.equal({ configuration: {} });
      expect(await simulators.findAccount('other')).to.equal(undefined);
    } finally {
      await simulators.stop();
      await rm(folder, { recursive: true });
    }
  });
});
