import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder away from this repository, as CONNECTORS_PATH is meant, with the connectors of `test/api/connectors`. */
export function useOutsideConnectors(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-connectors-'));
  cpSync(join(import.meta.dirname, '../connectors'), folder, { recursive: true });
  after(() => rmSync(folder, { recursive: true }));
  return folder;
}
