import { useState } from 'preact/hooks';
import { api, ask, askPage } from '../api.ts';
import { useUserNames } from '../organization/names.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { useWho } from '../who.ts';
import { type AccessKey, PATH } from './access-key.ts';
import { Rotation } from './rotation.tsx';

const PAGE_SIZE = 50;

/** Lists the keys of the user, or of all users of the account for its administrators. */
export function AccessKeyList() {
  const [rotated, setRotated] = useState<AccessKey>();
  const [deleted, setDeleted] = useState<AccessKey>();
  const { session } = useWho();
  const list = usePages((nextPage, signal) => {
    const query = { pageSize: PAGE_SIZE, ...(nextPage && { nextPage }) };
    return askPage(api.GET('/keys', { signal, params: { query } }));
  }, []);
  const makers = useUserNames((list.value?.rows ?? []).map(({ createdBy }) => createdBy));
  const columns: readonly Column<AccessKey>[] = [
    { title: 'Name', cell: ({ name }) => <span class="break">{name}</span> },
    {
      title: 'Key',
      cell: ({ key, validKeys }) => (
        <>
          <code>{key}</code>
          {validKeys.slice(1).map((earlier) => (
            <div key={earlier.key} class="small soft">
              <code>{earlier.key}</code> ends <Time at={earlier.expiresDate ?? earlier.createdDate} />
            </div>
          ))}
        </>
      ),
    },
    { title: 'Access', cell: ({ access, allow }) => [access, ...allow].join(', ') },
    { title: 'Reaches', cell: (key) => <span class="break">{reachOf(key)}</span> },
    { title: 'Made by', isMinor: true, cell: ({ createdBy }) => makers.get(createdBy) ?? `user ${createdBy}` },
    {
      title: 'Last used',
      cell: ({ lastUsedDate }) => (lastUsedDate === undefined ? 'never' : <Time at={lastUsedDate} />),
    },
    {
      title: 'Expires',
      cell: ({ expiresDate }) => (expiresDate === undefined ? 'never' : <Time at={expiresDate} />),
    },
    {
      title: 'Actions',
      cell: (key) => (
        <span class="row">
          {key.createdBy === session.user.id && (
            <button
              type="button"
              class="plain"
              aria-label={`Rotate the key ${key.name}`}
              onClick={() => setRotated(key)}
            >
              Rotate
            </button>
          )}
          <button type="button" class="plain" aria-label={`Delete the key ${key.name}`} onClick={() => setDeleted(key)}>
            Delete
          </button>
        </span>
      ),
    },
  ];
  const create = (
    <a class="button main" href={`${PATH}/new`}>
      New key
    </a>
  );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>Access keys</h1>
        {create}
      </header>
      <p class="soft">
        A program with a key can use some instances and objects, and nothing else. It acts for the user who made the
        key.
      </p>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table label="Access keys" columns={columns} rows={rows} keyOf={({ id }) => id} />
          ) : (
            <Empty title="There are no keys yet.">
              <p>Create one for each program, so that you can delete it without disturbing the others.</p>
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
      {rotated !== undefined && (
        <Rotation accessKey={rotated} onRotated={list.reload} onClose={() => setRotated(undefined)} />
      )}
      {deleted !== undefined && (
        <Deletion accessKey={deleted} onDeleted={list.reload} onClose={() => setDeleted(undefined)} />
      )}
    </div>
  );
}

interface DeletionProps {
  readonly accessKey: AccessKey;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function Deletion({ accessKey: { id, name }, onDeleted, onClose }: DeletionProps) {
  const remove = async () => {
    await ask(api.DELETE('/keys/{id}', { params: { path: { id } } }));
    onDeleted();
  };
  return (
    <Confirm title="Delete the key?" action="Delete the key" onConfirm={remove} onClose={onClose}>
      <p>Programs that use “{name}” are rejected at once.</p>
    </Confirm>
  );
}

function reachOf({ instances, elementKeys, tags, objects }: AccessKey): string {
  const parts = [
    ...(instances === undefined ? [] : [`instances ${instances.map((id) => `#${id}`).join(', ')}`]),
    ...(elementKeys === undefined ? [] : [`elements ${elementKeys.join(', ')}`]),
    ...(tags === undefined ? [] : [`tags ${tags.join(', ')}`]),
    ...(objects === undefined ? [] : [`objects ${objects.join(', ')}`]),
  ];
  return parts.length === 0 ? 'all instances' : parts.join('; ');
}
