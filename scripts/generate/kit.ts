import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '../..');

/** The modules that connectors import, by specifier. */
const MODULES: Readonly<Record<string, string>> = {
  '#connector': 'src/connector/index.ts',
  '#connector/simulator': 'src/connector/simulator/index.ts',
  '#connector/suite': 'suite/index.ts',
  '#connector/testing': 'suite/testing.ts',
};

/** The area of the reference for each file that has an export, in the order of the reference. */
const AREAS: Readonly<Record<string, string>> = {
  'src/connector/define.ts': 'Declarations and errors',
  'src/connector/path.ts': 'Paths',
  'src/connector/kit/settings.ts': 'Settings',
  'src/connector/kit/list.ts': 'Lists',
  'src/connector/kit/paging.ts': 'Paging',
  'src/connector/kit/records.ts': 'Records',
  'src/connector/kit/parts.ts': 'Records',
  'src/connector/kit/can.ts': 'Operators',
  'src/connector/kit/infix.ts': 'Filters as expressions',
  'src/connector/kit/inputs.ts': 'Filters as parameters',
  'src/connector/kit/conditions.ts': 'Filters as JSON',
  'src/connector/kit/official.ts': 'Official descriptions',
  'src/connector/kit/codec.ts': 'Values',
  'src/connector/kit/currencies.ts': 'Values',
  'src/connector/kit/kinds.ts': 'Discovered fields',
  'src/connector/kit/json.ts': 'JSON',
  'src/connector/kit/xml.ts': 'XML',
  'src/connector/kit/csv.ts': 'CSV',
  'src/connector/kit/errors.ts': 'Errors of the provider',
  'src/connector/kit/webhooks.ts': 'Webhooks',
  'src/numbers/exact-json.ts': 'Numbers',
  'src/numbers/number-value.ts': 'Numbers',
  'src/where/ast.ts': 'Fields and filters',
  'src/where/model.ts': 'Fields and filters',
  'src/connector/contract.ts': 'Contract',
  'src/connector/simulator/simulate.ts': 'Simulators',
  'src/connector/simulator/route.ts': 'Routes',
  'src/connector/simulator/response.ts': 'Responses',
  'src/connector/simulator/repeat.ts': 'Responses',
  'src/connector/simulator/fault.ts': 'Faults',
  'src/connector/simulator/body.ts': 'Requests',
  'src/connector/simulator/input.ts': 'Requests',
  'src/connector/simulator/authenticate.ts': 'Authentication',
  'src/connector/simulator/oauth.ts': 'OAuth',
  'src/connector/simulator/budget.ts': 'Rate limits',
  'src/connector/simulator/collection.ts': 'Collections of records',
  'src/connector/simulator/table.ts': 'Tables of records',
  'src/connector/simulator/members.ts': 'Descriptions of records',
  'src/connector/simulator/official/conform.ts': 'Official descriptions',
  'src/connector/simulator/official/description.ts': 'Official descriptions',
  'src/connector/simulator/official/judge.ts': 'Official descriptions',
  'src/connector/simulator/nested.ts': 'Official descriptions',
  'src/connector/simulator/rows.ts': 'Rows',
  'src/connector/simulator/filter.ts': 'Filters',
  'src/connector/simulator/odata-filter.ts': 'Filters',
  'src/connector/simulator/tokens.ts': 'Filters',
  'src/connector/simulator/order.ts': 'Order',
  'src/connector/simulator/search-index.ts': 'Search',
  'src/connector/simulator/paging.ts': 'Pages',
  'src/connector/simulator/changes.ts': 'Changes',
  'src/connector/simulator/change-log.ts': 'Changes',
  'src/connector/simulator/webhook.ts': 'Webhooks',
  'src/connector/simulator/memory.ts': 'Memory',
  'src/connector/simulator/clock.ts': 'Clocks',
  'src/clock.ts': 'Clocks',
  'suite/index.ts': 'Suites',
  'suite/checks.ts': 'Checks',
  'suite/effort.ts': 'Effort',
  'suite/subject.ts': 'Subjects',
  'suite/writes.ts': 'Subjects',
  'suite/recorded.ts': 'Recorded exchanges',
  'suite/call.ts': 'Simulators',
  'suite/served.ts': 'Simulators',
  'suite/testing.ts': 'Connections',
  'suite/discover.ts': 'Discovery',
  'suite/judge.ts': 'Filters',
};

