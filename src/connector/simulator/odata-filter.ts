import odataParser from '@balena/odata-parser';
import { Fault, fault } from './fault.ts';

/** The syntax tree of a filter of OData 4. */
export type ODataExpression =
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly ODataExpression[] }
  | { readonly kind: 'path'; readonly path: readonly string[] }
  | { readonly kind: 'literal'; readonly type: string; readonly text: string }
  | { readonly kind: 'list'; readonly members: readonly ODataExpression[] }
  | { readonly kind: 'null' };

/**
 * Parses `$filter` with the independent parser `@balena/odata-parser`. It reads numbers as doubles and does not know the bare dates, GUIDs
 * and enumeration literals of OData 4. It receives these as text with their type as a prefix. It has the same precedence for `and` and
 * `or`, so a filter that mixes them needs parentheses here.
 * @throws Fault 400 for a syntax error
 */
export function parseODataFilter(filter: string): ODataExpression {
  try {
    const { tree, binds } = odataParser.parse(tagLiterals(filter), {
      startRule: 'ProcessRule',
      rule: 'FilterByExpression',
    });
    return toExpression(tree, binds);
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw fault(400, `The filter is not valid: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const ZONE = String.raw`(?:Z|[+-]\d{2}:\d{2})`;

/** The literals. A longer literal comes before one that is its beginning. The matched group shows the type. */
const LITERALS = new RegExp(
  [
    String.raw`(?<enum>\b[A-Za-z_][\w.]*'\w*')`,
    "(?<text>'(?:[^']|'')*')",
    String.raw`(?<name>[A-Za-z_][\w/]*(?![\w-]))`,
    String.raw`(?<datetime>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?${ZONE})`,
    '(?<guid>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})',
    String.raw`(?<date>\d{4}-\d{2}-\d{2})`,
    String.raw`(?<time>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,12})?)?)`,
    String.raw`(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)`,
  ].join('|'),
  'g',
);

function tagLiterals(filter: string): string {
  return filter.replace(LITERALS, (match, ...rest) => {
    const groups: unknown = rest.at(-1);
    const [type] = Object.entries(Object(groups)).find(([, value]) => value !== undefined) ?? ['name'];
    if (type === 'name') return match;
    const inner = type === 'text' ? match.slice(1, -1) : match.replaceAll("'", '|');
    return `'${type}:${encodeURIComponent(inner)}'`;
  });
}

type Binds = readonly (readonly [string, unknown])[];

function toExpression(tree: unknown, binds: Binds): ODataExpression {
  if (tree === null) return { kind: 'null' };
  if (Array.isArray(tree)) return toCall(tree, binds);
  const node: Record<string, unknown> = Object(tree);
  if (typeof node.bind === 'number') return toLiteral(binds[node.bind]);
  if (typeof node.name === 'string') return { kind: 'path', path: toPath(node) };
  throw fault(400, 'The filter has an expression that this service does not know.');
}

function toCall([name, ...args]: readonly unknown[], binds: Binds): ODataExpression {
  if (name !== 'call') return { kind: 'call', name: String(name), args: args.map((arg) => toExpression(arg, binds)) };
  const call: Record<string, unknown> = Object(args[0]);
  const operands = Array.isArray(call.args) ? call.args : [];
  return { kind: 'call', name: String(call.method), args: operands.map((arg) => toExpression(arg, binds)) };
}

function toPath(node: Record<string, unknown>): string[] {
  const inner: Record<string, unknown> = Object(node.property);
  return [String(node.name), ...(inner.name === undefined ? [] : toPath(inner))];
}

function toLiteral(bind: readonly [string, unknown] | undefined): ODataExpression {
  const [type, value] = bind ?? ['', ''];
  if (type === 'List' && Array.isArray(value))
    return { kind: 'list', members: value.map((member) => toLiteral(member)) };
  if (type === 'Null') return { kind: 'null' };
  if (type === 'Boolean') return { kind: 'literal', type: 'boolean', text: String(value) };
  const text = String(value);
  const colon = text.indexOf(':');
  return { kind: 'literal', type: text.slice(0, colon), text: text.slice(colon + 1) };
}
