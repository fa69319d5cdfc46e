import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Mark } from '../instances/mark.tsx';
import type { PageProps } from '../navigation.ts';
import { Empty, Show } from '../parts/show.tsx';
import { pathOf, readPosition } from './address.ts';
import { Choosers, type Search, useInstances, useObjects } from './choosers.tsx';
import { ObjectPage } from './object-page.tsx';

/** Queries the records of an object, and shows how they were found. */
export function Explore({ below }: PageProps) {
  const { instanceId, objectName } = readPosition(below);
  const instances = useInstances();
  const objects = useObjects(instanceId);
  return (
    <div class="stack">
      <h1>Explore</h1>
      <Choosers instanceId={instanceId} objectName={objectName} instances={instances} objects={objects} />
      {instanceId === undefined ? (
        <Instances {...instances} />
      ) : objectName === undefined ? (
        <Show loaded={objects}>{(names) => <FirstObject instanceId={instanceId} names={names} />}</Show>
      ) : (
        <ObjectPage key={`${instanceId}/${objectName}`} instanceId={instanceId} objectName={objectName} />
      )}
    </div>
  );
}

/** Lists the instances that were found. If the account has none, a link leads to connecting the first one. */
function Instances({ value }: Search) {
  if (value === undefined) return null;
  const { rows, isAll } = value;
  if (rows.length === 0 && isAll)
    return (
      <Empty title="No account is connected yet.">
        <p>With a simulator, you need no account at a provider.</p>
        <a href="/console/instances/new">Connect the first account</a>
      </Empty>
    );
  if (rows.length === 0) return <Empty title="No instance matches. Change the search." />;
  return (
    <section class="stack tight" aria-label="Instances">
      <h2>Choose an instance to see its records</h2>
      <ul class="tiles">
        {rows.map(({ id, name, element }) => (
          <li key={id}>
            <a class="card tile" href={pathOf(id)}>
              <Mark image={element.image} />
              <span class="lines">
                <span class="strong break">{name}</span>
                <span class="small soft">{element.name}</span>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Opens the first object, because a user who comes from an instance wants to see records. */
function FirstObject({ instanceId, names }: { readonly instanceId: number; readonly names: readonly string[] }) {
  const { route } = useLocation();
  const [first] = names;
  useEffect(() => {
    if (first !== undefined) route(pathOf(instanceId, first), true);
  }, [instanceId, first, route]);
  return first === undefined ? <Empty title="The instance has no objects with a list of records." /> : null;
}
