import { useEffect, useState } from 'preact/hooks';
import { ErrorBoundary, lazy, Route, Router, useLocation } from 'preact-iso';
import { api, ask, type Session } from './api.ts';
import { Empty, ErrorNote } from './parts/show.tsx';
import { PLACES } from './places.ts';
import { useShortcuts } from './shortcuts.ts';

/** Each page is loaded when it is first gone to; what stands below its path is told to it as `below`. */
const PAGES = {
  instances: lazy(() => import('./instances/index.tsx').then((file) => file.Instances)),
  explore: lazy(() => import('./explore/index.tsx').then((file) => file.Explore)),
  events: lazy(() => import('./events/index.tsx').then((file) => file.Events)),
  activity: lazy(() => import('./activity/index.tsx').then((file) => file.Activity)),
  usage: lazy(() => import('./usage/index.tsx').then((file) => file.Usage)),
  bulk: lazy(() => import('./bulk/index.tsx').then((file) => file.Bulk)),
  proxies: lazy(() => import('./proxies/index.tsx').then((file) => file.Proxies)),
  connect: lazy(() => import('./connect-sessions/index.tsx').then((file) => file.ConnectSessions)),
  organization: lazy(() => import('./organization/index.tsx').then((file) => file.Organization)),
  profile: lazy(() => import('./profile/index.tsx').then((file) => file.Profile)),
};

interface ShellProps {
  readonly session: Session;
  readonly onEnded: () => void;
}

/** The navigation, and the page that the address says. */
export function Shell({ session, onEnded }: ShellProps) {
  const [isOpen, setOpen] = useState(false);
  const { path } = useLocation();
  useShortcuts();
  useEffect(() => setOpen(false), [path]);
  return (
    <div class="shell">
      <a class="unseen" href="#main">
        To the content
      </a>
      <header class={isOpen ? 'side open' : 'side'}>
        <div class="row apart head">
          <a class="brand" href="/console/instances">
            Causeway
          </a>
          <button type="button" class="menu-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Menu
          </button>
        </div>
        <Navigation path={path} />
        <Who session={session} onEnded={onEnded} />
      </header>
      <main id="main" tabIndex={-1}>
        <Pages />
      </main>
    </div>
  );
}

function Navigation({ path }: { readonly path: string }) {
  return (
    <nav aria-label="Pages of the console">
      {PLACES.map((place) => (
        <a
          key={place.path}
          class="entry"
          href={place.path}
          aria-current={path.startsWith(place.path) ? 'page' : undefined}
          aria-keyshortcuts={`g ${place.key}`}
        >
          {place.title} <kbd>g {place.key}</kbd>
        </a>
      ))}
    </nav>
  );
}

function Who({ session: { user, account, organization }, onEnded }: ShellProps) {
  const logOut = async () => {
    await ask(api.DELETE('/console/session'));
    onEnded();
  };
  return (
    <div class="stack tight small">
      <div class="soft break">
        <div class="strong">{user.email}</div>
        {organization.name} · {account.name}
      </div>
      <div class="row">
        <button type="button" class="plain" onClick={logOut}>
          Log out
        </button>
        <a href="/docs">Reference</a>
      </div>
    </div>
  );
}

function Pages() {
  const [failure, setFailure] = useState<unknown>();
  const { path, route } = useLocation();
  useEffect(() => setFailure(undefined), [path]);
  useEffect(() => {
    if (path === '/console' || path === '/console/') route('/console/instances', true);
  }, [path, route]);
  if (failure !== undefined) return <ErrorNote error={failure} retry={() => location.reload()} />;
  return (
    <ErrorBoundary onError={setFailure}>
      <Router>
        {Object.entries(PAGES).map(([name, page]) => (
          <Route key={name} path={`/console/${name}/:below*`} component={page} />
        ))}
        <Route default component={Nowhere} />
      </Router>
    </ErrorBoundary>
  );
}

function Nowhere() {
  return (
    <Empty title="There is no such page.">
      <a href="/console/instances">To the instances</a>
    </Empty>
  );
}
