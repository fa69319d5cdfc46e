import { createHash } from 'node:crypto';

export interface DocsPageOptions {
  /** Where the browser gets the OpenAPI document. */
  readonly documentUrl: string;
  /** Where the browser gets `swagger-ui-bundle.js` and `swagger-ui.css`, without a slash at the end. */
  readonly assetsUrl: string;
}

export interface DocsPage {
  readonly html: string;
  /** The value of the page's `Content-Security-Policy` header. */
  readonly contentSecurityPolicy: string;
}

/** The files of the npm package `swagger-ui-dist` that the page loads from `assetsUrl`. */
export const DOCS_ASSETS = ['swagger-ui-bundle.js', 'swagger-ui.css'] as const;

/**
 * The rendered reference. It loads from the service alone, which the policy enforces: the only inline script is let in
 * by its hash, pictures of the stylesheet are `data:` URLs.
 */
export function docsPage({ documentUrl, assetsUrl }: DocsPageOptions): DocsPage {
  const script = startScript(documentUrl);
  return { html: page(assetsUrl, script), contentSecurityPolicy: policy(script) };
}

function page(assetsUrl: string, script: string): string {
  const assets = escapeAttribute(assetsUrl);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Causeway API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The OpenAPI document itself is at /openapi.yaml.</noscript>
<script src="${assets}/swagger-ui-bundle.js"></script>
<script>${script}</script>
</body>
</html>
`;
}

/** `validatorUrl: null`: unless told so, Swagger UI sends the document's address to a validator on the internet. */
function startScript(documentUrl: string): string {
  const options = {
    url: documentUrl,
    dom_id: '#reference',
    validatorUrl: null,
    deepLinking: true,
    docExpansion: 'list',
  };
  return `SwaggerUIBundle(${escapeScript(JSON.stringify(options))});`;
}

function policy(script: string): string {
  const hash = createHash('sha256').update(script).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** `<` would end the script element early, whatever string it stands in. */
function escapeScript(json: string): string {
  return json.replaceAll('<', '\\u003c');
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
