import { type AnyNode, type Options, parse } from 'acorn';

/** The possible effects of a script on `transformedObject`, found without running it. */
export interface ScriptAnalysis {
  /** The script is not JavaScript. `position` is an offset in its body. */
  readonly syntaxError?: { readonly message: string; readonly position: number };
  /**
   * The members that the script may change, as paths with dots, or `anything`. A path includes all that is below it, and ends before the
   * first index of an array.
   */
  readonly writes: 'anything' | readonly string[];
  /** Reason for the result `anything`, for the author of the script. */
  readonly why?: string;
  /** Whether the script may drop a record: it calls `done` with nothing, null or an object without members. */
  readonly mayDrop: boolean;
}

const OBJECT = 'transformedObject';
const LONGEST_SCRIPT = 64 * 1024;

/** Names by which a script could reach its variables or the object in a way that its text does not show. */
const OPAQUE_NAMES: ReadonlySet<string> = new Set([
  ...['arguments', 'eval', 'Function', 'globalThis'],
  ...['constructor', 'prototype', '__proto__', 'toJSON', 'getPrototypeOf', 'setPrototypeOf'],
  ...['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__'],
]);
const OPAQUE_TEXT = new RegExp([...OPAQUE_NAMES].join('|'));

/** Functions that read their arguments and keep nothing of them, as long as the script does nothing else with their names. */
const READERS: ReadonlySet<string> = new Set([
  ...['String', 'Number', 'Boolean', 'parseInt', 'parseFloat', 'isNaN', 'isFinite'],
  ...['Object.keys', 'JSON.stringify', 'console.log', 'console.info', 'console.warn', 'console.error', 'console.debug'],
]);
const READER_NAMES: ReadonlySet<string> = new Set([...READERS].map((name) => name.split('.')[0] ?? ''));

/** A node with its position in the tree: the nodes above it. */
interface NodePosition {
  readonly node: AnyNode;
  /** The member of the parent that the node is in. */
  readonly role: string;
  readonly parent?: NodePosition;
}

/** The effect of one mention of the object. */
type Effect =
  | { readonly kind: 'none' }
  | typeof DROP
  | { readonly kind: 'write'; readonly path: readonly string[] }
  | Opaque;
interface Opaque {
  readonly kind: 'opaque';
  readonly why: string;
}

const NONE: Effect = { kind: 'none' };
/** The call of `done` may drop the record. */
const DROP = { kind: 'drop' } as const;

/**
 * Finds which members of `transformedObject` a script may change. When in doubt, the result includes more than what happens: when the object is
 * passed on, assigned, or used in any way that this function does not know, the result is `anything`.
 * @param parameters the names of the parameters of the script's function, without `done`
 */
export function analyse(body: string, parameters: readonly string[]): ScriptAnalysis {
  return withRoot(body, parameters, (root) => judge(listPositions(root)));
}

/**
 * Returns why a script is not JavaScript, with its line and column. Undefined: it is.
 * @param parameters the names of the parameters of the script's function, without `done`
 */
export function findSyntaxFault(body: string, parameters: readonly string[]): ScriptAnalysis['syntaxError'] {
  return withRoot(body, parameters, () => NO_FAULT).syntaxError;
}

/**
 * Returns the names of members and the texts in a script: what can be the name of a field. Comments and names of variables are not among them.
 * The result is the whole script if it is not JavaScript.
 */
export function namesInScript(body: string): readonly string[] {
  if (body.length > LONGEST_SCRIPT) return [body];
  try {
    const root = parseScript('(function (done) { ', body);
    return root === undefined ? [body] : listPositions(root).flatMap(nameAt);
  } catch (error) {
    if (error instanceof SyntaxError) return [body];
    throw error;
  }
}

function nameAt(position: NodePosition): readonly string[] {
  const { node } = position;
  if (node.type === 'Identifier') return isOnlyName(position) && position.role !== 'label' ? [node.name] : [];
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : [];
  return node.type === 'TemplateElement' ? [node.value.cooked ?? node.value.raw] : [];
}

const NO_FAULT: ScriptAnalysis = { writes: 'anything', mayDrop: true };

function withRoot(
  body: string,
  parameters: readonly string[],
  look: (root: AnyNode) => ScriptAnalysis,
): ScriptAnalysis {
  if (body.length > LONGEST_SCRIPT)
    return fault(`The script has ${body.length} characters; the maximum is ${LONGEST_SCRIPT}.`, LONGEST_SCRIPT);
  const prefix = `(function (${[...parameters, 'done'].join(', ')}) { 'use strict'; `;
  try {
    const root = parseScript(prefix, body);
    if (root === undefined) return fault('A brace or a parenthesis closes the function of the script.', 0);
    return look(root);
  } catch (error) {
    if (error instanceof SyntaxError) return readSyntaxError(error, body, prefix.length);
    throw error;
  }
}

