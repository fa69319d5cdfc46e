import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, askPage, onInstance, type Schemas } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';
import { ErrorNote } from '../parts/show.tsx';
import { type Explored, pathOf } from './address.ts';
import { type Choice, Combobox } from './combobox.tsx';
import { useKept, useSettled } from './settled.ts';

const MOST_INSTANCES = 50;
const TYPING_PAUSE_MS = 150;

/** Finds instances by a part of their name or element. */
export interface Search extends Pick<Loaded<Found>, 'value' | 'error'> {
  readonly search: (words: string) => void;
}

interface Found {
  readonly rows: readonly Schemas['Instance'][];
  /** Whether the search text is empty, so that the list has all instances. */
  readonly isAll: boolean;
}

/** Keeps the last response until the next one has arrived. */
export function useInstances(): Search {
  const [words, search] = useState('');
  const searchText = useSettled(words.trim(), TYPING_PAUSE_MS);
  const found = useLoad(
    async (signal): Promise<Found> => {
      const query = { pageSize: MOST_INSTANCES, ...(searchText !== '' && { searchText }) };
      const { rows } = await askPage(api.GET('/instances', { signal, params: { query } }));
      return { rows, isAll: searchText === '' };
    },
    [searchText],
  );
  return { search, value: useKept(found), error: found.error };
}

interface ChoosersProps extends Explored {
  readonly instances: Search;
  readonly objects: Loaded<readonly string[]>;
}

/** Chooses an instance and one of its objects. */
export function Choosers({ instanceId, objectName, instances, objects }: ChoosersProps) {
  const { route } = useLocation();
  const chosen = useLoad(
    async (signal) =>
      instanceId === undefined
        ? undefined
        : ask(api.GET('/instances/{id}', { signal, params: { path: { id: instanceId } } })),
    [instanceId],
  );
  return (
    <>
      <div class="row choosers">
        <Combobox
          label="Instance"
          placeholder="Search by name or element"
          chosen={chosen.value?.name}
          choices={(instances.value?.rows ?? []).map(choiceOf)}
          onWords={instances.search}
          onChoose={({ key }) => route(pathOf(Number(key)))}
        />
        <Combobox
          label="Object"
          placeholder={instanceId === undefined ? 'Choose an instance first' : 'Search objects'}
          chosen={objectName}
          isDisabled={instanceId === undefined}
          choices={(objects.value ?? []).map((name) => ({ key: name, title: name }))}
          onChoose={({ key }) => route(pathOf(instanceId, key))}
        />
      </div>
      <ErrorNote error={chosen.error ?? instances.error} />
    </>
  );
}

function choiceOf({ id, name, element, disabled, valid }: Schemas['Instance']): Choice {
  const state = disabled ? ' · disabled' : valid ? '' : ' · not valid';
  return { key: String(id), title: name, detail: `${element.key} · ${id}${state}` };
}

/** Returns the objects of an instance whose records can be listed. Objects that the connector polls come first. */
export function useObjects(instanceId: number | undefined): Loaded<readonly string[]> {
  return useLoad(
    async (signal) => {
      if (instanceId === undefined) return [];
      const headers = onInstance(instanceId);
      const [objects, usual] = await Promise.all([
        ask(api.GET('/objects', { signal, headers, params: { query: { details: true } } })),
        findPolls(instanceId, signal),
      ]);
      const listed = objects.flatMap((object) =>
        typeof object !== 'string' && object.operations.includes('list') ? [object.name] : [],
      );
      return [...usual.filter((name) => listed.includes(name)), ...listed.filter((name) => !usual.includes(name))];
    },
    [instanceId],
  );
}

async function findPolls(id: number, signal: AbortSignal): Promise<readonly string[]> {
  const { element } = await ask(api.GET('/instances/{id}', { signal, params: { path: { id } } }));
  const { polls = [] } = await ask(
    api.GET('/elements/{keyOrId}', { signal, params: { path: { keyOrId: element.key } } }),
  );
  return polls;
}
