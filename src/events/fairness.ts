/** Share that is reserved for accounts that use little. */
const RESERVED_SHARE = 1 / 4;
/** The share that every account can get, whatever the others use. */
const ASSURED_SHARE = 1 / 128;
/** Beyond it, an account can get this multiple of the rest outside the reserve. */
const GREED = 2;

/**
 * Creates a pool that is shared by what is left. An account alone gets half of it, because the other half is then free, and half of that is
 * the reserve. The more accounts use much, the less each gets, and none must return anything. Up to 32 accounts that take all they can
 * leave every other one its assured share.
 */
export function createPool(total: number) {
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

  function room(accountId: number): number {
    const used = usedBy(accountId);
    // The largest amount after which it has at most GREED times what is then left outside the reserve.
    const fair = Math.floor((GREED * (free - reserved) - used) / (GREED + 1));
    return Math.max(0, fair, Math.min(free, assured - used));
  }

  return {
    /** Returns how much the account can take now, at least 0. */
    room,
    /** Returns what may be claimed now: how much in all, the share of an account that holds nothing, and the accounts that get no more. */
    claimable: () => ({
      limit: free,
      share: Math.max(1, room(-1)),
      except: [...uses.keys()].filter((accountId) => room(accountId) <= 0),
    }),
    /** Returns how much the account holds. */
    usedBy,
    /** Returns the free room; below 0 when more was taken than there was room for. */
    free: () => free,
    /** Takes an amount, even beyond the room of the account. Default 1. */
    take: (accountId: number, amount: number = 1) => change(accountId, amount),
    give: (accountId: number, amount: number = 1) => change(accountId, -amount),
  };
}

/** First in, first out, without moving what stays. */
export type Fifo<Item> = ReturnType<typeof createFifo<Item>>;

const COMPACT_AT = 1024;

export function createFifo<Item>() {
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
    push: (item: Item) => void items.push(item),
    peek: () => items[head],
    shift: () => {
      const item = items[head];
      if (head >= items.length) return undefined;
      head++;
      compact();
      return item;
    },
    /** Removes and returns all items. */
    drain: () => {
      const taken = items.slice(head);
      items = [];
      head = 0;
      return taken;
    },
  };
}

/** Queue that serves accounts in rotation. Each account has one item taken per round, its oldest first. */
export type Rotation<Item> = ReturnType<typeof createRotation<Item>>;

interface Line<Item> {
  readonly accountId: number;
  readonly items: Fifo<Item>;
  paused: boolean;
  /** Whether the account is in the queue for turns. */
  queued: boolean;
}

/** Maximum number of empty queues that are reused. Creating one for each item would cost more than everything else. */
const KEPT_LINES = 256;

export function createRotation<Item>() {
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
    push: (accountId: number, item: Item) => {
      const line = lineOf(accountId);
      line.items.push(item);
      queue(line);
    },
    /** Returns the account whose turn it is. Undefined where there is none. */
    turn: () => current()?.accountId,
    /** Returns the item that `shift` would return. */
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
    /** Gives the account no turn until it is resumed. */
    pause: (accountId: number) => {
      const line = lines.get(accountId);
      if (line !== undefined && line.items.size > 0) line.paused = true;
    },
    resume: (accountId: number) => {
      const line = lines.get(accountId);
      if (line?.paused !== true) return;
      line.paused = false;
      queue(line);
    },
  };
}
