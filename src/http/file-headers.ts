import type { RecordFile } from '../resources/media.ts';
import type { FileResponse } from './response.ts';

const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w.-]+=(?:[\w!#$&^.+:'()-]+|"[^"\\\p{Cc}]*"))*$/u;

/** Types that a browser shows without running what is in them. */
const INERT_TYPE =
  /^(?:application\/(?:pdf|octet-stream|(?:[\w.-]+\+)?json)|image\/(?!svg)[\w.+-]+|audio\/[\w.+-]+|video\/[\w.+-]+|text\/(?:plain|csv))$/;

/** A name for the file and nothing else (RFC 6266): no folder, no quoting within quotes. */
const DISPOSITION =
  /^(?:attachment|inline)((?:\s*;\s*filename\*?\s*=\s*(?:"[^"\\/\p{Cc}]*"|[\w!#$%&'+.^`|~-]+)){0,2})$/iu;

/**
 * Returns headers for bytes of a provider under this service's own origin, which a browser must not display as a page of ours. The type is
 * never guessed, scripts do not run, and types that may have scripts are downloaded instead of shown.
 */
export function safeFileHeaders({
  contentType,
  contentDisposition,
  name,
}: Partial<Pick<RecordFile, 'contentType' | 'contentDisposition' | 'name'>>) {
  const type = contentType !== undefined && MEDIA_TYPE.test(contentType) ? contentType : 'application/octet-stream';
  return {
    'Content-Type': type,
    'Content-Disposition': dispositionOf(type, contentDisposition ?? (name && writeDisposition(name))),
    'Content-Security-Policy': "default-src 'none'; sandbox",
  };
}

export function fileResponse({ bytes, ...file }: RecordFile): FileResponse {
  return { file: bytes, headers: safeFileHeaders(file) };
}

function dispositionOf(type: string, given: string | undefined): string | undefined {
  const [essence = ''] = type.toLowerCase().split(/[;\s]/);
  const names = given === undefined ? undefined : DISPOSITION.exec(given)?.[1];
  if (!INERT_TYPE.test(essence) || (given !== undefined && names === undefined)) return `attachment${names ?? ''}`;
  return given;
}

/** Characters that file systems or quoted texts do not allow. */
const AWKWARD = /["\\/:*?<>|%]/g;

/** Returns a `Content-Disposition` header (RFC 6266) with the name in ASCII and, if it differs, also in UTF-8 (RFC 8187). */
export function writeDisposition(name: string): string | undefined {
  const whole = (name.split(/[\\/]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  if (whole === '') return undefined;
  const plain = whole
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]/gu, '_')
    .replaceAll(AWKWARD, '_');
  const exact = `; filename*=UTF-8''${encodeURIComponent(whole).replaceAll(/['()*]/g, percentEncode)}`;
  return `attachment; filename="${plain}"${plain === whole ? '' : exact}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
