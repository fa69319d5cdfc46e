import { Empty, Show } from '../parts/show.tsx';
import type { PageProps } from '../places.ts';
import { pathOf, readPlace } from './address.ts';
import { Choosers, useObjects } from './choosers.tsx';
import { ObjectPage } from './object-page.tsx';

/** Asks for the records of an object, and shows how they were found. */
export function Explore({ below }: PageProps) {
  const { instanceId, objectName } = readPlace(below);
  const objects = useObjects(instanceId);
  return (
    <div class="stack">
      <h1>Explore</h1>
      <Choosers instanceId={instanceId} objectName={objectName} objects={objects} />
      {instanceId === undefined ? (
        <Empty title="Choose an instance to see its records.">
          <p>None yet? With a simulator it takes no account at a provider.</p>
          <a href="/console/instances/new">Connect the first one</a>
        </Empty>
      ) : objectName === undefined ? (
        <Show loaded={objects}>{(names) => <Objects instanceId={instanceId} names={names} />}</Show>
      ) : (
        <ObjectPage key={`${instanceId}/${objectName}`} instanceId={instanceId} objectName={objectName} />
      )}
    </div>
  );
}

function Objects({ instanceId, names }: { readonly instanceId: number; readonly names: readonly string[] }) {
  if (names.length === 0) return <Empty title="The instance has no objects." />;
  return (
    <section class="stack tight" aria-label="Objects">
      <h2>Objects</h2>
      <ul class="row plain-list">
        {names.map((name) => (
          <li key={name}>
            <a class="button" href={pathOf(instanceId, name)}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
