import { createServer, type ServerResponse } from 'node:http';
import { listen } from '../../suite/listen.ts';
import { stopServer } from '../../suite/stop-server.ts';

/** Properties of the entity sets by name, as lines of the metadata. */
export type Model = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ChangingOData = Awaited<ReturnType<typeof startChangingOData>>;

/** An OData service of nothing but metadata, which tests change at any time, or replace by a failure. */
export async function startChangingOData(first: Model) {
  let model = first;
  let fail: ((response: ServerResponse) => void) | undefined;
  let headers: Readonly<Record<string, string>> = {};
  let rejection: object | undefined;
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    requests.push(pathname);
    if (pathname.endsWith('/$metadata')) {
      if (fail !== undefined) return fail(response);
      response.writeHead(200, { 'content-type': 'application/xml', ...headers }).end(printModel(model));
      return;
    }
    const isRoot = pathname.endsWith('/shop/') || pathname.endsWith('/shop');
    const sets = Object.keys(model).map((name) => ({ name, kind: 'EntitySet', url: name }));
    const status = rejection !== undefined && !isRoot ? 400 : 200;
    const body = status === 400 ? rejection : { value: isRoot ? sets : [] };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/shop`,
    /** The number of times that the metadata was requested. */
    readings: () => requests.filter((path) => path.endsWith('/$metadata')).length,
    set: (next: Model) => {
      model = next;
      fail = undefined;
    },
    /** From now on, instead of the metadata. */
    failWith: (next: (response: ServerResponse) => void) => {
      fail = next;
    },
    setHeaders: (next: Readonly<Record<string, string>>) => {
      headers = next;
    },
    /** The response to lists from now on. */
    rejectWith: (body: object | undefined) => {
      rejection = body;
    },
    stop: () => stopServer(server),
  };
}

export function printModel(model: Model): string {
  const types = Object.entries(model).map(
    ([set, properties]) =>
      `<EntityType Name="${set}Type"><Key><PropertyRef Name="ID"/></Key>${Object.entries(properties)
        .map(([name, type]) => `<Property Name="${name}" Type="${type}"${name === 'ID' ? ' Nullable="false"' : ''}/>`)
        .join('')}</EntityType>`,
  );
  const sets = Object.keys(model).map((set) => `<EntitySet Name="${set}" EntityType="S.${set}Type"/>`);
  return `<?xml version="1.0"?><edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">${types.join('')}<EntityContainer Name="C">${sets.join('')}</EntityContainer></Schema></edmx:DataServices></edmx:Edmx>`;
}
