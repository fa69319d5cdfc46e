import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { rows } from './cap/rows.ts';

export type CapServer = Awaited<ReturnType<typeof startCapServer>>;

const PROJECT = fileURLToPath(new URL('./cap/', import.meta.url));
const SERVE = createRequire(import.meta.url).resolve('@sap/cds/bin/serve.js');

export interface CapOptions {
  /** Returns another model. The server has no rows then. */
  readonly changeModel?: (model: string) => string;
  /** Default: a free one. */
  readonly port?: number;
}

/**
 * Starts a real OData 4 server: SAP CAP on an SQLite database in memory, with the model and the rows of `cap/`.
 * @throws Error with the output of the server if it ends before it listens
 */
export async function startCapServer({ changeModel, port = 0 }: CapOptions = {}) {
  const project = changeModel === undefined ? PROJECT : copyProject(changeModel);
  const server = spawn(process.execPath, [SERVE, 'all', '--from', 'shop.cds', '--port', String(port)], {
    cwd: project,
    env: { ...process.env, NO_COLOR: '1', NODE_ENV: 'test' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An interrupted test run must not leave a server behind.
  process.once('exit', () => server.kill('SIGKILL'));
  const stop = () => stopProcess(server);
  try {
    const origin = await listeningOrigin(server);
    const url = `${origin}/odata/v4/shop`;
    // Another model may not take the rows.
    if (changeModel === undefined) await seed(url);
    return { url, port: Number(new URL(origin).port), rows, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the folder of a copy of the project with another model. */
function copyProject(changeModel: (model: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-cap-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  cpSync(PROJECT, folder, { recursive: true });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  const file = join(folder, 'shop.cds');
  const model = readFileSync(file, 'utf8');
  const changed = changeModel(model);
  if (changed === model) throw new Error('The model is the same.');
  writeFileSync(file, changed);
  return folder;
}

/** Returns the origin, which the server prints when it is ready. */
async function listeningOrigin(server: ChildProcess): Promise<string> {
  const printed: string[] = [];
  const output = [server.stdout, server.stderr].flatMap((stream) => (stream === null ? [] : [stream]));
  const found = new Promise<string>((resolve, reject) => {
    for (const stream of output) {
      createInterface(stream).on('line', (line) => {
        printed.push(line);
        const port = /listening on .*localhost:(\d+)/.exec(line)?.[1];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
    }
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`The CAP server ended before it listened:\n${printed.join('\n')}`)));
  });
  return found;
}

/** Sends the first rows, with one JSON batch for each entity set. */
async function seed(url: string): Promise<void> {
  for (const [set, records] of Object.entries(rows)) {
    const requests = records.map((body, id) => ({
      id: String(id),
      method: 'POST',
      url: `/${set}`,
      headers: { 'content-type': 'application/json' },
      body,
    }));
    const response = await fetch(`${url}/$batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    });
    const text = await response.text();
    const statuses = text.match(/"status":\s*\d+/g) ?? [];
    if (statuses.length !== records.length || statuses.some((status) => !status.endsWith('201'))) {
      throw new Error(`The CAP server did not take the rows of ${set}: ${response.status} ${text.slice(0, 2000)}`);
    }
  }
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}
