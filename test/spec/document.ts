import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const GENERATED = join(import.meta.dirname, '../../generated');

export interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<
    Record<string, { readonly examples?: Readonly<Record<string, { readonly $ref: string }>> }>
  >;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly responses: Readonly<Record<string, Response>>;
  readonly 'x-causeway-scopes': readonly string[];
  readonly 'x-causeway-key-scopes'?: readonly string[];
  readonly 'x-causeway-form-of'?: string;
  readonly 'x-causeway-same-as'?: string;
}

export interface Document {
  readonly openapi: string;
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: { readonly ErrorCode: { readonly enum: readonly string[] } };
    readonly responses: Readonly<Record<string, Response>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly in: string }>>;
  };
}

/** The bundled document as clients get it. */
export function readDocument(): Document {
  return JSON.parse(readFileSync(join(GENERATED, 'openapi.json'), 'utf8'));
}

/** Every operation with its place, e.g. `get /elements`. */
export function operationsOf(document: Document): readonly { readonly place: string; readonly operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) =>
      operation.operationId === undefined ? [] : [{ place: `${method} ${path}`, operation }],
    ),
  );
}

/** The component that a `#/components/<kind>/<name>` reference names. */
export function componentName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
