import { globSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript';

/*
 * A member of the contract that nobody reads promises connectors what does not happen. What a connector declares must be read
 * in src, and by more than the check at load; what the core tells a connector must be read by a connector at least. The suite may be the only
 * reader of a simulator's members.
 */

const ROOT = resolve(import.meta.dirname, '..');

/**
 * What the core makes and connectors read. The parameters of the functions that a connector declares are of that sort too. A description of a
 * file comes back to the connector.
 */
const TOLD: ReadonlySet<string> = new Set([
  'ChangesInput',
  'ConditionParts',
  'ConnectorContext',
  'CreateInput',
  'DiscoveryContext',
  'FileDescription',
  'FileKey',
  'IngestRows',
  'IngestStart',
  'Known',
  'LikePattern',
  'ListInput',
  'ListQuery',
  'NativeEnd',
  'NativePageInput',
  'ProviderResponse',
  'PushedField',
  'RecordInput',
  'RecordKey',
  'RegisteredInput',
  'RegistrationInput',
  'SimulatorMemory',
  'SimulatorOptions',
  'SortTerm',
  'UpdateInput',
  'UploadInput',
  'UploadVersionInput',
  'UploadedFile',
  'Value',
]);

interface Member {
  /** `Media.about`. */
  readonly name: string;
  readonly isTold: boolean;
}

interface Read {
  readonly file: string;
  readonly declaration: ts.Node;
}

function createProgram(): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const files = globSync(['src/**/*.ts', 'connectors/**/*.ts', 'suite/**/*.ts'], { cwd: ROOT, exclude: isTest });
  return ts.createProgram(
    files.map((file) => join(ROOT, file)),
    options,
  );
}

function isTest(file: string): boolean {
  return /\.test\.ts$|\/(?:testing|simulated)\.ts$/.test(file);
}

/** Every property of what a connector may import, by where it is declared. */
function membersOf(program: ts.Program, file: string): ReadonlyMap<ts.Node, Member> {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(join(ROOT, file));
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module.`);
  const exported = checker
    .getExportsOfModule(module)
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
  const declarations = exported.flatMap((symbol) => symbol.declarations ?? []);
  const types = declarations.filter((node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node));
  return new Map(
    types.flatMap((type) => propertiesBelow(type, { name: type.name.text, isTold: TOLD.has(type.name.text) })),
  );
}

function propertiesBelow(node: ts.Node, outer: Member): readonly (readonly [ts.Node, Member])[] {
  const found: (readonly [ts.Node, Member])[] = [];
  node.forEachChild((child) => {
    const isProperty = ts.isPropertySignature(child);
    const name = isProperty ? `${outer.name}.${child.name.getText()}` : outer.name;
    const member = { name, isTold: outer.isTold || ts.isParameter(child) };
    if (isProperty) found.push([child, member]);
    found.push(...propertiesBelow(child, member));
  });
  return found;
}

/** Every place where a property is read: `a.b`, `a['b']`, `a[name]` with the few names it may be, and `{ b } = a`. */
function readsOf(program: ts.Program): readonly Read[] {
  const checker = program.getTypeChecker();
  const reads: Read[] = [];
  for (const source of program.getSourceFiles()) {
    const file = relative(ROOT, source.fileName);
    if (!/^(?:src|connectors|suite)\//.test(file)) continue;
    const note = (symbol: ts.Symbol | undefined) => {
      for (const declaration of symbol?.declarations ?? []) reads.push({ file, declaration });
    };
    const visit = (node: ts.Node): void => {
      for (const symbol of symbolsReadBy(node, checker)) note(symbol);
      node.forEachChild(visit);
    };
    visit(source);
  }
  return reads;
}

function symbolsReadBy(node: ts.Node, checker: ts.TypeChecker): readonly (ts.Symbol | undefined)[] {
  if (ts.isPropertyAccessExpression(node)) return [checker.getSymbolAtLocation(node.name)];
  if (ts.isElementAccessExpression(node)) {
    const type = checker.getTypeAtLocation(node.expression);
    const names = textsOf(checker.getTypeAtLocation(node.argumentExpression), checker);
    // A look-up that may be of any property says nothing of one.
    return names.length < type.getProperties().length ? names.map((name) => checker.getPropertyOfType(type, name)) : [];
  }
  if (!ts.isBindingElement(node) || !ts.isObjectBindingPattern(node.parent) || node.dotDotDotToken) return [];
  const name = node.propertyName ?? node.name;
  if (!ts.isIdentifier(name) && !ts.isStringLiteral(name)) return [];
  return [checker.getPropertyOfType(checker.getTypeAtLocation(node.parent), name.text)];
}

function textsOf(type: ts.Type, checker: ts.TypeChecker): readonly string[] {
  const bound = checker.getBaseConstraintOfType(type) ?? type;
  const types = bound.isUnion() ? bound.types : [bound];
  return types.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
}

describe('the contract of connectors', () => {
  const program = createProgram();
  const members = membersOf(program, 'src/connector/index.ts');
  const reads = readsOf(program);

  function isRead(member: Member, declaration: ts.Node): boolean {
    return reads.some(
      (read) =>
        read.declaration === declaration &&
        !/^src\/connector\/validate/.test(read.file) &&
        (member.isTold || read.file.startsWith('src/') || isReadBySuite(member, read)),
    );
  }

  /** The suite asks a simulator what the official description of its provider says against it. */
  function isReadBySuite({ name }: Member, { file }: Read): boolean {
    return name.startsWith('Simulator.') && file.startsWith('suite/');
  }

  it('is found', () => {
    const names = [...members.values()].map(({ name }) => name);
    expect(names).to.include.members(['Connector.key', 'ListInput.cursor', 'RecordKey.id', 'FieldSpec.write']);
  });

  it('has no member that nobody reads', () => {
    const unread = [...members].filter(([declaration, member]) => !isRead(member, declaration));
    expect(unread.map(([, { name }]) => name)).to.deep.equal([]);
  });
});
