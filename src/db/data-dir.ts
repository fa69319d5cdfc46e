import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { StartError } from '../errors.ts';

/** Makes the folder where it is missing. @throws StartError when nothing can be kept there */
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
