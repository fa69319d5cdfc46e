import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, ask, type Schemas } from '../api.ts';
import { useAction, useLoad } from '../load.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Copy } from '../parts/copy.tsx';
import { ErrorNote, Show } from '../parts/show.tsx';
import { useNeeds } from '../who.ts';
import { type GivenProxy, ProxyForm } from './form.tsx';

type Proxy = Schemas['OAuthProxy'];

export function ProxyDetail({ id }: { readonly id: number }) {
  const loaded = useLoad(
    (signal) => ask(api.GET('/elements/oauthProxies/{id}', { signal, params: { path: { id } } })),
    [id],
  );
  return (
    <div class="stack">
      <a href="/console/proxies">← OAuth proxies</a>
      <Show loaded={loaded}>
        {(proxy) => (
          <>
            <Head proxy={proxy} />
            <div class="columns">
              <section class="card stack tight">
                <h2>Settings</h2>
                <Settings key={JSON.stringify(proxy)} proxy={proxy} onSaved={loaded.reload} />
              </section>
              <div class="stack">
                <Sharing proxy={proxy} onSaved={loaded.reload} />
                <ApplicationUrls id={id} />
              </div>
            </div>
          </>
        )}
      </Show>
    </div>
  );
}

function Head({ proxy: { id, name, proxyUrl } }: { readonly proxy: Proxy }) {
  const needs = useNeeds();
  const [isAsked, setAsked] = useState(false);
  const { route } = useLocation();
  const remove = async () => {
    await ask(api.DELETE('/elements/oauthProxies/{id}', { params: { path: { id } } }));
    route('/console/proxies');
  };
  return (
    <header class="stack tight">
      <div class="row apart">
        <h1 class="break">{name}</h1>
        <button type="button" class="danger" onClick={() => setAsked(true)} {...needs('createElementInstances')}>
          Delete…
        </button>
      </div>
      <dl class="facts">
        <dt>Redirect URL</dt>
        <dd>
          <code>{proxyUrl}</code> <Copy text={proxyUrl} what="the redirect URL" />
          <p class="small soft">Register it at the provider as the redirect URL of the application.</p>
        </dd>
      </dl>
      {isAsked && (
        <Confirm title={`Delete ${name}?`} action="Delete the proxy" onConfirm={remove} onClose={() => setAsked(false)}>
          <ul class="bullets">
            <li>Its redirect URL stops working, and open authorizations fail.</li>
            <li>Instances that were created with it keep their own credentials and continue to work.</li>
          </ul>
        </Confirm>
      )}
    </header>
  );
}

interface SettingsProps {
  readonly proxy: Proxy;
  readonly onSaved: () => void;
}

function Settings({ proxy, onSaved }: SettingsProps) {
  const { id, name, apiKey, apiSecret, configuration } = proxy;
  const save = async (body: GivenProxy) => {
    await ask(api.PATCH('/elements/oauthProxies/{id}', { params: { path: { id } }, body }));
    onSaved();
  };
  return <ProxyForm before={{ name, apiKey, apiSecret, configuration }} action="Save" onSave={save} />;
}

function Sharing({ proxy: { id, shared }, onSaved }: SettingsProps) {
  const needs = useNeeds();
  const { run, isRunning, error } = useAction(async () => {
    await ask(api.PATCH('/elements/oauthProxies/{id}', { params: { path: { id } }, body: { shared: !shared } }));
    onSaved();
  });
  return (
    <section class="card stack tight" aria-label="Sharing">
      <h2>Sharing</h2>
      <p class="small soft">
        {shared
          ? 'All accounts of the organization see the proxy and connect with it. Only the account that created it can change it.'
          : 'Only the account that created the proxy sees it and connects with it.'}
      </p>
      <ErrorNote error={error} />
      <div class="row">
        <button type="button" disabled={isRunning} onClick={() => run()} {...needs('manageOrganization')}>
          {shared ? 'Stop sharing' : 'Share with all accounts'}
        </button>
      </div>
    </section>
  );
}

function ApplicationUrls({ id }: { readonly id: number }) {
  const needs = useNeeds();
  const params = { path: { id } };
  const loaded = useLoad(
    (signal) => ask(api.GET('/elements/oauthProxies/{id}/applicationUrls', { signal, params })),
    [id],
  );
  const [url, setUrl] = useState('');
  const add = useAction(async () => {
    await ask(api.POST('/elements/oauthProxies/{id}/applicationUrls', { params, body: { url: url.trim() } }));
    setUrl('');
    loaded.reload();
  });
  const remove = useAction(async (removed: string) => {
    await ask(
      api.DELETE('/elements/oauthProxies/{id}/applicationUrls', { params: { ...params, query: { url: removed } } }),
    );
    loaded.reload();
  });
  return (
    <section class="card stack tight" aria-label="Application URLs">
      <h2>Application URLs</h2>
      <p class="small soft">
        URLs to which the proxy can always redirect. Other accounts of the organization can use only these.
      </p>
      <Show loaded={loaded} lines={2}>
        {(urls) =>
          urls.length === 0 ? (
            <p class="soft">There are no application URLs yet.</p>
          ) : (
            <ul class="bullets">
              {urls.map((each) => (
                <li key={each} class="break">
                  <code>{each}</code>{' '}
                  <button
                    type="button"
                    class="plain"
                    aria-label={`Remove ${each}`}
                    disabled={remove.isRunning}
                    onClick={() => remove.run(each)}
                    {...needs('createElementInstances')}
                  >
                    Remove
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Show>
      <form
        class="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          add.run();
        }}
      >
        <label>
          Another URL
          <input
            type="url"
            required
            placeholder="https://app.example.com/connected"
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        <ErrorNote error={add.error ?? remove.error} />
        <div class="row">
          <button type="submit" disabled={add.isRunning} {...needs('createElementInstances')}>
            Add
          </button>
        </div>
      </form>
    </section>
  );
}
