import { COMMANDS } from './commands.ts';
import {
  type DocumentedOperation,
  type DocumentPart,
  examplesOf,
  nameOfReference,
  partOf,
  resolvePart,
  textOf,
} from './open-api.ts';
import { printBodyText } from './try-it.ts';

/** The form of a request in one language. Secrets come from the environment. */
interface RequestSnippet {
  readonly language: string;
  readonly text: string;
}

interface Argument {
  readonly name: string;
  readonly value: unknown;
  readonly schema: DocumentPart;
  /** The name of the schema, where it has one. */
  readonly type: string | undefined;
}

interface BodyArgument {
  /** The name of the schema; undefined for a map. */
  readonly type: string | undefined;
  /** The argument, as the generators name it. */
  readonly name: string;
  readonly value: unknown;
}

/** An operation as the clients have it: a method under its tag. */
interface ClientCall {
  readonly tag: string;
  readonly id: string;
  readonly required: readonly Argument[];
  readonly optional: readonly Argument[];
  /** Whether the operation has optional parameters. In Go, the call then has one more argument. */
  readonly hasOptions: boolean;
  readonly body: BodyArgument | undefined;
  /** Whether the operation returns a list, which clients read page by page. */
  readonly isList: boolean;
}

/** Tags whose operations no client has as methods. */
const WITHOUT_METHODS: ReadonlySet<string> = new Set(['service', 'console', 'passthrough']);
/** Tags whose operations each of these clients has in a form of its own, which its README describes. */
const FORMS_OF_THEIR_OWN: Readonly<Record<string, readonly string[]>> = {
  bulk: ['TypeScript', 'Python'],
  connect: ['TypeScript', 'Python', 'Java'],
};
/** The generated types of these bodies lack members that the document has, so no literal of them compiles. */
const WITHOUT_LITERALS: ReadonlySet<string> = new Set(['AccountSettingsChange', 'RoleReplace']);
/** Parameters that clients send by themselves. */
const SENT_BY_CLIENTS: ReadonlySet<string> = new Set(['details', 'Elements-Account-Id', 'Elements-Version']);
/** Parameters that clients send by themselves, and the next page, which clients handle when they read a list. */
const LEFT_TO_CLIENTS: ReadonlySet<string> = SENT_BY_CLIENTS.union(new Set(['nextPage']));

/**
 * Returns an example request in curl, in each client that has the operation, and as a command of `causeway` if there is one. Its values are the
 * examples of the document.
 */
export function snippetsFor(
  document: DocumentPart,
  basePath: string,
  operation: DocumentedOperation,
): readonly RequestSnippet[] {
  const call = clientCall(document, operation);
  const inClients =
    call === undefined
      ? []
      : clientsOf(operation.tag, call).map(([language, print]) => ({ language, text: print(call) }));
  const command = COMMANDS[operation.id];
  return [
    { language: 'curl', text: printCurl(document, basePath, operation) },
    ...(command === undefined ? [] : [{ language: 'CLI', text: printCommand(document, operation, command) }]),
    ...inClients,
  ];
}

function printCommand(document: DocumentPart, { parameters }: DocumentedOperation, command: string): string {
  const given = parameters.flatMap((parameter) => argumentOf(document, parameter));
  return command.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(given.find((each) => each.name === name)?.value ?? name);
    return /^[\w.,-]+$/.test(value) ? value : quoteForShell(value);
  });
}

function clientsOf(tag: string, { body }: ClientCall) {
  const isWithout = (language: string) =>
    FORMS_OF_THEIR_OWN[tag]?.includes(language) ||
    (language === 'TypeScript' && WITHOUT_LITERALS.has(body?.type ?? ''));
  return Object.entries(CLIENTS).filter(([language]) => !isWithout(language));
}

const CLIENTS: Readonly<Record<string, (call: ClientCall) => string>> = {
  TypeScript: printTypeScript,
  Python: printPython,
  Java: printJava,
  Go: printGo,
};

/** Returns the part of an operation that `scripts/sdk/client-document.ts` keeps. Undefined for an operation that it leaves out. */
function clientCall(document: DocumentPart, operation: DocumentedOperation): ClientCall | undefined {
  const { id, tag, path, part, body } = operation;
  const scopes = Array.isArray(part['x-causeway-scopes']) ? part['x-causeway-scopes'] : [];
  const isLeftOut =
    WITHOUT_METHODS.has(tag) ||
    path.startsWith('/hubs/{hub}/') ||
    scopes.includes('root') ||
    scopes.includes('connect') ||
    'x-causeway-form-of' in part ||
    'x-causeway-same-as' in part;
  const bodyArgument = body === undefined ? undefined : bodyOf(document, body);
  const isRequired = body === undefined || body.required === true;
  if (isLeftOut || !isRequired || (body !== undefined && bodyArgument === undefined)) return undefined;
  const given = operation.parameters.filter((parameter) => parameter.in !== 'header');
  const required = given.filter((parameter) => parameter.required === true);
  const leftOut = operation.parameters.filter(
    (parameter) => parameter.required !== true && !LEFT_TO_CLIENTS.has(textOf(parameter.name)),
  );
  const optional = leftOut
    .filter((parameter) => parameter.in !== 'header')
    .filter((parameter) => isPlain(resolvePart(document, parameter.schema)));
  return {
    tag: tag === 'instances' && !scopes.includes('platform') ? 'this-instance' : tag,
    id,
    required: required.flatMap((parameter) => argumentOf(document, parameter)),
    optional: optional.flatMap((parameter) => argumentOf(document, parameter)),
    hasOptions: operation.parameters.some(
      ({ name, required: isNeeded }) => isNeeded !== true && !SENT_BY_CLIENTS.has(textOf(name)),
    ),
    body: bodyArgument,
    isList: operation.responses.some(({ status, part: response }) => status === '200' && isList(document, response)),
  };
}

