import { useLocation } from 'preact-iso';
import { api, ask, type Instance } from '../api.ts';
import { type Loaded, useLoad } from '../load.ts';
import { Empty, Show } from '../parts/show.tsx';
import { Actions } from './actions.tsx';
import { InstanceActivity } from './activity.tsx';
import { InstanceEvents } from './events.tsx';
import { Mark } from './mark.tsx';
import { Overview } from './overview.tsx';
import { Pollers } from './pollers.tsx';
import { SchemaChanges } from './schema-changes.tsx';
import { Settings } from './settings.tsx';
import { State } from './state.tsx';

const TABS: Readonly<Record<string, string>> = {
  '': 'Overview',
  settings: 'Settings',
  events: 'Events',
  pollers: 'Pollers',
  schema: 'Schema',
  activity: 'Activity',
};

interface DetailProps {
  readonly id: number;
  readonly tab: string | undefined;
}

/** Shows one instance with its tabs. */
export function Detail({ id, tab = '' }: DetailProps) {
  const loaded = useLoad((signal) => ask(api.GET('/instances/{id}', { signal, params: { path: { id } } })), [id]);
  return (
    <div class="stack">
      <a href="/console/instances">← Instances</a>
      <Show loaded={loaded}>
        {(instance) => (
          <>
            <Head instance={instance} onChanged={loaded.reload} />
            <nav class="tabs" aria-label="Parts of the instance">
              {Object.entries(TABS).map(([path, title]) => (
                <a
                  key={path}
                  href={`/console/instances/${id}${path === '' ? '' : `/${path}`}`}
                  aria-current={path === tab ? 'page' : undefined}
                >
                  {title}
                </a>
              ))}
            </nav>
            <Part tab={tab} instance={instance} loaded={loaded} />
          </>
        )}
      </Show>
    </div>
  );
}

function Part({
  tab,
  instance,
  loaded,
}: {
  readonly tab: string;
  readonly instance: Instance;
  readonly loaded: Loaded<Instance>;
}) {
  const { route } = useLocation();
  const toOverview = () => {
    loaded.reload();
    route(`/console/instances/${instance.id}`);
  };
  if (tab === '') return <Overview instance={instance} />;
  if (tab === 'settings') return <Settings instance={instance} onSaved={toOverview} />;
  if (tab === 'events') return <InstanceEvents instance={instance} />;
  if (tab === 'pollers') return <Pollers instance={instance} />;
  if (tab === 'schema') return <SchemaChanges instance={instance} />;
  if (tab === 'activity') return <InstanceActivity id={instance.id} />;
  return <Empty title="This page does not exist." />;
}

function Head({ instance, onChanged }: { readonly instance: Instance; readonly onChanged: () => void }) {
  const { element, name, invalidReason, warnings = [] } = instance;
  return (
    <header class="stack tight">
      <div class="row apart">
        <h1 class="row break">
          <Mark image={element.image} /> {name} <State instance={instance} />
        </h1>
        <Actions instance={instance} onChanged={onChanged} />
      </div>
      {!instance.valid && (
        <div class="note bad">
          <p>{invalidReason ?? 'The instance is not valid, so calls on it fail.'}</p>
          <p>
            <a href={`/console/instances/${instance.id}/settings`}>Authenticate again</a>
          </p>
        </div>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="note warn">
          {warning}
        </p>
      ))}
    </header>
  );
}
