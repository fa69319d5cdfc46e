import { useState } from 'preact/hooks';
import { api, ask, type Schemas } from '../api.ts';
import { useLoad } from '../load.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { type CommonResource, findTransformation, listElements, removeTransformation } from './calls.ts';
import { needsOneOf, useLevelNeeds } from './levels.ts';
import { NewTransformation } from './new-transformation.tsx';
import { pathOfEditor, pathOfTryOut, type Target } from './paths.ts';
import { LEVELS } from './transformation-form.ts';

/** The members of a transformation that the tables show. A file of a definition may lack the others. */
type Transformation = Pick<Schemas['TransformationBody'], 'vendorName' | 'fields'>;

/** A transformation in the tables, with its element or instance. */
interface Mapping {
  readonly key: string;
  /** Name of the element or the instance. */
  readonly title: string;
  readonly target: Target;
  readonly transformation: Transformation;
}

/** Types of settings that make a value without a path of the provider. */
const MAKERS = ['constant', 'join', 'first'];

/** Maximum number of instances whose own transformations are shown. */
const MOST_INSTANCES = 20;

async function listMappings(
  { name, elementInstanceIds }: CommonResource,
  signal: AbortSignal,
): Promise<readonly Mapping[]> {
  const [exported, elements, ofInstances] = await Promise.all([
    ask(api.GET('/vdrs/{name}/export', { signal, params: { path: { name } } })),
    listElements(signal),
    Promise.all(elementInstanceIds.slice(0, MOST_INSTANCES).map((id) => findOfInstance(name, id, signal))),
  ]);
  const names = new Map(elements.map((element) => [element.key, element.name]));
  const ofElements = Object.entries(exported.transformation ?? {}).map(([elementKey, transformation]): Mapping => {
    const level = isOfOrganization(transformation) ? 'organization' : 'account';
    const title = names.get(elementKey) ?? elementKey;
    return { key: elementKey, title, target: { level, elementKey }, transformation };
  });
  return [
    ...ofElements.toSorted((one, other) => one.title.localeCompare(other.title)),
    ...ofInstances.filter((found) => found !== undefined),
  ];
}

/** A part of a file with its `level`. */
type Leveled = Readonly<Record<string, unknown>>;

interface InFile {
  readonly configuration?: readonly Leveled[] | null | undefined;
  readonly script?: Leveled | null | undefined;
  readonly fields?: readonly Leveled[] | null | undefined;
}

/**
 * Returns whether a part of a file belongs to the organization. A file has no level of its own: its settings, its script and its fields
 * have one each.
 */
function isOfOrganization({ configuration, script, fields }: InFile): boolean {
  const parts = [...(configuration ?? []), ...(script == null ? [] : [script])];
  return (parts.length > 0 ? parts : (fields ?? [])).every(({ level }) => level === 'organization');
}

async function findOfInstance(name: string, instanceId: number, signal: AbortSignal): Promise<Mapping | undefined> {
  const target: Target = { level: 'instance', instanceId };
  const [instance, transformation] = await Promise.all([
    ask(api.GET('/instances/{id}', { signal, params: { path: { id: instanceId } } })),
    findTransformation(name, target, signal),
  ]);
  if (transformation === undefined) return undefined;
  return { key: `#${instanceId}`, title: `${instance.name} #${instanceId}`, target, transformation };
}

/** Returns how a transformation makes each field, by the path of the field. */
function waysOf({ fields = [] }: Transformation): ReadonlyMap<string, string> {
  return new Map(
    fields.map(({ path = '', vendorPath, configuration }) => {
      const maker = configuration?.find(({ type }) => MAKERS.includes(type))?.type;
      return [path, vendorPath ?? maker ?? 'script'];
    }),
  );
}

