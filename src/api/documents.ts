import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Response } from 'express';
import document from '../../generated/openapi.json' with { type: 'json' };
import { COMPRESSORS, chooseEncoding, type Encoding } from './compression.ts';
import { createDocsPages } from './docs/pages.ts';

/** A response that is the same for everybody, ready to be sent. */
interface KeptResponse {
  readonly headers: Readonly<Record<string, string>>;
  /** Packed once, when it is first asked for. */
  readonly as: (encoding: Encoding | 'identity') => Promise<KeptBody>;
}

interface KeptBody {
  readonly bytes: Buffer;
  /** Another one for each encoding, as the bytes are others (RFC 9110, 8.8.3). */
  readonly etag: string;
}

type KeptDocument = () => Promise<KeptResponse>;

/** What the service says of itself: made when it is first asked for. */
export interface Documents {
  /** Again when the public URL is another. */
  readonly json: KeptDocument;
  readonly yaml: KeptDocument;
  /** Of the documentation, by path. All of them together: each has the names of the others in its navigation. */
  readonly pages: () => Promise<ReadonlyMap<string, KeptResponse>>;
  /** The script and the style of the pages, by the names of their files. */
  readonly assets: ReadonlyMap<string, KeptDocument>;
}

const YAML_FILE = join(import.meta.dirname, '../../generated/openapi.yaml');
const ASSETS_FOLDER = join(import.meta.dirname, 'docs/assets');
const ASSETS = ['docs.js', 'docs.css'];
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
};

/** @param connectorFolders of all connectors, whose READMEs are part of the documentation */
export function createDocuments(publicUrl: () => string, connectorFolders: readonly string[]): Documents {
  let json: { readonly url: string; readonly response: KeptResponse } | undefined;
  return {
    json: async () => {
      const url = publicUrl();
      if (json?.url !== url) json = { url, response: keep('.json', JSON.stringify(documentFor(url))) };
      return json.response;
    },
    yaml: once(() => keepFile(YAML_FILE)),
    pages: once(async () => {
      const pages = await createDocsPages(document, connectorFolders);
      return new Map(
        [...pages].map(([path, { html, contentSecurityPolicy }]) => [
          path,
          keep('.html', html, { 'Content-Security-Policy': contentSecurityPolicy }),
        ]),
      );
    }),
    assets: new Map(ASSETS.map((name) => [name, once(() => keepFile(join(ASSETS_FOLDER, name)))])),
  };
}

/** Express sends a 304 itself where the caller has it already. */
export async function sendKept(response: Response, kept: KeptResponse): Promise<void> {
  const encoding = chooseEncoding(response.req.headers['accept-encoding']) ?? 'identity';
  const { bytes, etag } = await kept.as(encoding);
  response.vary('Accept-Encoding').set({ ...kept.headers, ETag: etag });
  if (encoding !== 'identity') response.set('Content-Encoding', encoding);
  response.send(bytes);
}

async function keepFile(file: string): Promise<KeptResponse> {
  return keep(extname(file), await readFile(file, 'utf8'));
}

function keep(extension: string, text: string, more: Readonly<Record<string, string>> = {}): KeptResponse {
  const type = TYPES[extension] ?? 'text/plain';
  // With the headers: a browser that has the page keeps its old policy on a 304.
  const tag = hash('sha256', JSON.stringify([type, more, text]), 'base64url');
  const plain = Buffer.from(text);
  const bodies = new Map<Encoding | 'identity', Promise<KeptBody>>();
  return {
    // To be kept by whoever asks, and asked for again each time: a new version is seen at once, and no page meets the script of another one.
    headers: { 'Content-Type': type, 'Cache-Control': 'no-cache', ...more },
    as: (encoding) => {
      const body = bodies.get(encoding) ?? packBody(plain, encoding, tag);
      bodies.set(encoding, body);
      return body;
    },
  };
}

async function packBody(plain: Buffer, encoding: Encoding | 'identity', tag: string): Promise<KeptBody> {
  if (encoding === 'identity') return { bytes: plain, etag: `"${tag}"` };
  return { bytes: await COMPRESSORS[encoding].compress(plain), etag: `"${tag}-${encoding}"` };
}

/** A failure is not kept. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
}

/** The document with this service as its server, so that "try it out" in the reference works. */
function documentFor(publicUrl: string) {
  const [server] = document.servers;
  const variables = { publicUrl: { ...server?.variables.publicUrl, default: publicUrl } };
  return { ...document, servers: [{ ...server, variables }] };
}
