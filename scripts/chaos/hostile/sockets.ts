import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { API, asTenant, type HostileInput, type Inputs, type Stage, untilEnd } from './stage.ts';

interface Bytes {
  readonly finding?: string;
  readonly connections: number;
  /** Writes the data of one connection. */
  readonly write: (socket: Socket, stage: Stage) => void;
}

/** Opens connections, writes to them and leaves them open until the attack ends. */
function connections({ finding, connections: count, write }: Bytes): HostileInput {
  return {
    kind: 'socket',
    ...(finding !== undefined && { finding }),
    arm: () => async (stage) => {
      const { attacker, tally, signal } = stage;
      const ends: Promise<unknown>[] = [];
      for (let n = 0; n < count && !signal.aborted; n++) {
        const socket = attacker.open().resume();
        ends.push(noteEnd(socket, stage));
        socket.once('connect', () => write(socket, stage));
        // As fast as one process can open connections, but not as one burst, which the operating system would drop.
        if (n % 50 === 49) await sleep(5);
      }
      await Promise.race([Promise.all(ends), untilEnd(stage)]);
      if (signal.aborted) tally.note('still open');
    },
  };
}

function noteEnd(socket: Socket, { tally }: Stage): Promise<void> {
  socket.once('data', (chunk) => tally.note(chunk.toString('latin1').split('\r\n', 1)[0] ?? ''));
  return new Promise((done) => void socket.once('close', () => done()));
}

function head({ tenant }: Stage, method: string, more = ''): string {
  const { authorization } = asTenant(tenant);
  return `${method} ${API}/instances HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n${more}`;
}

/** Writes a piece at intervals, as long as the connection is open. */
function drip(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}

export const SOCKETS: Inputs = {
  'lines of garbage': connections({
    finding: 'B13',
    connections: 1_000,
    write: (socket) => void socket.write('GARBAGE\r\n\r\n'),
  }),
  'connections that say nothing': connections({ finding: 'B13', connections: 2_000, write: () => {} }),
  'connections that are half closed': connections({
    finding: 'B13',
    connections: 1_000,
    write: (socket) => void socket.end('GET /health/live HT'),
  }),
  'greetings of TLS': connections({
    finding: 'B13',
    connections: 500,
    write: (socket) => void socket.write(Buffer.from('1603010200010001fc0303', 'hex')),
  }),
  'headers that trickle': connections({
    finding: 'B13',
    connections: 500,
    write: (socket, stage) => {
      socket.write(head(stage, 'GET'));
      drip(socket, 'X-A: b\r\n', 100);
    },
  }),
  'bodies that trickle': connections({
    finding: 'B13',
    connections: 500,
    write: (socket, stage) => {
      socket.write(head(stage, 'POST', 'Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n'));
      drip(socket, '[', 50);
    },
  }),
  'headers that are too large': connections({
    connections: 200,
    write: (socket, stage) => void socket.write(head(stage, 'GET', `X-A: ${'b'.repeat(200_000)}`)),
  }),
  'requests in a row': connections({
    connections: 4,
    write: (socket, stage) => void socket.write(`${head(stage, 'GET')}\r\n`.repeat(2_000)),
  }),
  'requests in a row that nobody reads': connections({
    connections: 4,
    write: (socket) => {
      socket.pause();
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2_000));
    },
  }),
  'chunks with extensions': connections({
    connections: 100,
    write: (socket, stage) => {
      socket.write(head(stage, 'POST', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'));
      socket.write(`1;${'a=b;'.repeat(4_000)}\r\n[\r\n`.repeat(20));
    },
  }),
  'chunks of one byte': connections({
    connections: 10,
    write: (socket, stage) => {
      socket.write(head(stage, 'POST', 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'));
      socket.write('1\r\n \r\n'.repeat(200_000));
    },
  }),
  'upgrades and tunnels': connections({
    connections: 300,
    write: (socket, { random, ...stage }) => {
      const more = random.pick([
        'Upgrade: h2c\r\nConnection: Upgrade\r\n',
        'Expect: 100-continue\r\nContent-Length: 9\r\n',
      ]);
      socket.write(`${head({ random, ...stage }, random.pick(['GET', 'CONNECT', 'TRACE', 'POST']), more)}\r\n`);
    },
  }),
};
