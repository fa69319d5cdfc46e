import type { Call, ChangeLog, LoggedChange, TableRow } from '#connector/simulator';
import { present, refusal } from './records.ts';

/** A file whose change is in the log of the user, or of a shared drive. */
export interface ChangedFile {
  readonly driveId: string | null;
}

const USUAL_PAGE = 100;
/** Larger values are coerced. Source: the parameter `pageSize` of changes.list. */
const LARGEST_PAGE = 1000;

interface ListedChanges {
  readonly log: ChangeLog<ChangedFile>;
  readonly find: (id: string) => TableRow | undefined;
}

export function startPageToken({ position }: ChangeLog<ChangedFile>): TableRow {
  return { kind: 'drive#startPageToken', startPageToken: String(position()) };
}

/**
 * Returns the changes behind a token: the present state of each file that changed. The user and each shared drive have their own log. Source:
 * changes.list, "Track changes for users and shared drives".
 * @throws Fault 400 for a token that is none
 */
export function listChanges({ query, isStuck }: Call, { log, find }: ListedChanges): TableRow {
  const token = query.get('pageToken') ?? '';
  const behind = /^\d+$/.test(token) ? log.behind(Number(token)) : undefined;
  if (behind === undefined) throw refusal('invalid', undefined, 'pageToken');
  const hasRemoved = query.get('includeRemoved') !== 'false';
  const changes = behind
    .filter(({ item }) => item.driveId === query.get('driveId'))
    .map((change) => showChange(change, find(change.key)))
    .filter(({ removed }) => hasRemoved || removed === false);
  const size = Math.min(Number(query.get('pageSize') ?? USUAL_PAGE), LARGEST_PAGE);
  const shown = changes.slice(0, size);
  const hasMore = changes.length > size;
  const last = behind.find(({ key }) => key === shown.at(-1)?.fileId)?.position ?? log.position();
  return present({
    kind: 'drive#changeList',
    changes: shown,
    nextPageToken: hasMore ? String(isStuck ? token : last) : null,
    newStartPageToken: hasMore ? null : String(log.position()),
  });
}

function showChange({ key, atMs }: LoggedChange<ChangedFile>, row: TableRow | undefined): TableRow {
  const change = { kind: 'drive#change', changeType: 'file', fileId: key, time: new Date(atMs).toISOString() };
  return row === undefined ? { ...change, removed: true } : { ...change, removed: false, file: present(row) };
}
