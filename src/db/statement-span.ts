import { LRUCache } from 'lru-cache';
import type { SpanAttributes } from '../trace.ts';

/** Name and attributes of a statement's span, by the semantic conventions for databases. The text has placeholders and no values. */
interface DescribedStatement {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

const SYSTEM = 'postgresql';
/** Few texts are run often; those with a list of values have many lengths. */
const TEXTS_KEPT = 500;
const OPERATION = /^\s*(?:with\b.*?\b(select|insert|update|delete)\b|([a-z]+))/is;
const PARENTHESES = /\([^()]*\)/g;
/** The table behind the word that leads to it. What is there of a statement that begins with queries of its own may be one of these. */
const COLLECTION: Readonly<Record<string, RegExp>> = {
  SELECT: /\bfrom\s+"?(\w+)/i,
  INSERT: /\binto\s+"?(\w+)/i,
  UPDATE: /\bupdate\s+"?(\w+)/i,
  DELETE: /\bfrom\s+"?(\w+)/i,
};

const described = new LRUCache<string, DescribedStatement>({ max: TEXTS_KEPT });

/** Describes a statement for its span. `connection` and `query` are objects of knex. */
export function describeStatement(connection: unknown, query: unknown): DescribedStatement {
  const { sql, options } = Object(query);
  const { host, port, database } = Object(connection);
  const { name, attributes } = describeText(String(sql ?? ''), options?.name);
  return {
    name,
    attributes: { ...attributes, 'db.namespace': database, 'server.address': host, 'server.port': port },
  };
}

function describeText(text: string, ownName: string | undefined): DescribedStatement {
  const known = described.get(text);
  if (known !== undefined) return known;
  const flat = withoutParentheses(text);
  const [, behindOthers, alone] = OPERATION.exec(flat) ?? [];
  const operation = (behindOthers ?? alone)?.toUpperCase();
  const collection = alone && COLLECTION[alone.toUpperCase()]?.exec(flat)?.[1];
  const name = ownName ?? [operation, collection].filter((word) => word !== undefined).join(' ');
  const statement = {
    name: name === '' ? SYSTEM : name,
    attributes: {
      'db.system.name': SYSTEM,
      'db.operation.name': operation,
      'db.collection.name': collection,
      'db.query.summary': name,
      'db.query.text': text,
    },
  };
  described.set(text, statement);
  return statement;
}

/** `extract(epoch from due)` names no table. */
function withoutParentheses(text: string): string {
  const without = text.replace(PARENTHESES, '');
  return without === text ? text : withoutParentheses(without);
}
