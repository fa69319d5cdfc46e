import { inBackground } from '../../trace.ts';
import { createRotation } from '../fairness.ts';

/** Rows that are written together with other units: all rows of a unit, or none. */
export interface Unit {
  /** Account of the unit. Accounts are served in rotation. */
  readonly accountId: number;
  readonly rowCount: number;
  readonly bytes: number;
}

interface GroupCommitPorts<Work extends Unit> {
  /** Writes units and settles each of them. Never rejects. */
  readonly write: (units: readonly Work[]) => Promise<void>;
  /** Maximum number of rows per write. A single larger unit is written alone; the same holds for bytes. */
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly writesInFlight: number;
}

/**
 * Creates a writer that combines all units of one event loop turn, and those that arrive during a write, into one
 * write.
 */
export function createGroupCommit<Work extends Unit>(ports: GroupCommitPorts<Work>) {
  const waiting = createRotation<Work>();
  let waitingRows = 0;
  /** Number of rows that wait or are being written. */
  let pendingRows = 0;
  let running = 0;
  let scheduled = false;
  const onIdle = new Set<() => void>();

  function schedule(): void {
    if (scheduled || running >= ports.writesInFlight || waitingRows === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      flush();
    });
  }

  function flush(): void {
    if (running >= ports.writesInFlight || waitingRows === 0) return;
    const units = takeUnits();
    running++;
    // It is no more of the request that came first than of the others.
    void inBackground(() => ports.write(units)).then(() => finish(units));
    schedule();
  }

  function finish(units: readonly Work[]): void {
    running--;
    for (const { rowCount } of units) pendingRows -= rowCount;
    schedule();
    if (pendingRows > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle.clear();
  }

  function takeUnits(): readonly Work[] {
    const units: Work[] = [];
    let rows = 0;
    let bytes = 0;
    for (let unit = waiting.peek(); unit !== undefined; unit = waiting.peek()) {
      const isFull = rows + unit.rowCount > ports.maxRows || bytes + unit.bytes > ports.maxBytes;
      if (rows > 0 && isFull) break;
      waiting.shift();
      units.push(unit);
      rows += unit.rowCount;
      bytes += unit.bytes;
    }
    waitingRows -= rows;
    return units;
  }

  return {
    add: (unit: Work) => {
      waiting.push(unit.accountId, unit);
      waitingRows += unit.rowCount;
      pendingRows += unit.rowCount;
      if (waitingRows >= ports.maxRows) flush();
      else schedule();
    },
    idle: () => (pendingRows === 0 ? Promise.resolve() : new Promise<void>((resolve) => onIdle.add(resolve))),
  };
}
