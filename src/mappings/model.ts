/**
 * Definitions and transformations as they are stored and shown (contract D17). A definition names an object and its fields in the words of
 * the caller. A transformation maps the fields of one provider object to those of a definition, for one element or one instance.
 */

/** The levels, from the lowest to the highest. A lower level overrides a higher one. */
export const LEVELS = ['instance', 'account', 'organization'] as const;

/** A level of definitions and transformations. */
export type Level = (typeof LEVELS)[number];

/** The types of mapped fields. */
export const MAPPED_TYPES = ['string', 'number', 'boolean', 'date', 'array', 'object'] as const;

/** The type of a mapped field. A `date` is a date or an instant, in ISO 8601. */
export type MappedType = (typeof MAPPED_TYPES)[number];

/** A field of a definition. */
export interface DefinitionField {
  /** Dots nest, `[*]` stands for the items of an array: `address.city`, `users[*].name`. */
  readonly path: string;
  readonly type: MappedType;
  readonly displayName?: string;
}

/** A definition at one level. */
export interface Definition {
  readonly objectName: string;
  readonly fields: readonly DefinitionField[];
}

/** The directions of a mapping: from the provider (responses), and to the provider (requests). */
interface Directions {
  readonly fromVendor?: boolean;
  readonly toVendor?: boolean;
}

/** A value of JSON that a configuration entry names. */
export type MappedValue = string | number | boolean | null;

/** An entry in the configuration of a field. */
export type FieldEntry =
  | { readonly type: 'passThrough'; readonly properties: Directions }
  | { readonly type: 'remove'; readonly properties: Directions }
  /** `pattern`: how the provider writes the date, as a Java pattern. */
  | { readonly type: 'transformDate'; readonly properties: { readonly pattern: string } }
  | { readonly type: 'defaultValue'; readonly properties: { readonly value: MappedValue } }
  | {
      readonly type: 'valueMap';
      /** Our values by the provider's. `otherwise` is our value for all others, or `keep`; without it, they become null. */
      readonly properties: { readonly values: Readonly<Record<string, MappedValue>>; readonly otherwise?: MappedValue };
    }
  | { readonly type: 'constant'; readonly properties: { readonly value: MappedValue } }
  | { readonly type: 'join'; readonly properties: { readonly paths: readonly string[]; readonly separator?: string } }
  | { readonly type: 'first'; readonly properties: { readonly paths: readonly string[] } }
  /** `multiply`: the factor from the provider's number to ours, e.g. 0.01 from cents to units. */
  | { readonly type: 'number'; readonly properties: { readonly multiply: number | string } };

/** An entry in the configuration of a transformation. */
export type TransformationEntry =
  | { readonly type: 'passThrough'; readonly properties: Directions }
  | { readonly type: 'inherit' }
  | { readonly type: 'addToDocumentation' }
  | { readonly type: 'applyJSOnQueryFieldValue' };

/** A field of a transformation. */
export interface TransformationField {
  readonly path: string;
  /** Type of the field. Default: that of the definition's field. */
  readonly type?: MappedType;
  /** The path in the provider's record. It is absent for fields that a script, a constant, a join or a choice makes. */
  readonly vendorPath?: string;
  readonly vendorType?: string;
  readonly configuration?: readonly FieldEntry[];
}

/**
 * The parameters of a script, before `done` (mappings.md, 9). `isWhere` says whether the script is to change the values of a filter instead
 * of a record. Scripts ask for it in files of other systems, so it is there for records too, and false.
 */
export const SCRIPT_PARAMETERS = ['originalObject', 'transformedObject', 'fromVendor', 'isWhere'] as const;

/** A script that changes mapped records. */
export interface MappingScript {
  /** The body of `function (originalObject, transformedObject, fromVendor, isWhere, done)`. */
  readonly body: string;
  readonly mimeType?: string;
  /** Whether lists leave out the records for which the script returned nothing. */
  readonly filterEmptyResponse?: boolean;
}

/** A transformation at one level, for one element or one instance. */
export interface Transformation {
  readonly objectName: string;
  readonly vendorName: string;
  readonly fields: readonly TransformationField[];
  readonly configuration?: readonly TransformationEntry[];
  readonly script?: MappingScript;
}

/** A field with the level that it comes from. */
export type Leveled<Field> = Field & { readonly level: Level };

/** The mapping of one object that is in force for an instance: all levels merged (mappings.md, 4). */
export interface MappingInForce {
  /** Differs for any two contents of the mapping. A page token or a compiled mapping is bound to it. */
  readonly version: string;
  readonly objectName: string;
  readonly vendorName: string;
  /** The level of the transformation. */
  readonly level: Level;
  /** The fields of the definition in force, by path. */
  readonly definition: readonly Leveled<DefinitionField>[];
  readonly fields: readonly Leveled<TransformationField>[];
  readonly configuration: readonly TransformationEntry[];
  readonly script?: MappingScript;
}

/** All mappings in force for an instance. The same value comes again until one of them changes. */
export interface MappingsInForce {
  /** Differs for any two states of the mappings of an instance. */
  readonly version: string;
  readonly byName: ReadonlyMap<string, MappingInForce>;
  /** Names of definitions that no transformation maps on this element. */
  readonly unmapped: readonly string[];
}
