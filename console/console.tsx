import { render } from 'preact';
import { useState } from 'preact/hooks';
import { LocationProvider } from 'preact-iso';
import { api, ask, type Session, useSession } from './api.ts';
import './design.css';
import { useLoad } from './load.ts';
import { LogIn } from './log-in.tsx';
import { ErrorNote } from './parts/show.tsx';
import { Shell } from './shell.tsx';

/** The console: who is logged in sees the shell around the pages, and everybody else the log-in. */
function Console() {
  const [session, setSession] = useState<Session | 'none'>();
  const ways = useLoad((signal) => ask(api.GET('/console/log-in', { signal })), []);
  const begun = session ?? (ways.value && (ways.value.session ?? 'none'));
  const end = () => {
    setSession('none');
    ways.reload();
  };
  useSession(begun === 'none' ? undefined : begun, end);
  const renew = async () => setSession(await ask(api.GET('/console/session')));
  if (begun === 'none') {
    const first = ways.value?.passwordsExist === false ? 'secrets' : 'password';
    return <LogIn key={first} first={first} onDone={setSession} />;
  }
  if (begun !== undefined) return <Shell session={begun} onEnded={end} renew={renew} />;
  return (
    <div class="centered">
      <ErrorNote error={ways.error} retry={ways.reload} />
    </div>
  );
}

const place = document.querySelector('#page');
if (place !== null)
  render(
    <LocationProvider scope="/console">
      <Console />
    </LocationProvider>,
    place,
  );
