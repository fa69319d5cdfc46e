import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FieldSpec, Objects } from '../../src/connector/index.ts';
import { OWN_CONNECTORS } from '../../src/connector/registry.ts';
import definitions from '../../src/mappings/catalogue/definitions.json' with { type: 'json' };
import type {
  Definition,
  DefinitionField,
  FieldEntry,
  Transformation,
  TransformationField,
} from '../../src/mappings/model.ts';
import type { Element } from './elements.ts';

/** The definitions that come with the product, by name. */
export const CATALOGUE = definitions as Readonly<Record<string, Pick<Definition, 'fields'>>>;

/** The transformations that come with a connector, by the names of the definitions. */
export type CatalogueMappings = Readonly<Record<string, Omit<Transformation, 'objectName'>>>;

/** Reads `connectors/<key>/mappings.json`. */
export async function readMappings(key: string): Promise<CatalogueMappings> {
  return JSON.parse(await readFile(join(OWN_CONNECTORS, key, 'mappings.json'), 'utf8'));
}

/** Returns the first entry of a type in the configuration of a field. */
export function entryOf<Type extends FieldEntry['type']>({ configuration = [] }: TransformationField, type: Type) {
  return configuration.find((entry): entry is Extract<FieldEntry, { type: Type }> => entry.type === type);
}

/** Returns the provider's paths from which a mapped field is made. */
export function pathsOf(field: TransformationField): readonly string[] {
  return field.vendorPath === undefined ? (entryOf(field, 'join')?.properties.paths ?? []) : [field.vendorPath];
}

/** A field of a provider's object, as the beginning of a path. */
export interface Root {
  readonly name: string;
  readonly spec: FieldSpec;
  /** The part of the path below the field. */
  readonly rest: string;
}

/** Returns the field that a path begins with: the longest name, because names of fields can contain dots. */
export function findRoot(objects: Objects, vendorName: string, path: string): Root | undefined {
  const [found] = Object.entries(objects[vendorName]?.fields ?? {})
    .filter(([name]) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))
    .sort(([one], [other]) => other.length - one.length);
  return found && { name: found[0], spec: found[1], rest: path.slice(found[0].length) };
}

/** An element with its transformations. */
interface MappedElement extends Element {
  readonly mappings: CatalogueMappings;
}

/** A column of a table: the elements that map a definition in the same way. */
interface Column extends MappedElement {
  readonly link: string;
  readonly transformation: CatalogueMappings[string];
}

/** Returns Markdown that shows the fields of each definition, and the provider's path of each field for each element. */
export async function describeCatalogue(described: readonly Element[]): Promise<string> {
  const elements = await Promise.all(
    described.map(async (element) => ({ ...element, mappings: await readMappings(element.connector.key) })),
  );
  const chapters = Object.entries(CATALOGUE).flatMap(([name, { fields }]) => [
    '',
    ...describeDefinition(name, fields, columnsOf(name, elements)),
  ]);
  return [...LEGEND, ...chapters, ''].join('\n');
}

const LEGEND = [
  '## All definitions',
  '',
  'Each table has the fields of a definition, and the path of each field in the records of each element. `GET /objects/{objectName}/metadata` shows both for your instance.',
  '',
  '- A dash means that the element has no such field. It is null there.',
  '- ¹ Only single records have the field. In lists, it is null.',
  '- ² The provider returns the field only if `fields` names it.',
  '- ³ You can read the field, but not write it here, because another field writes the same value, or because the provider needs more than the path.',
];

/** Elements with the same transformation share a column, such as those that differ only in their authentication. */
function columnsOf(name: string, elements: readonly MappedElement[]): readonly Column[] {
  const mapped = elements.flatMap((element) => {
    const transformation = element.mappings[name];
    const { name: title, key } = element.connector;
    const link = `[${title}](../connectors/${key}/README.md)`;
    return transformation === undefined ? [] : [{ ...element, transformation, link }];
  });
  const alike = Map.groupBy(mapped, ({ transformation }) => JSON.stringify(transformation));
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, link: [first, ...others].map(({ link }) => link).join(', ') }],
  );
}

function describeDefinition(
  name: string,
  fields: readonly DefinitionField[],
  columns: readonly Column[],
): readonly string[] {
  const heads = columns.map(({ link, transformation }) => `${link}: \`${transformation.vendorName}\``);
  return [
    `## ${name}`,
    '',
    `| field | type | ${heads.join(' | ')} |`,
    `| --- | --- |${' --- |'.repeat(columns.length)}`,
    ...fields
      .filter(({ path }) => !hasItems(path, fields))
      .map((field) => {
        const cells = columns.map((column) => describePath(field, column));
        return `| \`${field.path}\` | ${describeType(field, columns)} | ${cells.join(' | ')} |`;
      }),
  ];
}

/** Returns whether the items of a list have fields of their own, so that no path leads to the list itself. */
export function hasItems(path: string, fields: readonly DefinitionField[]): boolean {
  return fields.some((field) => field.path.startsWith(`${path}[`));
}

function describeType({ path, type }: DefinitionField, columns: readonly Column[]): string {
  if (type !== 'string') return type;
  const values = columns.flatMap(({ transformation }) => {
    const field = transformation.fields.find((each) => each.path === path);
    return field === undefined ? [] : Object.values(entryOf(field, 'valueMap')?.properties.values ?? {});
  });
  return values.length === 0 ? type : [...new Set(values)].map((value) => `\`${value}\``).join(', ');
}

function describePath({ path }: DefinitionField, { objects, transformation }: Column): string {
  const field = transformation.fields.find((each) => each.path === path);
  if (field === undefined) return '–';
  const factor = entryOf(field, 'number')?.properties.multiply;
  const paths = pathsOf(field).map((each) => `\`${each}\``);
  const roots = pathsOf(field).map((each) => findRoot(objects, transformation.vendorName, each)?.spec);
  const marks = [
    roots.some((spec) => spec?.unlisted === true) ? '¹' : '',
    roots.some((spec) => spec?.onDemand === true) ? '²' : '',
    entryOf(field, 'remove')?.properties.toVendor === true ? '³' : '',
  ];
  return `${paths.join(', ')}${factor === undefined ? '' : ` × ${factor}`}${marks.join('')}`;
}
