import { type ChangesInput, type ChangesPage, type Config, json, type Operation, type RecordChange } from '#connector';

/** The records of a log that an object has. */
interface Logged {
  /** The members of a file that the fields need, for the parameter `fields`. */
  readonly selected: string;
  readonly isListed: (mimeType: unknown) => boolean;
}

const LARGEST_PAGE = 1000;

/**
 * Returns the log of changes of the user, or of a shared drive. It has one entry for each file that changed, with its present state. Sources:
 * changes.getStartPageToken, changes.list, "Track changes for users and shared drives".
 */
export function logOf({ selected, isListed }: Logged): Operation<ChangesInput, ChangesPage> {
  const fields = `nextPageToken,newStartPageToken,changes(changeType,fileId,removed,time,file(${selected}))`;
  return {
    request: ({ token, cursor = token }, config) =>
      cursor === undefined
        ? { path: '/drive/v3/changes/startPageToken', query: driveOf(config) }
        : {
            path: '/drive/v3/changes',
            query: {
              ...driveOf(config),
              includeItemsFromAllDrives: true,
              pageToken: cursor,
              pageSize: LARGEST_PAGE,
              fields,
            },
          },
    read: ({ body, headers }, { since, token, cursor = token }) => {
      const until = Date.parse(headers.date ?? '');
      const reached = Number.isNaN(until) ? {} : { until: new Date(until).toISOString() };
      if (cursor === undefined) {
        return {
          changes: [],
          token: json.text(json.at(body, 'startPageToken'), 'the start of the changes'),
          ...reached,
        };
      }
      const changes = json
        .objects(json.at(body, 'changes'), 'the changes')
        .flatMap((change) => readChange(change, { isListed, sinceMs: Date.parse(since) }) ?? []);
      const next = json.findText(json.at(body, 'nextPageToken'));
      // Neither of them expires, so that a poll can continue at any page.
      if (next !== undefined) return { changes, next, token: next };
      return {
        changes,
        token: json.text(json.at(body, 'newStartPageToken'), 'the next start of the changes'),
        ...reached,
      };
    },
  };
}

function driveOf(config: Config) {
  const driveId = json.findText(config['drive.id']);
  return { supportsAllDrives: true, ...(driveId !== undefined && { driveId }) };
}

interface Reading extends Pick<Logged, 'isListed'> {
  readonly sinceMs: number;
}

/** Reads an entry of the log. It does not say what happened, so that a file counts as new if it was created since the last poll. */
function readChange(
  change: Readonly<Record<string, unknown>>,
  { isListed, sinceMs }: Reading,
): RecordChange | undefined {
  if (change.changeType !== 'file') return undefined;
  const id = json.text(change.fileId, 'the id of a changed file');
  const at = json.text(change.time, 'the time of a change');
  // Only the id is there, which files and folders share.
  if (change.removed === true) return { id, at, action: 'deleted' };
  const record = json.object(change.file, 'a changed file');
  if (!isListed(record.mimeType)) return undefined;
  const isNew = Date.parse(String(record.createdTime)) >= sinceMs;
  return { id, at, action: isNew ? 'created' : 'updated', record };
}
