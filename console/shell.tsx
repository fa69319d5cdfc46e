import { useEffect, useState } from 'preact/hooks';
import { ErrorBoundary, lazy, Route, Router, useLocation } from 'preact-iso';
import { AccountMark, AccountSwitch } from './account-switch.tsx';
import { api, ask, type Session } from './api.ts';
import { KeyboardHelp } from './keyboard-help.tsx';
import { CONSOLE_PAGES } from './navigation.ts';
import { Empty, ErrorNote, Skeleton } from './parts/show.tsx';
import { useShortcuts } from './shortcuts.ts';
import { ThemeChoice } from './theme-choice.tsx';
import { useWho, type Who, WhoContext } from './who.ts';
import { forgetWorkplace, useWorkplace } from './workplace.ts';

/** The pages. Each is loaded when it is first opened, and receives the rest of the path as `below`. */
const PAGES = {
  instances: lazy(() => import('./instances/index.tsx').then((file) => file.Instances)),
  explore: lazy(() => import('./explore/index.tsx').then((file) => file.Explore)),
  mappings: lazy(() => import('./mappings/index.tsx').then((file) => file.Mappings)),
  formulas: lazy(() => import('./formulas/index.tsx').then((file) => file.Formulas)),
  events: lazy(() => import('./events/index.tsx').then((file) => file.Events)),
  activity: lazy(() => import('./activity/index.tsx').then((file) => file.Activity)),
  usage: lazy(() => import('./usage/index.tsx').then((file) => file.Usage)),
  bulk: lazy(() => import('./bulk/index.tsx').then((file) => file.Bulk)),
  proxies: lazy(() => import('./proxies/index.tsx').then((file) => file.Proxies)),
  connect: lazy(() => import('./connect-sessions/index.tsx').then((file) => file.ConnectSessions)),
  keys: lazy(() => import('./keys/index.tsx').then((file) => file.AccessKeys)),
  organization: lazy(() => import('./organization/index.tsx').then((file) => file.Organization)),
  profile: lazy(() => import('./profile/index.tsx').then((file) => file.Profile)),
};

interface ShellProps {
  readonly session: Session;
  readonly onEnded: () => void;
  /** Requests the logged-in user again. */
  readonly renew: () => Promise<void>;
}

/** Shows the navigation, and the page that the address names. */
export function Shell({ session, onEnded, renew }: ShellProps) {
  const [isOpen, setOpen] = useState(false);
  const [isHelped, setHelped] = useState(false);
  const { path, route } = useLocation();
  const { account, choose, error, reload } = useWorkplace(session);
  useShortcuts(() => setHelped(true));
  useEffect(() => setOpen(false), [path]);
  const who: Who = {
    session,
    account: account ?? session.account,
    renew,
    workIn: (chosen) => {
      choose(chosen?.id);
      // A longer path names resources of the account that the user has left.
      route(path.split('/', 3).join('/'));
    },
  };
  return (
    <WhoContext.Provider value={who}>
      <div class="shell">
        <a class="unseen" href="#main">
          Skip to the content
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
          <Myself onEnded={onEnded} onHelp={() => setHelped(true)} />
        </header>
        <main id="main" tabIndex={-1}>
          <ErrorNote error={error} retry={reload} />
          <AccountMark />
          {account === undefined ? <Skeleton /> : <Pages key={account.id} />}
        </main>
      </div>
      {isHelped && <KeyboardHelp onClose={() => setHelped(false)} />}
    </WhoContext.Provider>
  );
}

function Navigation({ path }: { readonly path: string }) {
  return (
    <nav aria-label="Pages of the console">
      {CONSOLE_PAGES.map((page) => (
        <a
          key={page.path}
          class="entry"
          href={page.path}
          aria-current={path.startsWith(page.path) ? 'page' : undefined}
          aria-keyshortcuts={`g ${page.key}`}
        >
          {page.title} <kbd>g {page.key}</kbd>
        </a>
      ))}
    </nav>
  );
}

/** Shows the logged-in user and the account, with links and actions that do not belong to a single page. */
function Myself({ onEnded, onHelp }: { readonly onEnded: () => void; readonly onHelp: () => void }) {
  const { session, account } = useWho();
  const logOut = async () => {
    await ask(api.DELETE('/console/session'));
    forgetWorkplace();
    onEnded();
  };
  return (
    <div class="stack tight small myself">
      <div class="soft break">
        <div class="strong">{session.user.email}</div>
        {session.organization.name} · {account.name}
      </div>
      <AccountSwitch />
      <ThemeChoice />
      <div class="row apart">
        <a href="/docs">Reference</a>
        <button type="button" class="plain" aria-keyshortcuts="?" onClick={onHelp}>
          Keys
        </button>
        <button type="button" class="plain" onClick={logOut}>
          Log out
        </button>
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
    <div class="stack">
      <h1>Not found</h1>
      <Empty title="This page does not exist.">
        <a href="/console/instances">Go to the instances</a>
      </Empty>
    </div>
  );
}
