import { useState } from 'preact/hooks';
import { api, ask, type Instance, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { useInstances } from '../parts/instance-choice.tsx';
import { useQuery } from '../parts/query.ts';
import { Show } from '../parts/show.tsx';
import { type AssociatedField, type CommonResource, findTransformation } from './calls.ts';
import { pathOfDefinition, type Target } from './paths.ts';
import { TransformationEditor } from './transformation-editor.tsx';
import { type DefinedField, LEVELS, readForm } from './transformation-form.ts';
import { TryOut } from './try-out.tsx';

interface EditorPageProps {
  readonly name: string;
  readonly target: Target;
}

/** The data that is loaded before the editor opens. */
interface Edited {
  readonly resource: CommonResource;
  readonly stored: Schemas['Transformation'] | undefined;
  readonly elementKey: string;
  /** The name of the element, or of the instance. */
  readonly title: string;
}

async function load({ name, target }: EditorPageProps, signal: AbortSignal): Promise<Edited> {
  const [resource, stored, about] = await Promise.all([
    ask(api.GET('/common-resources/{name}', { signal, params: { path: { name } } })),
    findTransformation(name, target, signal),
    describe(target, signal),
  ]);
  return { resource, stored, ...about };
}

async function describe(target: Target, signal: AbortSignal): Promise<Pick<Edited, 'elementKey' | 'title'>> {
  if (target.level === 'instance') {
    const params = { path: { id: target.instanceId } };
    const { name, element } = await ask(api.GET('/instances/{id}', { signal, params }));
    return { elementKey: element.key, title: name };
  }
  const params = { path: { keyOrId: target.elementKey } };
  const { key, name } = await ask(api.GET('/elements/{keyOrId}', { signal, params }));
  return { elementKey: key, title: name };
}

/**
 * Returns the fields that apply to a target: those of its level and of the levels above. For a path on several levels, the lowest level
 * applies.
 */
function definedFor(target: Target, fields: readonly AssociatedField[]): readonly DefinedField[] {
  const lowest = LEVELS.indexOf(target.level);
  const held = fields
    .filter(({ associatedLevel }) => LEVELS.indexOf(associatedLevel) <= lowest)
    .filter(
      ({ associatedLevel, associatedId }) =>
        associatedLevel !== 'instance' || (target.level === 'instance' && associatedId === target.instanceId),
    )
    .toSorted((one, other) => LEVELS.indexOf(one.associatedLevel) - LEVELS.indexOf(other.associatedLevel));
  return [...new Map(held.map((field) => [field.path, field])).values()];
}

/** Edits and tests the transformation of one level. */
export function EditorPage({ name, target }: EditorPageProps) {
  const loaded = useLoad((signal) => load({ name, target }, signal), [name, target]);
  const instances = useInstances();
  const { query, change } = useQuery();
  const [saved, setSaved] = useState<string>();
  return (
    <div class="stack">
      <a href={pathOfDefinition(name, 'transformations')}>← {name}</a>
      <Show loaded={loaded}>
        {({ resource, stored, elementKey, title }) => {
          const ofElement = (instances.value ?? []).filter(({ element }) => element.key === elementKey);
          const instanceId = chooseInstance(target, query.instance, ofElement);
          return (
            <>
              <h1 class="row">
                <span class="break">
                  {name} on {title}
                </span>{' '}
                <Badge tone="quiet">{target.level}</Badge> {stored === undefined && <Badge tone="warn">new</Badge>}
              </h1>
              <TransformationEditor
                key={stored?.startDate}
                objectName={name}
                target={target}
                before={readForm(definedFor(target, resource.fields), stored, target.level)}
                instances={ofElement}
                instanceId={instanceId}
                onInstance={(instance) => change({ instance })}
                saved={saved}
                onSaved={(words) => {
                  setSaved(words);
                  loaded.reload();
                }}
              />
              {stored !== undefined && (
                <section class="stack tight" aria-labelledby="try-out">
                  <h2 id="try-out">Try it out</h2>
                  <p class="small soft">
                    Shows a record as the transformation that is in force maps it. Save your changes first.
                  </p>
                  <TryOut
                    key={instanceId}
                    objectName={name}
                    instanceId={instanceId}
                    elementKey={elementKey}
                    version={stored.startDate}
                  />
                </section>
              )}
            </>
          );
        }}
      </Show>
    </div>
  );
}

/** Chooses the instance whose fields and records are shown. */
function chooseInstance(
  target: Target,
  wanted: string | undefined,
  instances: readonly Instance[],
): number | undefined {
  if (target.level === 'instance') return target.instanceId;
  return (instances.find(({ id }) => String(id) === wanted) ?? instances[0])?.id;
}
