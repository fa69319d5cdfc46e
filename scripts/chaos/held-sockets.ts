import { Socket } from 'node:net';

/** What a connection does before it does nothing more. */
type Behaviour = (socket: Socket, target: Target) => void;

interface Target {
  readonly url: string;
  readonly authorization: string;
}

const TRICKLE_MS = 5_000;
const PIPELINED = 20;
/** None is closed from this side, so each costs this process a descriptor until the end. */
const REOPEN_MS = 10_000;

const BEHAVIOURS = {
  'sends nothing': () => {},
  'half a header': (socket) => void socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\nX-Half: '),
  'a header byte by byte': (socket) => {
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const timer = setInterval(() => socket.write('x'), TRICKLE_MS);
    socket.once('close', () => clearInterval(timer));
  },
  'half a body': (socket, { authorization }) => {
    const head = `POST /elements/api-v2/instances HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":`);
  },
  'half a body, unauthorized': (socket) => {
    socket.write('POST /elements/api-v2/instances HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"name":');
  },
  garbage: (socket) => void socket.write('GARBAGE\r\n\r\n'),
  'idle after an answer': (socket) => {
    socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
  },
  'never reads': (socket) => void socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED)),
} as const satisfies Readonly<Record<string, Behaviour>>;

export type Kind = keyof typeof BEHAVIOURS;
/** It does not even see that the service ends it. */
const SILENT_READER: Kind = 'never reads';
export const KINDS = Object.keys(BEHAVIOURS) as readonly Kind[];

interface Held {
  readonly kind: Kind;
  readonly socket: Socket;
  readonly openedAt: number;
}

export interface KindReport {
  readonly opened: number;
  readonly endedByService: number;
  readonly shortestSeconds: number | undefined;
  readonly longestSeconds: number | undefined;
}

function rangeOf(seconds: readonly number[]): [number, number] {
  const tenths = seconds.map((value) => Math.round(value * 10) / 10);
  return [Math.min(...tenths), Math.max(...tenths)];
}

/**
 * Opens that many connections of all kinds in equal parts, none of which is ever closed from this side. One that the
 * service ends is opened again.
 */
export function holdSockets(target: Target, count: number) {
  const { hostname, port } = new URL(target.url);
  const held = new Set<Held>();
  const opened = new Map<Kind, number>();
  const lives = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  let reopens = true;

  function open(kind: Kind): void {
    // Half-open: the end of the other side is not answered by an end of ours.
    const socket = new Socket({ allowHalfOpen: true });
    const entry: Held = { kind, socket, openedAt: performance.now() };
    held.add(entry);
    opened.set(kind, (opened.get(kind) ?? 0) + 1);
    const behave: Behaviour = BEHAVIOURS[kind];
    socket.connect({ host: hostname, port: Number(port) }, () => {
      if (kind !== SILENT_READER) socket.resume();
      behave(socket, target);
    });
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      lives.get(kind)?.push((performance.now() - entry.openedAt) / 1000);
      if (reopens) setTimeout(() => open(kind), REOPEN_MS).unref();
    };
    socket.once('end', over).once('close', over).on('error', over);
  }

  for (let index = 0; index < count; index++) open(KINDS[index % KINDS.length] ?? 'garbage');

  return {
    stopReopening: () => {
      reopens = false;
    },
    report: (): Readonly<Record<Kind, KindReport>> => {
      const rows = KINDS.map((kind) => {
        const seconds = lives.get(kind) ?? [];
        const [shortestSeconds, longestSeconds] = seconds.length === 0 ? [] : rangeOf(seconds);
        const row = { opened: opened.get(kind) ?? 0, endedByService: seconds.length, shortestSeconds, longestSeconds };
        return [kind, row] as const;
      });
      return Object.fromEntries(rows) as Record<Kind, KindReport>;
    },
    close: () => {
      reopens = false;
      for (const { socket } of held) socket.destroy();
    },
  };
}
