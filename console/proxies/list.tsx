import { api, askPage, type Schemas } from '../api.ts';
import { Badge } from '../parts/badge.tsx';
import { Copy } from '../parts/copy.tsx';
import { Pager, usePages } from '../parts/pages.tsx';
import { Empty, Show } from '../parts/show.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { useMay, useNeeds } from '../who.ts';

type Proxy = Schemas['OAuthProxy'];

const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Proxy>[] = [
  { title: 'Name', cell: ({ name }) => <span class="strong break">{name}</span> },
  {
    title: 'For',
    isMinor: true,
    cell: ({ shared }) => <Badge tone="quiet">{shared ? 'all accounts' : 'this account'}</Badge>,
  },
  { title: 'Client key', isMinor: true, cell: ({ apiKey }) => <code class="break">{apiKey}</code> },
  {
    title: 'Redirect URL to register at the provider',
    cell: ({ name, proxyUrl }) => (
      <>
        <code class="break">{proxyUrl}</code> <Copy text={proxyUrl} what={`the redirect URL of ${name}`} />
      </>
    ),
  },
];

export function ProxyList() {
  const list = usePages(
    (nextPage, signal) =>
      askPage<Proxy>(
        api.GET('/elements/oauthProxies', {
          signal,
          params: { query: { pageSize: PAGE_SIZE, ...(nextPage !== undefined && { nextPage }) } },
        }),
      ),
    [],
  );
  return (
    <div class="stack">
      <header class="row apart">
        <h1>OAuth proxies</h1>
        <NewLink />
      </header>
      <p class="soft">
        A proxy stores the key and the secret of an application that is registered at a provider, and has its own
        redirect URL. Its account can use it and, if it is shared, all accounts of the organization. Its secret is never
        shown.
      </p>
      <Show loaded={list}>
        {({ rows }) =>
          rows.length > 0 ? (
            <Table
              label="OAuth proxies"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              linkOf={({ id }) => `/console/proxies/${id}`}
            />
          ) : (
            <Empty title="There are no proxies yet.">
              <p>Without a proxy, each instance has the key and the secret of its application in its configuration.</p>
              <NewLink />
            </Empty>
          )
        }
      </Show>
      <Pager {...list} />
    </div>
  );
}

function NewLink() {
  const needs = useNeeds();
  const may = useMay();
  if (!may('createElementInstances'))
    return (
      <button type="button" {...needs('createElementInstances')}>
        New proxy
      </button>
    );
  return (
    <a class="button main" href="/console/proxies/new">
      New proxy
    </a>
  );
}
