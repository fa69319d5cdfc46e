import type { Row } from '../where/index.ts';

interface Entry {
  readonly row: Row;
  readonly bytes: number;
  /** The number of the row. Equal rows keep the order of their arrival. */
  readonly sequence: number;
}

/** Creates a store of the first `most` rows of an order. It is a heap with the last of them on top, so that no step takes long. */
export function createTopRows(order: (a: Row, b: Row) => number, most: number) {
  const heap: Entry[] = [];
  let count = 0;
  let bytes = 0;

  const isBehind = (a: Entry | undefined, b: Entry | undefined): boolean => {
    if (a === undefined || b === undefined) return a !== undefined;
    const difference = order(a.row, b.row);
    return difference === 0 ? a.sequence > b.sequence : difference > 0;
  };

  function swap(i: number, j: number): void {
    const [a, b] = [heap[i], heap[j]];
    if (a === undefined || b === undefined) return;
    heap[i] = b;
    heap[j] = a;
  }

  function rise(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (!isBehind(heap[index], heap[parent])) return;
      swap(index, parent);
      index = parent;
    }
  }

  function sink(): void {
    for (let index = 0; ; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const last = isBehind(heap[right], heap[left]) ? right : left;
      if (!isBehind(heap[last], heap[index])) return;
      swap(index, last);
      index = last;
    }
  }

  function takeLast(): Entry | undefined {
    swap(0, heap.length - 1);
    const last = heap.pop();
    if (last !== undefined) bytes -= last.bytes;
    sink();
    return last;
  }

  return {
    add: (row: Row, rowBytes: number): void => {
      const entry = { row, bytes: rowBytes, sequence: count++ };
      if (heap.length >= most && !isBehind(heap[0], entry)) return;
      heap.push(entry);
      bytes += rowBytes;
      rise(heap.length - 1);
      if (heap.length > most) takeLast();
    },
    /** Returns the number of bytes of the stored rows. */
    bytes: () => bytes,
    /** Returns the number of all rows that were added. */
    count: () => count,
    /** Removes and returns the last stored row. Undefined when none is left. */
    takeLast: () => takeLast()?.row,
  };
}
