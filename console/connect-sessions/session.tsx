import { useState } from 'preact/hooks';
import { api, ask, askPage } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Fact } from '../parts/fact.tsx';
import { Hidden } from '../parts/hidden.tsx';
import { Empty, ErrorNote, Show } from '../parts/show.tsx';
import { Time } from '../parts/time.tsx';
import { type ConnectSession, PATH, Status, sayElements } from './list.tsx';

const REFRESHED_MS = 5000;

interface SessionProps {
  readonly session: ConnectSession;
  readonly onChanged: () => void;
}

/** Shows one session. It is read from the list, because the response for a single session has the token of its instance. */
export function ConnectSessionDetail({ id }: { readonly id: string }) {
  const loaded = useLoad(
    (signal) =>
      askPage(api.GET('/connect/sessions', { signal, params: { query: { where: `id = ${Number(id)}` } } })).then(
        ({ rows: [session] }) => ({ session }),
      ),
    [id],
    { everyMs: REFRESHED_MS },
  );
  return (
    <Show loaded={loaded}>
      {({ session }) =>
        session === undefined ? (
          <Empty title="This session does not exist, or was deleted.">
            <a href={PATH}>Go to the sessions</a>
          </Empty>
        ) : (
          <Detail session={session} onChanged={loaded.reload} />
        )
      }
    </Show>
  );
}

function Detail({ session, onChanged }: SessionProps) {
  const { id, name, status, elements, tags, redirectUrl, error, problem, instanceId, elementKey } = session;
  return (
    <div class="stack">
      <header class="row apart">
        <h1 class="row">
          <span class="break">{name ?? `Session ${id}`}</span> <Status status={status} />
        </h1>
        {status === 'open' && <End session={session} onChanged={onChanged} />}
      </header>
      {error !== undefined && (
        <div class="note bad">
          <p>{error.message}</p>
          {error.providerMessage !== undefined && <blockquote>{error.providerMessage}</blockquote>}
          <code>{error.code}</code>
        </div>
      )}
      {problem !== undefined && (
        <div class="note warn">
          <p>{problem.message}</p>
          <p>
            <Time at={problem.date} /> · <a href="/console/organization/connect-origins">Connect origins</a>
          </p>
          <code>{problem.code}</code>
        </div>
      )}
      <dl class="facts card">
        <Fact name="Id">
          <code>{id}</code>
        </Fact>
        <Fact name="Elements">{elementKey ?? sayElements(elements)}</Fact>
        <Fact name="Instance">
          {instanceId === undefined ? 'none yet' : <a href={`/console/instances/${instanceId}`}>{instanceId}</a>}
        </Fact>
        <Fact name="Tags">{tags.join(', ') || 'none'}</Fact>
        <Fact name="Returns to">{redirectUrl ?? 'no return: the page shows that the account is connected'}</Fact>
        <Fact name="Made">
          <Time at={session.createdDate} />
        </Fact>
        <Fact name="Expires">
          <Time at={session.expiresDate} />
        </Fact>
        {session.endedDate !== undefined && (
          <Fact name="Ended">
            <Time at={session.endedDate} />
          </Fact>
        )}
        {status === 'completed' && (
          <Fact name="Token">
            <Token id={id} />
          </Fact>
        )}
      </dl>
    </div>
  );
}

/** Shows the token of the instance. It is requested only after a click. */
function Token({ id }: Pick<ConnectSession, 'id'>) {
  const [token, setToken] = useState<string>();
  const { run, isRunning, error } = useAction(async () => {
    const session = await ask(api.GET('/connect/sessions/{id}', { params: { path: { id } } }));
    setToken(session.token ?? '');
  });
  if (token !== undefined && token !== '') return <Hidden text={token} what="the token of the instance" />;
  return (
    <>
      <button type="button" disabled={isRunning || token === ''} onClick={() => run()}>
        {token === '' ? 'The instance was deleted' : 'Show'}
      </button>
      <ErrorNote error={error} />
    </>
  );
}

function End({ session: { id }, onChanged }: SessionProps) {
  const [isAsked, setAsked] = useState(false);
  const end = async () => {
    await ask(api.DELETE('/connect/sessions/{id}', { params: { path: { id } } }));
    onChanged();
  };
  return (
    <>
      <button type="button" class="danger" onClick={() => setAsked(true)}>
        End
      </button>
      {isAsked && (
        <Confirm title="End the session?" action="End the session" onConfirm={end} onClose={() => setAsked(false)}>
          <p>Its link stops working, and the open page says so. You cannot undo this.</p>
        </Confirm>
      )}
    </>
  );
}
