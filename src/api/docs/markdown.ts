import { Marked, type Tokens } from 'marked';
import { escapeHtml } from './html.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Returns the URL of a link on the pages of the service; undefined if its target is not there. */
export type LinkTarget = (href: string) => string | undefined;

/** Matches the addresses that links can have. Others could run scripts. */
const SAFE = /^(?:https?:\/\/|\/(?!\/)|#)/i;

/** Renders Markdown as HTML, without raw HTML and pictures. Every heading has the id that GitHub would give it. */
export function renderMarkdown(markdown: string, linkTarget: LinkTarget = (href) => href): Rendered {
  const headings: Heading[] = [];
  const ids = new Map<string, number>();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = unique(slug(text), ids);
        headings.push({ id, depth, text: text.replaceAll('`', '') });
        return `<h${depth} id="${escapeHtml(id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link) {
        const target = linkTarget(href);
        const text = this.parser.parseInline(tokens);
        return target !== undefined && SAFE.test(target) ? `<a href="${escapeHtml(target)}">${text}</a>` : text;
      },
      image: ({ text }: Tokens.Image) => escapeHtml(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) => (text.trimStart().startsWith('<!--') ? '' : escapeHtml(text)),
    },
  });
  return { html: marked.parse(markdown, { async: false }), headings };
}

/** Renders a text of one line, in which only inline code is marked up. */
export function renderInline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Returns the id of a heading. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}

function unique(id: string, seen: Map<string, number>): string {
  const count = seen.get(id) ?? 0;
  seen.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}
