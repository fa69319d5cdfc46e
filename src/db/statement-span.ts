import type { SpanAttributes } from '../trace.ts';

/** A statement in the words of the conventions for databases: with its placeholders, without the values. */
export interface DescribedStatement {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

const SYSTEM = 'postgresql';
const OPERATION = /^\s*([a-z]+)/i;
/** The table that the one word before it leads to. A statement that begins with queries of its own has several: it is known by its name, if it has one. */
const COLLECTION: Readonly<Record<string, RegExp>> = {
  SELECT: /\bfrom\s+"?(\w+)/i,
  INSERT: /\binto\s+"?(\w+)/i,
  UPDATE: /\bupdate\s+"?(\w+)/i,
  DELETE: /\bfrom\s+"?(\w+)/i,
};

/** `connection` and `query` as knex has them. */
export function describeStatement(connection: unknown, query: unknown): DescribedStatement {
  const { sql, options } = Object(query);
  const { host, port, database } = Object(connection);
  const text = typeof sql === 'string' ? sql : '';
  const operation = OPERATION.exec(text)?.[1]?.toUpperCase();
  const collection = operation && COLLECTION[operation]?.exec(text)?.[1];
  const summary = options?.name ?? [operation, collection].filter((word) => word !== undefined).join(' ');
  return {
    name: summary === '' ? SYSTEM : String(summary),
    attributes: {
      'db.system.name': SYSTEM,
      'db.operation.name': operation,
      'db.collection.name': collection,
      'db.query.summary': String(summary),
      'db.query.text': text,
      'db.namespace': typeof database === 'string' ? database : undefined,
      'server.address': typeof host === 'string' ? host : undefined,
      'server.port': typeof port === 'number' ? port : undefined,
    },
  };
}
