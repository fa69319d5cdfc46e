import type { Fault } from './fault.ts';
import type { FilterTree } from './filter.ts';

/** A word, a sign or a literal of a text. Its kind is `end` behind the last one, and `unknown` where no token begins. */
export interface TextToken<Kind extends string> {
  readonly kind: Kind | 'end' | 'unknown';
  readonly text: string;
  /** The position of its first character. */
  readonly at: number;
}

/** Reads the tokens of a text, one after another. */
export interface TokenReader<Kind extends string> {
  /** Returns whether the next token has the kind, and one of the texts. Case does not count. Default: any text. */
  readonly isNext: (kind: Kind, ...texts: readonly string[]) => boolean;
  /** Takes the next token if `isNext`. */
  readonly take: (kind: Kind, ...texts: readonly string[]) => TextToken<Kind> | undefined;
  /**
   * Takes the next token.
   * @throws Fault unless `isNext`
   */
  readonly need: (kind: Kind, ...texts: readonly string[]) => TextToken<Kind>;
  /** Returns the provider's error for the next token, and for what must stand there. */
  readonly fail: (wanted: string) => Fault;
  /** @throws Fault if there are more tokens */
  readonly needEnd: () => void;
}

/**
 * Divides a text into tokens. Blanks between them do not count.
 * @param pattern alternatives, each with one named group: the kind of the token and its text
 * @param refuse returns the provider's error for a token
 * @throws Fault for a text that has other parts
 */
export function readTokens<Kind extends string>(
  text: string,
  pattern: RegExp,
  refuse: (token: TextToken<Kind>, wanted: string) => Fault,
): TokenReader<Kind> {
  const tokens: TextToken<Kind>[] = [];
  const next = new RegExp(`\\s*(?:${pattern.source})|\\s+$`, `${pattern.flags}y`);
  while (next.lastIndex < text.length) {
    const start = next.lastIndex;
    const match = next.exec(text);
    if (match === null) {
      const rest = text.slice(start).trimStart();
      throw refuse({ kind: 'unknown', text: rest, at: text.length - rest.length }, '');
    }
    const at = start + match[0].length - match[0].trimStart().length;
    const [kind, own] = Object.entries(match.groups ?? {}).find(([, group]) => group !== undefined) ?? [];
    // The names of the groups are the kinds.
    if (own !== undefined) tokens.push({ kind: kind as Kind, text: own, at });
  }
  const end: TextToken<Kind> = { kind: 'end', text: '', at: text.length };
  let position = 0;
  const peek = () => tokens[position] ?? end;
  const fail: TokenReader<Kind>['fail'] = (wanted) => refuse(peek(), wanted);
  const isNext: TokenReader<Kind>['isNext'] = (kind, ...texts) => {
    const token = peek();
    return token.kind === kind && (texts.length === 0 || texts.includes(token.text.toLowerCase()));
  };
  const take: TokenReader<Kind>['take'] = (kind, ...texts) => (isNext(kind, ...texts) ? tokens[position++] : undefined);
  return {
    isNext,
    take,
    need: (kind, ...texts) => {
      const token = take(kind, ...texts);
      if (token === undefined) throw fail(texts.length === 0 ? `a ${kind}` : texts.join(' or '));
      return token;
    },
    fail,
    needEnd: () => {
      if (peek() !== end) throw fail('the end');
    },
  };
}

/** Reads items as long as another one follows. */
export function readSeparated<Item>(read: () => Item, isFollowed: () => unknown): readonly [Item, ...Item[]] {
  const items: [Item, ...Item[]] = [read()];
  while (isFollowed()) items.push(read());
  return items;
}

/** Returns a group. A single operand stands alone. */
export function groupOf(kind: 'and' | 'or', operands: readonly [FilterTree, ...FilterTree[]]): FilterTree {
  return operands.length === 1 ? operands[0] : { kind, operands };
}