function bodyOf(document: DocumentPart, body: DocumentPart): BodyArgument | undefined {
  const media = partOf(partOf(body.content)['application/json']);
  const type = nameOfReference(partOf(media.schema));
  const [example] = examplesOf(document, media);
  if (type === undefined || example === undefined) return undefined;
  return !('properties' in resolvePart(document, partOf(media.schema)))
    ? { type: undefined, name: 'requestBody', value: example.value }
    : { type, name: type, value: example.value };
}

/** Whether a response is a list. A response that is a list or one instance is a list, because an example sends no `Element` token. */
function isList(document: DocumentPart, response: DocumentPart): boolean {
  const [[type, media] = []] = Object.entries(partOf(response.content));
  const { schema } = partOf(media);
  if (type !== 'application/json') return false;
  return resolvePart(document, schema).type === 'array' || nameOfReference(partOf(schema)) === 'InstanceListOrInstance';
}

/** Times and choices have types of their own in each client; a parameter that may be left out is then left out. */
function isPlain(schema: DocumentPart): boolean {
  return (
    !('enum' in schema || 'allOf' in schema) && !textOf(schema.format).startsWith('date') && schema.type !== 'array'
  );
}

function argumentOf(document: DocumentPart, parameter: DocumentPart): readonly Argument[] {
  const name = textOf(parameter.name);
  const schema = resolvePart(document, parameter.schema);
  return examplesOf(document, parameter)
    .slice(0, 1)
    .map(({ value }) => ({ name, value, schema, type: nameOfReference(partOf(parameter.schema)) }));
}

function printCurl(document: DocumentPart, basePath: string, operation: DocumentedOperation): string {
  const { method, path, belowBase, security, parameters, body } = operation;
  const given = parameters.flatMap((parameter) =>
    argumentOf(document, parameter).map(({ name, value }) => ({ name, location: parameter.in, value: String(value) })),
  );
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = given.find((each) => each.location === 'path' && each.name === name)?.value ?? name;
    return name === 'path' ? value : encodeURIComponent(value);
  });
  const url = quoteForShell((belowBase ? basePath : '') + address).replace(/^'/, '"$CAUSEWAY_URL"\'');
  const query = given.filter(({ location }) => location === 'query');
  const [type = '', media] = Object.entries(partOf(body?.content))[0] ?? [];
  const [example] = examplesOf(document, partOf(media));
  return [
    `curl --request ${method.toUpperCase()} ${url}`,
    ...(security.length > 0 ? [`--header "Authorization: ${authorizationOf(security)}"`] : []),
    ...given
      .filter(({ location }) => location === 'header')
      .map(({ name, value }) => `--header ${quoteForShell(`${name}: ${value}`)}`),
    ...query.map(({ name, value }) => `--url-query ${quoteForShell(`${name}=${value}`)}`),
    ...(type.startsWith('multipart/') ? ["--form 'file=@rows.csv'", ...metaDataOf(operation)] : []),
    ...(example === undefined || type.startsWith('multipart/')
      ? []
      : ["--header 'Content-Type: application/json'", `--data ${quoteForShell(printBodyText(example.value))}`]),
  ].join(' \\\n  ');
}

function metaDataOf({ tag }: DocumentedOperation): readonly string[] {
  return tag === 'bulk' ? [`--form 'metaData={"format": "csv", "action": "create"};type=application/json'`] : [];
}

function authorizationOf(security: readonly string[]): string {
  const platform = 'User $CAUSEWAY_USER_SECRET, Organization $CAUSEWAY_ORGANIZATION_SECRET';
  return security.includes('UserOrganization') ? platform : `${platform}, Element $CAUSEWAY_ELEMENT_TOKEN`;
}

