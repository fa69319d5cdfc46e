import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { StartError } from '../errors.ts';

/**
 * Creates the folder if it is missing.
 * @throws StartError if it cannot be written
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  try {
    // Root keeps its secrets in files of mode 600, and the user of the embedded database has to pass through.
    await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(`DATA_DIR ${dataDir} cannot be used: ${reason}`, { cause });
  }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