function fault(message: string, position: number): ScriptAnalysis {
  return { syntaxError: { message, position }, writes: 'anything', why: message, mayDrop: true };
}

/** Returns the function of the script, or undefined when its body closes the function and has code behind it. */
function parseScript(prefix: string, body: string): AnyNode | undefined {
  const plain = `${prefix}${body}\n})`;
  try {
    return onlyFunction(plain);
  } catch (error) {
    if (!(error instanceof SyntaxError) || !/\bawait\b/.test(body)) throw error;
    // The sandbox tries the same. The error of the plain function is the one that its author understands.
    try {
      return onlyFunction(plain.replace('(function', '(async function'));
    } catch {
      throw error;
    }
  }
}

/** The options include lines. These are the lines of the body, because the text before it has none. */
const OPTIONS: Options = { ecmaVersion: 'latest', sourceType: 'script', locations: true };

function onlyFunction(text: string): AnyNode | undefined {
  const { body } = parse(text, OPTIONS);
  const [first] = body;
  if (body.length !== 1 || first?.type !== 'ExpressionStatement') return undefined;
  const { expression } = first;
  return expression.type === 'FunctionExpression' && expression.end === text.length - 1 ? expression : undefined;
}

/** Message of acorn when the call stack is full. */
const NO_STACK = 'Not enough stack space to parse input';

function readSyntaxError(error: SyntaxError, body: string, offset: number): ScriptAnalysis {
  const at = 'pos' in error && typeof error.pos === 'number' ? error.pos - offset : 0;
  const position = Math.min(Math.max(at, 0), body.length);
  const before = body.slice(0, position).split('\n');
  const lineAndColumn = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  return fault(
    `${error.message.replace(/ \(\d+:\d+\)$/, '').replace(NO_STACK, 'The script is nested too deeply')} (${lineAndColumn})`,
    position,
  );
}

