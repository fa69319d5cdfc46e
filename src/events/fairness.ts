/** Something of which there is only so much, shared by all accounts. Amounts are counts or bytes. */
export interface Pool {
  /** What this account may take now, at least 0. */
  readonly room: (accountId: number) => number;
  /** What it has. */
  readonly usedBy: (accountId: number) => number;
  /** Below 0 when more was taken than there was room for. */
  readonly free: () => number;
  /** Default 1. Whoever must is not refused. */
  readonly take: (accountId: number, amount?: number) => void;
  readonly give: (accountId: number, amount?: number) => void;
}

/** Kept for accounts that have little. */
const RESERVED_SHARE = 1 / 4;
/** What every account may have whatever the others do. */
const ASSURED_SHARE = 1 / 128;
/** Beyond it an account may have so many times what is left outside the reserve. */
const GREED = 2;

/**
 * Shares by what is left. An account that is alone gets half of the whole, because then the other half is free, of which half is the reserve;
 * the more accounts take much, the less each gets, and none has to give anything back. Up to 32 accounts that take all they can leave every
 * other one its assured share.
 */
export function createPool(total: number): Pool {
  const reserved = Math.floor(total * RESERVED_SHARE);
  const assured = Math.max(1, Math.floor(total * ASSURED_SHARE));
  const uses = new Map<number, number>();
  let free = total;

  const usedBy = (accountId: number): number => uses.get(accountId) ?? 0;

  function change(accountId: number, amount: number): void {
    free -= amount;
    const used = usedBy(accountId) + amount;
    if (used === 0) uses.delete(accountId);
    else uses.set(accountId, used);
  }

  return {
    room: (accountId) => {
      const used = usedBy(accountId);
      // The largest amount after which it has at most GREED times what is then left outside the reserve.
      const fair = Math.floor((GREED * (free - reserved) - used) / (GREED + 1));
      return Math.max(0, fair, Math.min(free, assured - used));
    },
    usedBy,
    free: () => free,
    take: (accountId, amount = 1) => change(accountId, amount),
    give: (accountId, amount = 1) => change(accountId, -amount),
  };
}

/** First in, first out, without moving what stays. */
export interface Fifo<Item> {
  readonly size: number;
  readonly push: (item: Item) => void;
  readonly peek: () => Item | undefined;
  readonly shift: () => Item | undefined;
  /** Takes all. */
  readonly drain: () => Item[];
}

const COMPACT_AT = 1024;

export function createFifo<Item>(): Fifo<Item> {
  let items: Item[] = [];
  let head = 0;

  function compact(): void {
    if (head < COMPACT_AT || head * 2 < items.length) return;
    items = items.slice(head);
    head = 0;
  }

  return {
    get size() {
      return items.length - head;
    },
    push: (item) => void items.push(item),
    peek: () => items[head],
    shift: () => {
      const item = items[head];
      if (head >= items.length) return undefined;
      head++;
      compact();
      return item;
    },
    drain: () => {
      const taken = items.slice(head);
      items = [];
      head = 0;
      return taken;
    },
  };
}

/** What waits, by account: accounts take turns, and each has one thing taken in its turn, the first that came. */
export interface Rotation<Item> {
  readonly push: (accountId: number, item: Item) => void;
  /** Whose turn it is; undefined: nobody's. */
  readonly turn: () => number | undefined;
  /** What `shift` would take. */
  readonly peek: () => Item | undefined;
  readonly shift: () => Item | undefined;
  /** It has no turn until it is resumed. */
  readonly pause: (accountId: number) => void;
  readonly resume: (accountId: number) => void;
}

interface Line<Item> {
  readonly accountId: number;
  readonly items: Fifo<Item>;
  paused: boolean;
  /** It stands among those that have turns. */
  queued: boolean;
}

/** Lines that are empty. To make one for each thing that comes to an account would cost more than the rest of its turn. */
const KEPT_LINES = 256;

export function createRotation<Item>(): Rotation<Item> {
  const lines = new Map<number, Line<Item>>();
  const turns = createFifo<Line<Item>>();

  function lineOf(accountId: number): Line<Item> {
    const known = lines.get(accountId);
    if (known !== undefined) return known;
    const line = { accountId, items: createFifo<Item>(), paused: false, queued: false };
    lines.set(accountId, line);
    return line;
  }

  function queue(line: Line<Item>): void {
    if (line.queued || line.paused || line.items.size === 0) return;
    line.queued = true;
    turns.push(line);
  }

  function current(): Line<Item> | undefined {
    for (let line = turns.peek(); line?.paused === true; line = turns.peek()) {
      turns.shift();
      line.queued = false;
    }
    return turns.peek();
  }

  return {
    push: (accountId, item) => {
      const line = lineOf(accountId);
      line.items.push(item);
      queue(line);
    },
    turn: () => current()?.accountId,
    peek: () => current()?.items.peek(),
    shift: () => {
      const line = current();
      if (line === undefined) return undefined;
      turns.shift();
      line.queued = false;
      const item = line.items.shift();
      if (line.items.size > 0) queue(line);
      else if (lines.size > KEPT_LINES) lines.delete(line.accountId);
      return item;
    },
    pause: (accountId) => {
      const line = lines.get(accountId);
      if (line !== undefined && line.items.size > 0) line.paused = true;
    },
    resume: (accountId) => {
      const line = lines.get(accountId);
      if (line?.paused !== true) return;
      line.paused = false;
      queue(line);
    },
  };
}