/** An export of the kit. */
interface KitEntry {
  readonly name: string;
  readonly area: string;
  /** The doc comment without comment marks. */
  readonly doc: string;
  /** The declaration in TypeScript, without function bodies. */
  readonly code: string;
}

interface Exported {
  readonly name: string;
  readonly file: string;
  readonly nodes: readonly ts.Node[];
}

/**
 * Returns the exports of the kit with their doc comments, as the text of a JSON file with a line for each export. It parses the files
 * without type checks, which takes one second; the compiler checks the types anyway.
 */
export function describeKit(notice: string): string {
  const seen = new Set<ts.Node>();
  const modules = Object.entries(MODULES).map(([name, file]) => {
    const found = exportsOf(file).filter(({ nodes: [node] }) => node !== undefined && !seen.has(node));
    for (const { nodes } of found) for (const node of nodes) seen.add(node);
    const entries = found.map(describe).toSorted((one, other) => rankOf(one) - rankOf(other));
    return `${JSON.stringify(name)}: [\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`;
  });
  return `{\n"x-generated": ${JSON.stringify(notice)},\n${modules.join(',\n')}\n}`;
}

const TITLES = [...new Set(Object.values(AREAS))];

function rankOf({ area }: KitEntry): number {
  return TITLES.indexOf(area);
}

/** Returns all exports of a file, including those that it re-exports from others. */
function exportsOf(file: string): readonly Exported[] {
  return parse(file).statements.flatMap((statement): readonly Exported[] => {
    if (ts.isExportDeclaration(statement)) return passedOn(file, statement);
    if (!isExported(statement)) return [];
    return declaredNames(statement).map((name) => ({ name, file, nodes: declarationsOf(file, name) }));
  });
}

function passedOn(file: string, { moduleSpecifier, exportClause }: ts.ExportDeclaration): readonly Exported[] {
  if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier))
    throw new Error(`${file} has an export list without a module, which the reference of the kit does not read.`);
  const all = exportsOf(resolveFile(file, moduleSpecifier.text));
  if (exportClause === undefined) return all;
  if (!ts.isNamedExports(exportClause))
    throw new Error(`${file} exports a namespace, which the reference does not read.`);
  return exportClause.elements.map(({ name }) => {
    const found = all.find((each) => each.name === name.text);
    if (found === undefined) throw new Error(`${file} exports ${name.text}, which its module does not export.`);
    return found;
  });
}

function resolveFile(file: string, specifier: string): string {
  if (specifier.startsWith('#')) return MODULES[specifier] ?? '';
  return relative(ROOT, join(ROOT, dirname(file), specifier))
    .split(sep)
    .join('/');
}

const parsed = new Map<string, ts.SourceFile>();

function parse(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  parsed.set(file, source);
  return source;
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  );
}

function declaredNames(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return isNamed(statement) && statement.name !== undefined ? [statement.name.text] : [];
}

type Named = ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

function isNamed(node: ts.Node): node is Named {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node)
  );
}

/** Returns the statements of a file that declare a name. A function with overloads has several. */
function declarationsOf(file: string, name: string): readonly ts.Statement[] {
  const found = parse(file).statements.filter((statement) => declaredNames(statement).includes(name));
  const overloads = found.filter((node) => ts.isFunctionDeclaration(node) && node.body === undefined);
  return overloads.length > 0 ? overloads : found;
}

