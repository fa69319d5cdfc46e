/** A part of an OpenAPI document. redocly checked the document when it was generated. */
export type DocumentPart = Readonly<Record<string, unknown>>;

export interface DocumentedResponse {
  readonly status: string;
  readonly part: DocumentPart;
  /** Name of the component of this response. */
  readonly name: string;
  /** Whether the response has the body that all errors share. */
  readonly isError: boolean;
}

export interface DocumentedOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  /** Whether the path is below the base path. */
  readonly belowBase: boolean;
  readonly summary: string;
  readonly description: string;
  /** The security schemes, any of which is enough. */
  readonly security: readonly string[];
  readonly parameters: readonly DocumentPart[];
  readonly body: DocumentPart | undefined;
  readonly responses: readonly DocumentedResponse[];
  readonly part: DocumentPart;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export function partOf(value: unknown): DocumentPart {
  return isPart(value) ? value : {};
}

function isPart(value: unknown): value is DocumentPart {
  return typeof value === 'object' && value !== null;
}

export function partsOf(value: unknown): readonly DocumentPart[] {
  return Array.isArray(value) ? value.map(partOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the name of the component that a reference names; undefined without a reference. */
export function nameOfReference({ $ref }: DocumentPart): string | undefined {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined;
}

/** Returns the part, or the part that it refers to. */
export function resolvePart(document: DocumentPart, value: unknown): DocumentPart {
  const { $ref } = partOf(value);
  if (typeof $ref !== 'string') return partOf(value);
  return $ref
    .slice('#/'.length)
    .split('/')
    .reduce((part, name) => partOf(part[name]), document);
}

/** Returns the components of a kind, by name. */
export function componentsOf(
  document: DocumentPart,
  kind: string,
): readonly (readonly [name: string, part: DocumentPart])[] {
  return Object.entries(partOf(partOf(document.components)[kind])).map(([name, part]) => [name, partOf(part)]);
}

export function listOperations(document: DocumentPart): readonly DocumentedOperation[] {
  return Object.entries(partOf(document.paths)).flatMap(([path, value]) => {
    const item = partOf(value);
    const methods = METHODS.filter((method) => method in item);
    return methods.map((method) => readOperation(document, { path, method, item }));
  });
}

interface OperationAddress {
  readonly path: string;
  readonly method: string;
  readonly item: DocumentPart;
}

function readOperation(document: DocumentPart, { path, method, item }: OperationAddress): DocumentedOperation {
  const operation = partOf(item[method]);
  const parameters = [...partsOf(item.parameters), ...partsOf(operation.parameters)];
  return {
    id: textOf(operation.operationId),
    tag: Array.isArray(operation.tags) ? textOf(operation.tags[0]) : '',
    method,
    path,
    belowBase: !('servers' in item),
    summary: textOf(operation.summary),
    description: textOf(operation.description),
    security: partsOf(operation.security).flatMap((scheme) => Object.keys(scheme)),
    parameters: parameters.map((parameter) => resolvePart(document, parameter)),
    body: operation.requestBody === undefined ? undefined : partOf(operation.requestBody),
    responses: Object.entries(partOf(operation.responses)).map(([status, response]) =>
      readResponse(document, status, partOf(response)),
    ),
    part: operation,
  };
}

function readResponse(document: DocumentPart, status: string, response: DocumentPart): DocumentedResponse {
  const part = resolvePart(document, response);
  return { status, part, name: nameOfReference(response) ?? '', isError: isError(part) };
}

export function isError(response: DocumentPart): boolean {
  const json = partOf(partOf(response.content)['application/json']);
  return nameOfReference(partOf(json.schema)) === 'ErrorResponse';
}

/** Returns the examples of a parameter, a header or a media type; if it has none, those of its schema. */
export function examplesOf(
  document: DocumentPart,
  part: DocumentPart,
): readonly { readonly summary: string; readonly value: unknown }[] {
  if ('example' in part) return [{ summary: 'Example', value: part.example }];
  const own = Object.values(partOf(part.examples)).map((example) => resolvePart(document, example));
  if (own.length > 0) return own.map(({ summary, value }) => ({ summary: textOf(summary), value }));
  const schema = resolvePart(document, part.schema);
  return 'example' in schema ? [{ summary: 'Example', value: schema.example }] : [];
}
