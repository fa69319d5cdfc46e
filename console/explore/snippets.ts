import { BASE_PATH } from '../api.ts';
import { textsOf, type WrittenQuery } from './address.ts';
import { readFieldNames } from './columns.ts';

/** A query in one of the languages in which programs call the API. It reads secrets from environment variables. */
export interface Snippet {
  readonly title: string;
  readonly text: string;
}

export function snippetsOf(origin: string, objectName: string, query: WrittenQuery): readonly Snippet[] {
  return [
    { title: 'curl', text: curl(origin, objectName, query) },
    { title: 'TypeScript', text: typeScript(objectName, query) },
    { title: 'Python', text: python(objectName, query) },
  ];
}

const AUTHORIZATION =
  'User $CAUSEWAY_USER_SECRET, Organization $CAUSEWAY_ORGANIZATION_SECRET, Element $CAUSEWAY_ELEMENT_TOKEN';

function curl(origin: string, objectName: string, query: WrittenQuery): string {
  const parameters = Object.entries({ ...textsOf(query), pageSize: String(query.pageSize) });
  const lines = [
    `curl --get ${quoteForShell(`${origin}${BASE_PATH}/${encodeURIComponent(objectName)}`)}`,
    `--header "Authorization: ${AUTHORIZATION}"`,
    ...parameters.map(([name, value]) => `--data-urlencode ${quoteForShell(`${name}=${value}`)}`),
  ];
  return lines.join(' \\\n  ');
}

/** Quotes a text for POSIX shells. No character has a special meaning between single quotes. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function typeScript(objectName: string, query: WrittenQuery): string {
  return `// Install the client from a clone of Causeway, as docs/how-to/sdks.md explains. No registry has the client.
import { Causeway } from '@causeway/client';

// Reads CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and CAUSEWAY_ELEMENT_TOKEN.
const causeway = Causeway.fromEnvironment();
const query = ${argumentsOf(query, { orderBy: 'orderBy', separator: ': ', brackets: ['{ ', ' }'] })};
for await (const record of causeway.records(${JSON.stringify(objectName)}).all(query)) {
  console.log(record);
}
`;
}

function python(objectName: string, query: WrittenQuery): string {
  return `# Install the client from a clone of Causeway, as docs/how-to/sdks.md explains. No registry has the client.
from causeway_client import Causeway

# Reads CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET and CAUSEWAY_ELEMENT_TOKEN.
causeway = Causeway.from_environment()
records = causeway.records(${JSON.stringify(objectName)})
for record in records.all(${argumentsOf(query, { orderBy: 'order_by', separator: '=', brackets: ['', ''] })}):
    print(record)
`;
}

interface Manner {
  readonly orderBy: string;
  readonly separator: string;
  readonly brackets: readonly [open: string, close: string];
}

/** Returns the texts of a query as arguments. Texts in JSON are also valid in TypeScript and in Python. */
function argumentsOf({ where, orderBy, fields }: WrittenQuery, manner: Manner): string {
  const names = readFieldNames(fields);
  const given = [
    where !== '' && ['where', JSON.stringify(where)],
    orderBy !== '' && [manner.orderBy, JSON.stringify(orderBy)],
    names.length > 0 && ['fields', `[${names.map((name) => JSON.stringify(name)).join(', ')}]`],
  ].filter((each) => each !== false);
  const [open, close] = manner.brackets;
  return given.length === 0
    ? open.trim() + close.trim()
    : open + given.map((each) => each.join(manner.separator)).join(', ') + close;
}