function describe({ name, file, nodes }: Exported): KitEntry {
  const area = AREAS[file];
  if (area === undefined) throw new Error(`${file} exports ${name}: add its area to scripts/generate/kit.ts.`);
  const [first] = nodes;
  const code = wrapComments(nodes.map((node) => printDeclaration(file, name, node)).join('\n'));
  return { name, area, doc: first === undefined ? '' : docOf(first), code };
}

/** Returns the text of the doc comment directly before a node. */
function docOf(node: ts.Node): string {
  const comment = commentOf(node);
  return comment
    .replace(/^\/\*\*\s*(?:\* )?|\s*\*\/$/g, '')
    .replaceAll(/\n\s*\* ?/g, '\n')
    .trim();
}

/** Returns the doc comment with its comment marks, moved to the margin. */
function commentOf(node: ts.Node): string {
  const text = node.getSourceFile().text;
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  const comments = ranges.map(({ pos, end }) => text.slice(pos, end)).filter((each) => each.startsWith('/**'));
  return comments.at(-1)?.replaceAll(/\n\s*\*/g, '\n *') ?? '';
}

function printDeclaration(file: string, name: string, node: ts.Node): string {
  if (ts.isFunctionDeclaration(node)) return `${printHead(node)};`;
  if (ts.isClassDeclaration(node)) return printClass(node);
  if (ts.isVariableStatement(node)) return printConstant(file, name, node);
  return [withoutExport(node), ...inherited(file, node)].join('\n\n');
}

function withoutExport(node: ts.Node): string {
  return node.getText().replace(/^export /, '');
}

/** Prints everything before the body of a function, on as many lines as it has. */
function printHead(node: ts.FunctionDeclaration | ts.ArrowFunction | ts.MethodDeclaration): string {
  const text = node.getSourceFile().text;
  const end = node.body === undefined ? node.getEnd() : node.body.getStart();
  return text
    .slice(node.getStart(), end)
    .replace(/^export /, '')
    .replace(/^async /, '')
    .replace(/(?:\s*=>)?\s*;?\s*$/, '');
}

/** Returns interfaces of the same file that are not exported, and from which the declared interface inherits members. */
function inherited(file: string, node: ts.Node): readonly string[] {
  if (!ts.isInterfaceDeclaration(node)) return [];
  const bases = (node.heritageClauses ?? []).flatMap(({ types }) =>
    types.map(({ expression }) => expression.getText()),
  );
  return bases.flatMap((base) =>
    declarationsOf(file, base)
      .filter((each) => !isExported(each))
      .flatMap((each) => [withComment(each, each.getText()), ...inherited(file, each)]),
  );
}

function withComment(node: ts.Node, code: string): string {
  const comment = commentOf(node);
  return comment === '' ? code : `${comment}\n${code}`;
}