/** Shows the transformations of a definition, and which fields each of them maps. */
export function Coverage({ resource }: { readonly resource: CommonResource }) {
  const { name, fields, elementInstanceIds } = resource;
  const loaded = useLoad((signal) => listMappings(resource, signal), [resource]);
  const needs = useLevelNeeds();
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<Mapping>();
  const paths = [...new Set(fields.map(({ path }) => path))];
  return (
    <div class="stack">
      <div class="row apart">
        <p class="soft grow">
          An instance uses its own transformation, otherwise that of the account for its element, otherwise that of the
          organization.
        </p>
        <button type="button" class="main" onClick={() => setNew(true)} {...needsOneOf(needs, LEVELS, 'edit')}>
          Map an element…
        </button>
      </div>
      <Show loaded={loaded}>
        {(mappings) =>
          mappings.length === 0 ? (
            <Empty title="No element maps the definition yet.">
              <p>Without a transformation, the object does not exist on the instances of an element.</p>
            </Empty>
          ) : (
            <>
              <Transformations name={name} paths={paths} mappings={mappings} onRemove={setRemoved} />
              {elementInstanceIds.length > MOST_INSTANCES && (
                <p class="small soft">
                  The first {MOST_INSTANCES} of {elementInstanceIds.length} instances with a transformation of their own
                  are shown.
                </p>
              )}
              {paths.length > 0 && <Matrix paths={paths} mappings={mappings} />}
            </>
          )
        }
      </Show>
      {isNew && <NewTransformation name={name} onClose={() => setNew(false)} />}
      {removed !== undefined && (
        <Remove name={name} mapping={removed} onRemoved={loaded.reload} onClose={() => setRemoved(undefined)} />
      )}
    </div>
  );
}

interface TransformationsProps {
  readonly name: string;
  readonly paths: readonly string[];
  readonly mappings: readonly Mapping[];
  readonly onRemove: (mapping: Mapping) => void;
}

function Transformations({ name, paths, mappings, onRemove }: TransformationsProps) {
  const needs = useLevelNeeds();
  const columns: readonly Column<Mapping>[] = [
    { title: 'For', cell: ({ title }) => <span class="strong break">{title}</span> },
    { title: 'Level', isMinor: true, cell: ({ target }) => <Badge tone="quiet">{target.level}</Badge> },
    { title: 'Object of the provider', cell: ({ transformation }) => <code>{transformation.vendorName}</code> },
    {
      title: 'Mapped',
      isNumber: true,
      cell: ({ transformation }) => {
        const ways = waysOf(transformation);
        return `${paths.filter((path) => ways.has(path)).length} of ${paths.length}`;
      },
    },
    {
      title: 'Actions',
      cell: (mapping) => (
        <span class="row">
          {mapping.target.level === 'instance' && <a href={pathOfTryOut(name, mapping.target.instanceId)}>Try out</a>}
          <button
            type="button"
            class="plain"
            aria-label={`Delete the transformation for ${mapping.title}…`}
            onClick={() => onRemove(mapping)}
            {...needs(mapping.target.level, 'delete')}
          >
            Delete…
          </button>
        </span>
      ),
    },
  ];
  return (
    <Table
      label="Transformations"
      columns={columns}
      rows={mappings}
      keyOf={({ key }) => key}
      linkOf={({ target }) => pathOfEditor(name, target)}
    />
  );
}

/** Shows which fields each transformation maps, with a column for each transformation. */
function Matrix({ paths, mappings }: Pick<TransformationsProps, 'paths' | 'mappings'>) {
  const columns = mappings.map((mapping) => ({ ...mapping, ways: waysOf(mapping.transformation) }));
  return (
    <section class="stack tight" aria-labelledby="coverage">
      <h2 id="coverage">Coverage</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="table" aria-label="Mapped fields by element" tabIndex={0}>
        <table class="matrix coverage">
          <thead>
            <tr>
              <th scope="col">Field</th>
              {columns.map(({ key, title }) => (
                <th key={key} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {paths.map((path) => (
              <tr key={path}>
                <th scope="row">
                  <code>{path}</code>
                </th>
                {columns.map(({ key, ways }) => (
                  <td key={key}>
                    <Way way={ways.get(path)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Way({ way }: { readonly way: string | undefined }) {
  if (way === undefined)
    return (
      <span class="soft" title="not mapped">
        –<span class="unseen"> not mapped</span>
      </span>
    );
  return (
    <span class="good" title={way}>
      <span aria-hidden="true">✓</span>
      <span class="unseen">mapped: {way}</span>
    </span>
  );
}

interface RemoveProps {
  readonly name: string;
  readonly mapping: Mapping;
  readonly onRemoved: () => void;
  readonly onClose: () => void;
}

function Remove({ name, mapping: { title, target }, onRemoved, onClose }: RemoveProps) {
  const remove = async () => {
    await removeTransformation(name, target);
    onRemoved();
  };
  return (
    <Confirm
      title={`Delete the transformation for ${title}?`}
      action="Delete the transformation"
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        From the next call on, its instances use the transformation of a higher level. Without one, they no longer have{' '}
        <code>{name}</code>.
      </p>
    </Confirm>
  );
}
