import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder away from this repository, as CONNECTORS_PATH is meant, with the connectors of `test/api/connectors`. One for all suites, which share services by it. */
export const OUTSIDE_CONNECTORS = mkdtempSync(join(tmpdir(), 'causeway-connectors-'));
cpSync(join(import.meta.dirname, '../connectors'), OUTSIDE_CONNECTORS, { recursive: true });
process.once('exit', () => rmSync(OUTSIDE_CONNECTORS, { recursive: true }));
