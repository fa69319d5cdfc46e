import { createHash } from 'node:crypto';
import type { DocsPage } from './docs/layout.ts';

const STYLE = `
  body { font: 16px/1.55 system-ui, sans-serif; color: #1d2733; max-width: 68rem; margin: 2rem auto; padding: 0 1.5rem; }
  h1 { border-bottom: 2px solid #d5dde6; padding-bottom: .3rem; margin-top: 2.5rem; }
  h3 { margin-top: 2rem; }
  table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
  th, td { border: 1px solid #d5dde6; padding: .3rem .6rem; text-align: left; vertical-align: top; }
  th { background: #f2f5f9; }
  td[align=center], th[align=center] { text-align: center; }
  code { background: #f2f5f9; padding: .1rem .25rem; border-radius: 3px; font-size: .92em; }
  pre { background: #f2f5f9; padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; }
  pre code { padding: 0; }
  nav { font-size: .95em; }
`;

/** The page needs its own style and nothing else. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page of text without scripts; `title` and `body` are HTML. */
export function createPage({ title, body }: { readonly title: string; readonly body: string }): DocsPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`;
  return { html, contentSecurityPolicy: POLICY };
}