/** Quotes a text for POSIX shells: between single quotes, no character has a special meaning. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function printTypeScript({ tag, id, required, optional, body }: ClientCall): string {
  const given = [...required, ...optional].map(({ name, value }) => `${camel(name)}: ${JSON.stringify(value)},`);
  const members = body === undefined ? given : [...given, `${camel(body.name)}: ${print(body.value)},`];
  const argument = members.length === 0 ? '' : `{\n${indent(members.join('\n'), 2)}\n}`;
  return `import { Causeway } from '@causeway/client';

const causeway = Causeway.fromEnvironment();
const response = await causeway.${tag === 'records' ? 'recordsApi' : camel(tag)}.${id}(${argument});
console.log(response);
`;
}

function printPython({ tag, id, required, optional, body }: ClientCall): string {
  const members = [
    ...required.map(({ name, value }) => `${snake(name)}=${printPythonValue(value)},`),
    ...(body === undefined ? [] : [`${snake(body.name)}=${printPythonValue(body.value)},`]),
    ...optional.map(({ name, value }) => `${keyword(name)}=${printPythonValue(value)},`),
  ];
  const lines = members.length === 0 ? '' : `\n${indent(members.join('\n'), 4)}\n`;
  return `from causeway_client import Causeway

causeway = Causeway.from_environment()
response = causeway.${tag === 'records' ? 'records_api' : snake(tag)}.${snake(id)}(${lines})
print(response)
`;
}

/** `from` is a word of the language; the generator puts `var_` in front. */
function keyword(name: string): string {
  return name === 'from' ? 'var_from' : snake(name);
}

/** Texts and numbers are written as in JSON. */
function printPythonValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printPythonValue).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${printPythonValue(member)},`,
    );
    return members.length === 0 ? '{}' : `{\n${indent(members.join('\n'), 4)}\n}`;
  }
  if (value === null) return 'None';
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
}

function printJava({ tag, id, required, optional, body }: ClientCall): string {
  const members = [
    ...required.map(printJavaArgument),
    ...(body === undefined ? [] : ['body']),
    ...(optional.length === 0
      ? []
      : [`options -> options${optional.map((each) => `.${camel(each.name)}(${printJavaArgument(each)})`).join('')}`]),
  ];
  const type = body?.type ?? 'Map';
  const made =
    body === undefined
      ? ''
      : `${body.type ?? 'Map<String, Object>'} body = new ObjectMapper().findAndRegisterModules().readValue("""
${indent(print(body.value).replaceAll('\\', '\\\\'), 4)}
    """, ${type}.class);
`;
  const imports = [
    'causeway.client.Causeway',
    ...(tag === 'records' ? ['causeway.client.api.RecordsApi'] : []),
    ...(body === undefined ? [] : ['com.fasterxml.jackson.databind.ObjectMapper']),
    ...[body?.type, ...required.map(({ type, schema }) => ('enum' in schema ? type : undefined))]
      .filter((name) => name !== undefined)
      .map((name) => `causeway.client.model.${name}`),
    ...(body !== undefined && body.type === undefined ? ['java.util.Map'] : []),
  ];
  return `${imports.map((name) => `import ${name};\n`).join('')}
Causeway causeway = Causeway.fromEnvironment();
${made}var response = ${tag === 'records' ? 'new RecordsApi(causeway)' : `causeway.${camel(tag)}()`}.${id}(${members.join(', ')});
System.out.println(response);
`;
}

function printJavaArgument({ value, schema, type }: Argument): string {
  const text = JSON.stringify(value);
  if ('enum' in schema) return type === undefined ? text : `${type}.of(${text})`;
  if (schema.format === 'uuid') return `java.util.UUID.fromString(${text})`;
  return schema.format === 'int64' ? `${text}L` : text;
}

function printGo({ tag, id, required, optional, body, isList, hasOptions }: ClientCall): string {
  const method = pascal(id);
  const fields = optional.map((each) => `${pascal(each.name)}: ${printGoArgument(each)}`);
  const members = [
    'ctx',
    ...required.map((each) => (each.name === 'where' ? printGoArgument(each) : JSON.stringify(each.value))),
    ...(body === undefined ? [] : ['body']),
    ...(hasOptions ? [fields.length === 0 ? 'nil' : `&causeway.${method}Params{${fields.join(', ')}}`] : []),
  ];
  const called = `client.${pascal(tag)}.${method}(${members.join(', ')})`;
  const made =
    body === undefined
      ? ''
      : `var body causeway.${body.type ?? 'Record'}
if err := json.Unmarshal([]byte(\`${print(body.value)}\`), &body); err != nil {
	return err
}
`;
  return `client, err := causeway.FromEnvironment()
if err != nil {
	return err
}
${made}${isList ? `for each, err := range ${called}.All() {\n${indent(printGoResult('each'), 1, '\t')}\n}` : `response, err := ${called}\n${printGoResult('response')}`}
`;
}

function printGoResult(name: string): string {
  return `if err != nil {\n\treturn err\n}\nfmt.Println(${name})`;
}

function printGoArgument({ name, value, schema }: Argument): string {
  if (name === 'where') return `causeway.Where(${JSON.stringify(value)})`;
  return schema.type === 'boolean' ? `causeway.Ptr(${value})` : JSON.stringify(value);
}

function print(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function indent(text: string, count: number, by = ' '): string {
  return text.replaceAll(/^/gm, by.repeat(count));
}

/** `oauth-proxies` as `oauthProxies`, `InstanceCreate` as `instanceCreate`. */
function camel(name: string): string {
  const joined = name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

function pascal(name: string): string {
  return camel(name).replace(/^./, (letter) => letter.toUpperCase());
}

function snake(name: string): string {
  return camel(name)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}
