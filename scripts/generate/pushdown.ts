import type { FieldSpec, ObjectSpec, Operator } from '../../src/connector/index.ts';
import type { Element } from './elements.ts';

/** Returns Markdown that shows which parts of a filter each provider evaluates, made from the declarations of the connectors. */
export function describePushdown(elements: readonly Element[]): string {
  const printed: PrintedTables = new Map();
  const chapters = elements.flatMap((element) => describeElement(element, printed));
  return [...INTRODUCTION, ...chapters, ''].join('\n');
}

/** The name of the object at which each table was printed, by the text of the table. The same table is not printed again. */
type PrintedTables = Map<string, string>;

const INTRODUCTION = [
  '# What each provider evaluates',
  '',
  'Every filter works on every object. The tables show which part the provider evaluates:',
  '',
  '- ● the provider evaluates the condition exactly.',
  '- ○ the provider may return more rows, and Causeway checks them again.',
  '- Blank: Causeway evaluates the condition.',
  '',
  'The fields are those of the demo accounts on the simulators. `GET /objects/{objectName}/metadata` shows those of your account.',
  '',
];

const SHAPES: Readonly<Record<NonNullable<ObjectSpec['shape']>['kind'], string>> = {
  none: 'accepts no filter',
  any: 'joins conditions by AND and OR in any nesting',
  and: 'joins conditions by AND only',
  dnf: 'accepts an OR of ANDs',
  cnf: 'accepts an AND of ORs',
  'and-xor-or': 'joins conditions either by AND or by OR',
};

function describeElement(
  { connector: { key, name: element }, objects }: Element,
  printed: PrintedTables,
): readonly string[] {
  const all = Object.entries(objects);
  const listed = all.flatMap((entry) => [entry, ...childrenOf(entry)]).filter(([, { list }]) => list !== undefined);
  const tables = listed.map(([name, object]) => ({
    name,
    place: `\`${name}\` of ${element}`,
    lines: describeFields(object),
  }));
  const isChild = ({ name }: { readonly name: string }) => Number(name.includes('{id}'));
  // A table is printed for an object rather than for the child of another one.
  for (const { place, lines } of tables.toSorted((a, b) => isChild(a) - isChild(b))) {
    const text = lines.join('\n');
    if (!printed.has(text)) printed.set(text, place);
  }
  const chapters = tables.map(({ place, name, lines }) => {
    const first = printed.get(lines.join('\n'));
    return [`### ${name}`, '', ...(first === undefined || first === place ? lines : [`The same as ${first}.`]), ''];
  });
  // The pages of /docs split the file at these lines.
  return [`<!-- element: ${key} -->`, `## ${element}`, '', ...chapters.flat()];
}

type Entry = readonly [name: string, object: ObjectSpec];

function childrenOf([name, { children = {} }]: Entry): readonly Entry[] {
  return Object.entries(children).flatMap(([child, spec]): readonly Entry[] => {
    const entry = [`${name}/{id}/${child}`, spec] as const;
    return [entry, ...childrenOf(entry)];
  });
}

/** The columns. Operators that nearly all connectors declare together share a column. */
const COLUMNS: readonly (readonly [string, readonly Operator[]])[] = [
  ['=', ['=']],
  ['!=', ['!=']],
  ['< <=', ['<', '<=']],
  ['> >=', ['>', '>=']],
  ['IN', ['IN']],
  ['NOT IN', ['NOT IN']],
  ['LIKE', ['LIKE']],
  ['NOT LIKE', ['NOT LIKE']],
  ['IS NULL', ['IS NULL', 'IS NOT NULL']],
];

function describeFields(object: ObjectSpec): readonly string[] {
  const filterable = Object.values(object.fields).some(({ filter }) => Object.keys(filter ?? {}).length > 0);
  const shape = SHAPES[object.shape?.kind ?? (object.translator === undefined ? 'none' : 'and')];
  const parameters = Object.entries(object.parameters ?? {});
  const columns = [...COLUMNS.map(([title]) => title), 'sort'];
  return [
    filterable ? `The provider ${shape}.` : 'The provider filters nothing. Causeway evaluates every condition.',
    '',
    ...parameters.map(([parameter, { type, description }]) => `- parameter \`${parameter}\` (${type}): ${description}`),
    ...(parameters.length > 0 ? [''] : []),
    `| fields | type | ${columns.map((title) => (title === 'sort' ? title : `\`${title}\``)).join(' | ')} |`,
    `| --- | --- |${columns.map(() => ' :-: |').join('')}`,
    ...describeAlike(object.fields),
  ];
}

/** Returns one row for all fields that are alike, at the place of the first of them. */
function describeAlike(fields: ObjectSpec['fields']): readonly string[] {
  const alike = Map.groupBy(Object.entries(fields), ([, spec]) => describeField(spec));
  return [...alike].map(([cells, entries]) => `| ${entries.map(([name]) => `\`${name}\``).join(', ')} ${cells}`);
}

const MARKS = { exact: '●', superset: '○' } as const;

function describeField(spec: FieldSpec): string {
  const marks = COLUMNS.map(([, operators]) => {
    const found = operators
      .map((operator) => spec.filter?.[operator])
      .map((exactness) => (exactness ? MARKS[exactness] : ''));
    return [...new Set(found)].join(' / ');
  });
  const collation = spec.type === 'string' && spec.collation === 'ci' ? ', ci' : '';
  return `| ${spec.type}${collation} | ${marks.join(' | ')} | ${spec.sortable === true ? '●' : ''} |`;
}