function printClass(node: ts.ClassDeclaration): string {
  const [head = ''] = node.getText().split('{');
  const members = node.members
    .filter((member) => !/^(?:#|private|protected)/.test(member.getText()))
    .map((member) => withComment(member, printMember(member)));
  return `${head.replace(/^export /, '').trim()} {\n${indent(members.join('\n'))}\n}`;
}

function printMember(member: ts.ClassElement): string {
  if (ts.isPropertyDeclaration(member) && member.initializer !== undefined)
    return `${member
      .getText()
      .slice(0, member.initializer.getStart() - member.getStart())
      .replace(/\s*=\s*$/, '')};`;
  const body = 'body' in member && member.body !== undefined ? Object(member.body).getStart() : member.getEnd();
  return `${member
    .getText()
    .slice(0, body - member.getStart())
    .trim()
    .replace(/;$/, '')};`;
}

const LONGEST_VALUE = 100;

/** Prints a constant by its type. Without a declared type, it is printed by its value or, for an object, by its members. */
function printConstant(file: string, name: string, statement: ts.VariableStatement): string {
  const declaration = statement.declarationList.declarations.find((each) => each.name.getText() === name);
  if (declaration?.type !== undefined) return `const ${name}: ${declaration.type.getText()};`;
  const value = unwrap(declaration?.initializer);
  if (value === undefined) return `const ${name};`;
  if (ts.isObjectLiteralExpression(value)) {
    const members = value.properties.map((member) => withComment(member, printProperty(file, member)));
    return `const ${name}: {\n${indent(members.join('\n'))}\n};`;
  }
  if (ts.isArrowFunction(value)) return `const ${name}: ${printArrow(value)};`;
  const text = value.getText();
  return text.length > LONGEST_VALUE ? `const ${name};` : `const ${name} = ${text};`;
}

/** Returns a value without `as const` and `satisfies`. */
function unwrap(value: ts.Expression | undefined): ts.Expression | undefined {
  return value !== undefined && (ts.isAsExpression(value) || ts.isSatisfiesExpression(value))
    ? unwrap(value.expression)
    : value;
}

function printProperty(file: string, member: ts.ObjectLiteralElementLike): string {
  if (ts.isMethodDeclaration(member)) return `${printHead(member)};`;
  const name = member.name?.getText() ?? member.getText();
  if (ts.isShorthandPropertyAssignment(member)) return printReference(file, name, name);
  if (!ts.isPropertyAssignment(member)) return `${name};`;
  const value = unwrap(member.initializer);
  if (value === undefined) return `${name};`;
  if (ts.isArrowFunction(value)) return `${name}: ${printArrow(value)};`;
  if (ts.isIdentifier(value)) return printReference(file, name, value.text);
  const text = value.getText();
  return isLiteral(value) && text.length <= LONGEST_VALUE ? `${name}: ${text};` : `${name};`;
}

/** Returns whether a value is a literal, without calls and names. */
function isLiteral(value: ts.Expression): boolean {
  if (ts.isObjectLiteralExpression(value))
    return value.properties.every((each) => ts.isPropertyAssignment(each) && isLiteral(each.initializer));
  return ts.isLiteralExpression(value) || value.kind === ts.SyntaxKind.TrueKeyword;
}

/** Prints a member that is a function of the same file. */
function printReference(file: string, name: string, target: string): string {
  const [node] = declarationsOf(file, target);
  if (node === undefined || !ts.isFunctionDeclaration(node)) return `${name};`;
  return `${printHead(node).replace(/^function \w+/, name)};`;
}

/** Prints `(a: A): B => …` as the type `(a: A) => B`. Without a declared result the type is unknown, because only the source is read. */
function printArrow(node: ts.ArrowFunction): string {
  const parameters = node.parameters.map((each) => each.getText()).join(', ');
  const generics = node.typeParameters?.map((each) => each.getText()).join(', ');
  const head = `${generics === undefined ? '' : `<${generics}>`}(${parameters})`;
  return node.type === undefined ? head : `${head} => ${node.type.getText()}`;
}

const COLUMNS = 100;

/** Wraps doc comments again, because they are written for wider windows than the pages of the reference. */
function wrapComments(code: string): string {
  return code.replaceAll(/^( *)\/\*\*([\s\S]*?)\*\//gm, (_, margin: string, content: string) => {
    const paragraphs = content.replaceAll(/\n\s*\*/g, '\n').split(/\n\s*(?=@|- )/);
    const [first = '', ...others] = paragraphs.map((each) => each.trim().replaceAll(/\s+/g, ' ')).filter(Boolean);
    const single = `${margin}/** ${first} */`;
    if (others.length === 0 && single.length <= COLUMNS) return single;
    const lines = [first, ...others].flatMap((each) => wrap(each, COLUMNS - margin.length - 3));
    return `${margin}/**\n${lines.map((line) => `${margin} * ${line}\n`).join('')}${margin} */`;
  });
}

function wrap(text: string, columns: number): readonly string[] {
  return text.match(new RegExp(`\\S.{0,${columns - 1}}(?=\\s|$)|\\S+`, 'g')) ?? [];
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
