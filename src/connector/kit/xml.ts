import { XMLParser, XMLValidator } from 'fast-xml-parser';

/** An element of an XML document. */
export interface XmlElement {
  /** The name without its namespace prefix. */
  readonly name: string;
  /** The attributes by name, without prefixes and without declarations of namespaces. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text between the tags, without the text of children. */
  readonly text: string;
}

/** An element takes up to 10 µs, so the largest document takes about half a second. */
const MOST_TAGS = 50_000;
const MOST_ATTRIBUTES = 20_000;
const DEEPEST = 50;

const ATTRIBUTES = ':@';
const TEXT = '#text';
const CDATA = '#cdata';

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignorePiTags: true,
  // Only what needs no declaration is expanded, below.
  processEntities: false,
  cdataPropName: CDATA,
  maxNestedTags: DEEPEST,
});

/** A reader of XML from untrusted senders. */
export const xml = {
  /**
   * Returns the root element of a document. The size is checked before the text is parsed, and entities of the document are never expanded.
   * @throws SyntaxError for a text that is no XML, declares a document type, or has more than 50,000 tags, 20,000 attributes or 50 levels
   */
  parse: (text: string): XmlElement => {
    assertBounded(text);
    // Whoever declares no document type can declare no entity that grows when it is expanded.
    if (/<!DOCTYPE/i.test(text)) throw new SyntaxError('The XML declares a document type.');
    const validity = XMLValidator.validate(text);
    if (validity !== true) throw new SyntaxError(`This is not XML: ${validity.err.msg.slice(0, 200)}`);
    const [root] = elementsIn(parse(text));
    if (root === undefined) throw new SyntaxError('The XML has no element.');
    return root;
  },
  /** Returns the first child with this name, or undefined. */
  child: (element: XmlElement | undefined, name: string): XmlElement | undefined =>
    element?.children.find((child) => child.name === name),
  children: (element: XmlElement | undefined, name: string): readonly XmlElement[] =>
    /** Returns all children with this name. */
    element?.children.filter((child) => child.name === name) ?? [],
  /** Returns the text of the first child with this name. It returns undefined where there is none, and for `xsi:nil`. */
  text: (element: XmlElement | undefined, name: string): string | undefined => {
    const child = xml.child(element, name);
    return child === undefined || child.attributes.get('nil') === 'true' ? undefined : child.text;
  },
} as const;

/** Throws for a text with more possible tags or attributes than the limits. It counts `<` and `="` wherever they stand. */
function assertBounded(text: string): void {
  if (countOf(text, '<') > MOST_TAGS) throw new SyntaxError(`The XML has more than ${MOST_TAGS} tags.`);
  if (countOf(text, '="') + countOf(text, "='") > MOST_ATTRIBUTES) {
    throw new SyntaxError(`The XML has more than ${MOST_ATTRIBUTES} attributes.`);
  }
  // Words without values in a tag are no attributes, and take as long.
  if (/<[^<>!][^<>]{20000}/.test(text)) throw new SyntaxError('The XML has a tag of more than 20,000 characters.');
}

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

function parse(text: string): unknown {
  try {
    return parser.parse(text);
  } catch (error) {
    throw new SyntaxError(`This is not XML: ${error instanceof Error ? error.message.slice(0, 200) : error}`);
  }
}

type Node = Readonly<Record<string, unknown>>;

/** The parser returns lists of `{ name: [children], ':@': attributes }`, `{ '#text': text }` and `{ '#cdata': [{ '#text': text }] }`. */
function elementsIn(nodes: unknown): readonly XmlElement[] {
  return nodesIn(nodes).flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ATTRIBUTES && key !== TEXT && key !== CDATA);
    return name === undefined ? [] : [toElement(name, node)];
  });
}

function toElement(name: string, node: Node): XmlElement {
  const inside = node[name];
  const attributes = Object.entries(Object(node[ATTRIBUTES])).map(
    ([key, value]) => [key, expandEntities(String(value))] as const,
  );
  return {
    name,
    attributes: new Map(attributes),
    children: elementsIn(inside),
    text: nodesIn(inside)
      .map((each) => expandEntities(textOf(each)) + nodesIn(each[CDATA]).map(textOf).join(''))
      .join(''),
  };
}

function textOf({ [TEXT]: text }: Node): string {
  return typeof text === 'string' ? text : '';
}

function nodesIn(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value : [];
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Expands each entity once, from left to right, and does not expand the result again. Unknown entities stay as they are. */
function expandEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}
