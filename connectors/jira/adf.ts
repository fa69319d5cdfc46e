import { type Json, json } from '#connector';

/**
 * The Atlassian Document Format, in which Jira holds descriptions, comments and texts of several lines. Causeway shows its text and writes
 * paragraphs. Source: "Atlassian Document Format", nodes.
 */

/** Nodes whose children are lines of text. All others hold such nodes. */
const LINES = new Set(['paragraph', 'heading', 'codeBlock']);

/** Returns the text of a document, a line for each paragraph. Pictures, colours and other marks are left out. */
function readDocument(value: unknown): unknown {
  if (!json.isObject(value) || value.type !== 'doc') return value;
  return linesOf(value).join('\n');
}

function linesOf(node: Json): readonly string[] {
  const children = childrenOf(node);
  if (LINES.has(String(node.type))) return children.map(textOf).join('').split('\n');
  if (children.length === 0) return isInline(node) ? [textOf(node)] : [];
  if (node.type === 'listItem' || node.type === 'taskItem' || node.type === 'decisionItem') {
    const lines = children.some(isInline) ? [children.map(textOf).join('')] : children.flatMap(linesOf);
    return lines.map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`));
  }
  if (node.type === 'tableRow') return [children.map((cell) => linesOf(cell).join(' ')).join(' | ')];
  return children.flatMap(linesOf);
}

function childrenOf({ content }: Json): readonly Json[] {
  return Array.isArray(content) ? content.filter(json.isObject) : [];
}

const INLINE = new Set(['text', 'hardBreak', 'mention', 'emoji', 'date', 'status', 'inlineCard']);

function isInline({ type }: Json): boolean {
  return INLINE.has(String(type));
}

function textOf(node: Json): string {
  const attribute = (name: string) => json.findText(json.at(node, 'attrs', name));
  switch (node.type) {
    case 'text':
      return json.findText(node.text) ?? '';
    case 'hardBreak':
      return '\n';
    case 'date':
      return new Date(Number(attribute('timestamp') ?? 0)).toISOString().slice(0, 10);
    default:
      return attribute('text') ?? attribute('shortName') ?? attribute('url') ?? childrenOf(node).map(textOf).join('');
  }
}

/** Returns a document with a paragraph for each line of a text. */
function writeDocument(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const content = value.split('\n').map((text) => ({
    type: 'paragraph',
    // A text node must not be empty.
    content: text === '' ? [] : [{ type: 'text', text }],
  }));
  return { type: 'doc', version: 1, content };
}

/** The conversion between documents and texts. */
export const DOCUMENT = { read: readDocument, write: writeDocument } as const;
