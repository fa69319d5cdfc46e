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

/** Where the records come from: an instance, and an object of it. */
export function Choosers({
  instanceId,
  objectName,
  objects,
}: Explored & { readonly objects: Loaded<readonly string[]> }) {
  const { route } = useLocation();
  const [words, setWords] = useState('');
  const searchText = useSettled(words.trim(), TYPING_PAUSE_MS);
  const found = useLoad(
    (signal) =>
      askPage(
        api.GET('/instances', {
          signal,
          params: { query: { pageSize: MOST_INSTANCES, ...(searchText !== '' && { searchText }) } },
        }),
      ),
    [searchText],
  );
  const chosen = useLoad(
    async (signal) =>
      instanceId === undefined
        ? undefined
        : ask(api.GET('/instances/{id}', { signal, params: { path: { id: instanceId } } })),
    [instanceId],
  );
  const instances = useKept(found)?.rows ?? [];
  return (
    <>
      <div class="row choosers">
        <Combobox
          label="Instance"
          placeholder="Search by name or element"
          chosen={chosen.value?.name}
          choices={instances.map(choiceOf)}
          onWords={setWords}
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
      <ErrorNote error={chosen.error ?? found.error} />
    </>
  );
}

function choiceOf({ id, name, element, disabled, valid }: Schemas['Instance']): Choice {
  const state = disabled ? ' · disabled' : valid ? '' : ' · not valid';
  return { key: String(id), title: name, detail: `${element.key} · ${id}${state}` };
}

/** The names of an instance's objects. */
export function useObjects(instanceId: number | undefined): Loaded<readonly string[]> {
  return useLoad(
    async (signal) => {
      if (instanceId === undefined) return [];
      const objects = await ask(api.GET('/objects', { signal, headers: onInstance(instanceId) }));
      return objects.map((object) => (typeof object === 'string' ? object : object.name));
    },
    [instanceId],
  );
}
