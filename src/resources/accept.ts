/** One entry of an `Accept` header (RFC 9110, 12.5.1). Parameters other than `q` play no part. */
interface MediaRange {
  /** In lower case: a media type, the same with `*` for its second half, or `*` for both. */
  readonly type: string;
  readonly quality: number;
}

const RECORD_TYPE = 'application/json';
const RANGE = /^\s*([\w!#$&^.+*-]+\/[\w!#$&^.+*-]+)\s*(?:;(.*))?$/;

export type Choice =
  | { readonly kind: 'record' }
  /** `type` is one of the offered, or what the caller asked for where anything is offered. */
  | { readonly kind: 'file'; readonly type: string }
  | { readonly kind: 'none' };

/**
 * What a caller would rather have, the record or one of the `offered` types of its file (`*`: any at all). Liked
 * equally it is the record, so that callers who take anything get JSON.
 */
export function chooseAnswer(accept: string | undefined, offered: readonly string[]): Choice {
  if (accept === undefined || accept.trim() === '') return { kind: 'record' };
  const ranges = parseAccept(accept);
  const recordQuality = qualityOf(RECORD_TYPE, ranges);
  const [file] = offered.flatMap((type) => candidates(type, ranges)).sort((a, b) => b.quality - a.quality);
  if (file !== undefined && file.quality > recordQuality) return { kind: 'file', type: file.type };
  return { kind: recordQuality > 0 ? 'record' : 'none' };
}

function candidates(type: string, ranges: readonly MediaRange[]): readonly MediaRange[] {
  if (type === '*') return ranges.filter((range) => !range.type.includes('json'));
  return [{ type, quality: qualityOf(type, ranges) }];
}

/** By the most specific range that matches; 0 means: not wanted. */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const [half] = type.split('/');
  for (const wanted of [type, `${half}/*`, '*/*']) {
    const range = ranges.find((each) => each.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}

/** An entry that is none is passed over. */
function parseAccept(accept: string): readonly MediaRange[] {
  return accept.split(',').flatMap((entry) => {
    const [, type, parameters = ''] = RANGE.exec(entry) ?? [];
    return type === undefined ? [] : [{ type: type.toLowerCase(), quality: readQuality(parameters) }];
  });
}

function readQuality(parameters: string): number {
  const [, text] = /(?:^|;)\s*q=\s*([\d.]+)\s*(?:;|$)/i.exec(parameters) ?? [];
  const quality = text === undefined ? 1 : Number(text);
  return quality >= 0 && quality <= 1 ? quality : 0;
}
