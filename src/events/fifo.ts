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