/** Returns all nodes. A stack of its own instead of recursion, because a long sum is nested as deeply as it is long. */
function listPositions(root: AnyNode): readonly NodePosition[] {
  const positions: NodePosition[] = [];
  const open: NodePosition[] = [{ node: root, role: 'root' }];
  for (let position = open.pop(); position !== undefined; position = open.pop()) {
    positions.push(position);
    for (const [role, member] of Object.entries(position.node))
      for (const node of Array.isArray(member) ? member : [member])
        if (isNode(node)) open.push({ node, role, parent: position });
  }
  return positions;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function judge(positions: readonly NodePosition[]): ScriptAnalysis {
  const trusted = trustedReaders(positions);
  const found = positions.map((position) => judgePosition(position, trusted));
  const opaque = found.find((effect) => effect.kind === 'opaque');
  const mayDrop = opaque !== undefined || found.includes(DROP);
  if (opaque !== undefined) return { writes: 'anything', why: opaque.why, mayDrop };
  const paths = found.flatMap((effect) => (effect.kind === 'write' ? [effect.path.join('.')] : []));
  return { writes: withoutCovered(paths), mayDrop };
}

/** Removes paths below another one. */
function withoutCovered(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  const isCovered = (path: string) => {
    const segments = path.split('.');
    return segments.some((_, index) => index > 0 && all.has(segments.slice(0, index).join('.')));
  };
  return [...all].filter((path) => !isCovered(path)).sort();
}

function judgePosition(position: NodePosition, trusted: ReadonlySet<string>): Effect {
  const { node } = position;
  if (node.type === 'WithStatement') return opaque(position, 'The script uses with');
  if (node.type === 'Literal') return judgeText(position, node.value);
  if (node.type === 'TemplateElement') return judgeText(position, node.value.cooked ?? node.value.raw);
  if (node.type !== 'Identifier') return NONE;
  if (OPAQUE_NAMES.has(node.name)) return opaque(position, `The script uses ${node.name}`);
  if (isOnlyName(position) || isParameter(position)) return NONE;
  if (node.name === 'done') return judgeDone(position);
  return node.name === OBJECT ? judgeMention(position, trusted) : NONE;
}

function judgeText(position: NodePosition, text: unknown): Effect {
  const name = typeof text === 'string' ? OPAQUE_TEXT.exec(text)?.[0] : undefined;
  // Such words occur in sentences, which are no names of members.
  const isName = name !== undefined && typeof text === 'string' && !/\s/.test(text);
  return isName ? opaque(position, `The script has the text '${name}'`) : NONE;
}

/** Returns whether an identifier names a member or a label, so it refers to no variable. */
function isOnlyName({ role, parent }: NodePosition): boolean {
  if (role === 'label') return true;
  if (parent === undefined) return false;
  const { node } = parent;
  if (node.type === 'MemberExpression') return role === 'property' && !node.computed;
  const isMember = node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition';
  // In `{ a }`, the same identifier is also the value.
  return isMember && role === 'key' && !node.computed;
}

/** The parameters of the script's own function are no mention. */
function isParameter({ role, parent }: NodePosition): boolean {
  return role === 'params' && parent?.role === 'root';
}

function opaque({ node }: NodePosition, what: string): Opaque {
  return { kind: 'opaque', why: `${what} (line ${node.loc?.start.line ?? 1})` };
}

/** Only a call with the object, or one that drops the record, leaves the result to the writes that are found. */
function judgeDone(position: NodePosition): Effect {
  const call = position.parent?.node;
  const isCall = call?.type === 'CallExpression' && position.role === 'callee';
  if (!isCall) return opaque(position, 'The script uses done in another way than by a call');
  const [given, ...others] = call.arguments;
  if (given === undefined) return DROP;
  if (others.length > 0) return opaque(position, 'The script calls done with more than one argument');
  if (given.type === 'Identifier' && given.name === OBJECT) return NONE;
  if (given.type === 'Literal' && given.raw === 'null') return DROP;
  if (given.type === 'ObjectExpression' && given.properties.length === 0) return DROP;
  return opaque(position, `The script calls done with something else than ${OBJECT}`);
}

/** Returns the readers whose first name occurs in nothing but calls of a reader. */
function trustedReaders(positions: readonly NodePosition[]): ReadonlySet<string> {
  const changed = new Set(
    positions.flatMap((position) => {
      const { node } = position;
      const isReader = node.type === 'Identifier' && READER_NAMES.has(node.name) && !isOnlyName(position);
      return isReader && calleeOf(position) === undefined ? [node.name] : [];
    }),
  );
  return new Set([...READERS].filter((name) => !changed.has(name.split('.')[0] ?? '')));
}

/** Returns `String` or `Object.keys` for the first identifier of a call of it. */
function calleeOf(position: NodePosition): string | undefined {
  const { node, role, parent } = position;
  if (node.type !== 'Identifier' || parent === undefined) return undefined;
  if (parent.node.type === 'CallExpression') return role === 'callee' ? node.name : undefined;
  const member = parent.node;
  if (member.type !== 'MemberExpression' || role !== 'object' || member.property.type !== 'Identifier')
    return undefined;
  return parent.role === 'callee' && !member.computed ? `${node.name}.${member.property.name}` : undefined;
}

/** Returns what a mention of the object does, from the path that follows it and the use of what the path leads to. */
function judgeMention(mention: NodePosition, trusted: ReadonlySet<string>): Effect {
  const { end, path, isComputed } = followPath(mention);
  if (isComputed && path.length === 0) return opaque(mention, 'The script computes the name of a member');
  if (isComputed) return { kind: 'write', path: cutPath(path) };
  const use = climb(end);
  if (path.length === 0) return judgeObject(use, mention, trusted);
  const isMethod = isMethodOf(use);
  const special = path.slice(0, isMethod ? -1 : undefined).find((name) => OBJECT_METHODS.has(name));
  if (special !== undefined) return opaque(mention, `The script uses ${OBJECT}.${path.join('.')}`);
  if (isMethod && path.length === 1) return judgeMethod(mention, path);
  if (!isMethod && isReading(use, trusted)) return NONE;
  return { kind: 'write', path: cutPath(isMethod ? path.slice(0, -1) : path) };
}

interface Followed {
  readonly end: NodePosition;
  readonly path: readonly string[];
  /** The next member is computed. */
  readonly isComputed: boolean;
}

/** Follows `.a`, `['a']`, `[0]`, `?.a` from a mention upward. */
function followPath(mention: NodePosition): Followed {
  const path: string[] = [];
  let end = mention;
  for (let { parent } = end; parent !== undefined; { parent } = end) {
    const { node } = parent;
    const isMember = node.type === 'MemberExpression' && end.role === 'object';
    if (!isMember && node.type !== 'ChainExpression') break;
    if (isMember) {
      const name = nameOf(node.computed, node.property);
      if (name === undefined) return { end: parent, path, isComputed: true };
      path.push(name);
    }
    end = parent;
  }
  return { end, path, isComputed: false };
}

function nameOf(isComputed: boolean, property: AnyNode): string | undefined {
  if (property.type === 'Identifier') return isComputed ? undefined : property.name;
  const isText = property.type === 'Literal' && ['string', 'number'].includes(typeof property.value);
  const name = isText ? String(property.value) : undefined;
  // Such a name is no path: what it means is left open.
  return name === undefined || /[.[\]]/.test(name) || name === '' ? undefined : name;
}

/** An index says nothing about the other elements, which a method of the array could move. */
function cutPath(path: readonly string[]): readonly string[] {
  const index = path.findIndex((name, at) => at > 0 && /^\d+$/.test(name));
  return index === -1 ? path : path.slice(0, index);
}

/** Follows a value upward through expressions whose value it may be: `a || b`, `c ? a : b`, `(x, a)`, `await a`. */
function climb(from: NodePosition): NodePosition {
  let position = from;
  for (let { parent } = position; parent !== undefined; { parent } = position) {
    const { type } = parent.node;
    const passes =
      type === 'LogicalExpression' ||
      type === 'SequenceExpression' ||
      type === 'AwaitExpression' ||
      (type === 'ConditionalExpression' && position.role !== 'test');
    if (!passes) return position;
    position = parent;
  }
  return position;
}

/** The object itself: passed to `done` or looked at. */
function judgeObject(use: NodePosition, mention: NodePosition, trusted: ReadonlySet<string>): Effect {
  const parent = use.parent?.node;
  const isPassed = parent?.type === 'CallExpression' && use.role === 'arguments';
  if (isPassed && use === mention && parent.callee.type === 'Identifier' && parent.callee.name === 'done') return NONE;
  const isKeys = parent?.type === 'ForInStatement' && use.role === 'right';
  if (isKeys || isTested(use) || isReadBy(use, trusted)) return NONE;
  return opaque(mention, `The script uses ${OBJECT} as a whole`);
}

/** Methods that every object has, which the language calls by itself or which a script could replace by its own. */
const OBJECT_METHODS: ReadonlySet<string> = new Set([
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
  'toString',
  'valueOf',
]);
/** Names of these methods that change nothing. */
const HARMLESS_METHODS: readonly string[] = ['hasOwnProperty', 'propertyIsEnumerable'];

function judgeMethod(mention: NodePosition, [name = '']: readonly string[]): Effect {
  if (HARMLESS_METHODS.includes(name)) return NONE;
  return opaque(mention, `The script calls ${OBJECT}.${name}`);
}

function isMethodOf({ role, parent }: NodePosition): boolean {
  const type = parent?.node.type;
  return (type === 'CallExpression' && role === 'callee') || (type === 'TaggedTemplateExpression' && role === 'tag');
}

/** Whether a member is used only as a value that nobody can change through it. */
function isReading(use: NodePosition, trusted: ReadonlySet<string>): boolean {
  const parent = use.parent?.node;
  const isText = parent?.type === 'TemplateLiteral' && use.parent?.parent?.node.type !== 'TaggedTemplateExpression';
  return parent?.type === 'BinaryExpression' || isText || isTested(use) || isReadBy(use, trusted);
}

/** Whether only its truth, its type or its identity matters. */
function isTested({ role, parent }: NodePosition): boolean {
  if (parent === undefined) return false;
  const { node } = parent;
  if (node.type === 'UnaryExpression') return node.operator !== 'delete' && node.operator !== 'void';
  if (node.type === 'BinaryExpression') return IDENTITY.has(node.operator);
  return role === 'test' || node.type === 'ExpressionStatement' || node.type === 'SwitchStatement';
}

const IDENTITY: ReadonlySet<string> = new Set(['===', '!==', 'in']);

function isReadBy({ role, parent }: NodePosition, trusted: ReadonlySet<string>): boolean {
  if (parent?.node.type !== 'CallExpression' || role !== 'arguments') return false;
  const { callee, arguments: given } = parent.node;
  if (callee.type === 'Identifier') return trusted.has(callee.name);
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return false;
  const name = callee.property.type === 'Identifier' ? `${callee.object.name}.${callee.property.name}` : '';
  // With a second argument, JSON.stringify calls a function with each member.
  return trusted.has(name) && (given.length === 1 || name !== 'JSON.stringify');
}
