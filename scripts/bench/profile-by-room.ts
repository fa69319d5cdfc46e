/**
 * Shows where the CPU time of a request goes: profiles the service under the GET of the README at 32 connections, and sums up the time by
 * room of `src` and by library. `node scripts/bench/profile-by-room.ts [--seconds 8] [--list <part of a room's name>]` prints the table,
 * and with `--list` the functions of one room. Simulators run in a thread and are not counted. Compare shares only, because sampling itself
 * costs time.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { createAsk } from '../event-load/channel.ts';
import type { SelfTime, SourcePosition } from './profile-probe.ts';
import { connectDemo, queryOf, UNLIMITED, withService } from './running-service.ts';

const CONNECTIONS = 32;
const WARM_UP_SECONDS = 4;
const MOST_LISTED = 40;
/** Minimum microseconds for a row to be shown. */
const LEAST_US = 0.5;
/** Module whose time is the cost of profiling itself. */
const INSPECTOR = 'node:inspector';
const ROOT = new URL('../../', import.meta.url).href;

const { values: options } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, list: { type: 'string' } },
});
const seconds = Number(options.seconds);

await withService(
  {
    environment: { ...UNLIMITED, LOG_LEVEL: 'info' },
    execArgv: ['--import', join(import.meta.dirname, 'profile-probe.ts')],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  },
  async (service) => {
    const ask = createAsk<'begin' | 'end'>(service.child);
    const request = queryOf(service, (await connectDemo(service)).token);
    await autocannon({ ...request, connections: CONNECTIONS, duration: WARM_UP_SECONDS });
    await ask('begin');
    const { requests, non2xx, errors } = await autocannon({ ...request, connections: CONNECTIONS, duration: seconds });
    if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} responses were not 200, ${errors} requests failed`);
    print(await ask('end'), requests.total);
  },
);

function print(times: readonly SelfTime[], requests: number): void {
  const busy = times.filter(({ url, name }) => name !== '(idle)' && url !== INSPECTOR);
  const us = (of: readonly SelfTime[]) => Number((of.reduce((sum, time) => sum + time.us, 0) / requests).toFixed(1));
  const all = us(busy);
  const rowsOf = (name: string, own: readonly SelfTime[], called: readonly SelfTime[]) => ({
    where: name,
    'share of the CPU time': `${((us(own) / all) * 100).toFixed(1)} %`,
    'µs per request': us(own),
    'with what it calls in Node': us([...own, ...called]),
  });
  const inRoom = Map.groupBy(busy, roomOf);
  const forRoom = Map.groupBy(
    busy.filter(({ calledBy }) => calledBy !== undefined),
    ({ calledBy }) => (calledBy === undefined ? '' : roomOf(calledBy)),
  );
  const rooms = [...inRoom].map(([room, own]) => rowsOf(room, own, forRoom.get(room) ?? []));
  console.table([
    ...inOrder(rooms).filter((row) => row['with what it calls in Node'] >= LEAST_US),
    rowsOf('all', busy, []),
  ]);
  const { list } = options;
  if (list === undefined) return;
  const own = Map.groupBy(
    busy.filter((time) => roomOf(time).includes(list)),
    writePlace,
  );
  const called = Map.groupBy(
    busy.filter(({ calledBy }) => calledBy !== undefined && roomOf(calledBy).includes(list)),
    ({ calledBy }) => (calledBy === undefined ? '' : writePlace(calledBy)),
  );
  const places = [...new Set([...own.keys(), ...called.keys()])];
  const functions = places.map((place) => rowsOf(place, own.get(place) ?? [], called.get(place) ?? []));
  console.table(inOrder(functions).slice(0, MOST_LISTED));
}

function inOrder<Row extends { readonly 'with what it calls in Node': number }>(rows: readonly Row[]): readonly Row[] {
  const cost = (row: Row) => row['with what it calls in Node'];
  return rows.toSorted((one, other) => cost(other) - cost(one));
}

function writePlace({ url, name, line }: SourcePosition): string {
  return `${url.slice(url.lastIndexOf('/') + 1)}:${line} ${name}`;
}

/** Returns the room of a function: `src/api`, `connectors`, the name of a library, or Node.js, in JavaScript or native. */
function roomOf({ url, name }: SourcePosition): string {
  if (url === '') return name === '(garbage collector)' ? 'garbage collection' : 'native code and system calls';
  if (url.startsWith('node:')) return 'node, in JavaScript';
  const path = url.startsWith(ROOT) ? url.slice(ROOT.length) : url;
  const [, library] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return library ?? /^src\/[^/]+|^[^/]+/.exec(path)?.[0] ?? path;
}
