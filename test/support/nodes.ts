import pg from 'pg';

/** One server, or all nodes of a PostgreSQL with Citus: the coordinator first. A database of a test exists on each of them. */
export type Nodes = readonly [string, ...string[]];

/** Returns whether tests distribute their databases: DISTRIBUTED=citus, with a TEST_DATABASE_URL that has the extension. */
export const isDistributedRun = process.env.DISTRIBUTED === 'citus';

/** The view of the locks of all nodes. */
export const LOCKS = isDistributedRun ? 'citus_locks' : 'pg_locks';

/** Returns the URLs of the nodes. */
export async function findNodes(url: string): Promise<Nodes> {
  if (!isDistributedRun) return [url];
  const rows = await query<{ nodename: string; nodeport: number }>(
    url,
    'select nodename, nodeport from pg_dist_node where groupid > 0 order by nodeid',
  );
  const coordinator = inDatabase(url, 'postgres');
  return [coordinator, ...rows.map(({ nodename, nodeport }) => atNode(coordinator, nodename, nodeport))];
}

/** Creates an empty database that the nodes of a cluster share. */
export async function createSharedDatabase(nodes: Nodes, name: string): Promise<void> {
  const [coordinator, ...workers] = nodes;
  for (const node of nodes) {
    await query(node, `create database ${name} template template0`);
    if (isDistributedRun) await query(inDatabase(node, name), 'create extension citus');
  }
  if (!isDistributedRun) return;
  await query(inDatabase(coordinator, name), addNode('citus_set_coordinator_host', coordinator));
  for (const worker of workers) await query(inDatabase(coordinator, name), addNode('citus_add_node', worker));
}

/** Copies a database on every node that has it. No connection of a test to it may be open. */
export async function copyOnNodes(nodes: Nodes, from: string, to: string): Promise<void> {
  // The default strategy copies through the log, which costs three times as much.
  const copy = `create database ${to} template ${from} strategy file_copy`;
  for (const node of nodes) {
    if (!isDistributedRun) await query(node, copy);
    else if (await hasDatabase(node, from)) {
      await endConnections(node, from);
      await query(node, copy);
      await query(node, `alter database ${from} allow_connections true`);
    }
  }
}

/** The extension holds connections of its own to each of its databases. */
async function endConnections(node: string, name: string): Promise<void> {
  await query(node, `alter database ${name} allow_connections false`);
  await query(node, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`);
}

async function hasDatabase(node: string, name: string): Promise<boolean> {
  return (await query(node, `select from pg_database where datname = '${name}'`)).length > 0;
}

/** Runs one statement on a connection of its own, and returns its rows. The names in it are our own, so they need no quoting. */
export async function query<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

function addNode(command: string, node: string): string {
  const { hostname, port } = new URL(node);
  return `select ${command}('${hostname}', ${port || 5432})`;
}

function atNode(url: string, host: string, port: number): string {
  const changed = new URL(url);
  changed.host = `${host}:${port}`;
  return changed.href;
}

export function inDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
