import type { IRecognitionException, IToken } from 'chevrotain';
import { AppError, cutText, type ErrorDetail, MOST_FAULTS } from '../errors.ts';
import type { FieldRef, Filter } from './ast.ts';
import { faultyText } from './faults.ts';
import { Grammar, type OrderTerm, type Statement } from './grammar.ts';
import { explainMistake, explainSyntaxError, type PositionedDetail, type TextKind } from './messages.ts';
import { isMistake, LeftParen, lexer, Not, RightParen } from './tokens.ts';

/** Limits of one filter. Each has its own message. Length and nesting are checked before the parser runs. */
export const LIMITS = {
  textBytes: 16 * 1024,
  predicates: 500,
  inMembers: 1000,
  nesting: 64,
  orderFields: 32,
} as const;

const grammar = new Grammar({ recoveryEnabled: false });
// Slower, but it continues after an error. It parses only texts that have one, to report all errors.
let recoveringGrammar: Grammar | undefined;

/**
 * Parses the text of a `where`.
 * @throws AppError WHERE_SYNTAX that lists the faults, 50 at most, with offset, length and expectation; also for a text that exceeds a
 * limit
 */
export function parseWhere(text: string): Filter {
  const filter = parse('filter', text, (parser) => parser.where());
  assertPredicateCount(filter);
  return filter;
}

/**
 * Parses an order, such as `a, b desc`.
 * @throws AppError WHERE_SYNTAX
 */
export function parseOrderBy(text: string): readonly OrderTerm[] {
  assertUnsigned(text);
  const terms = parse('order', text, (parser) => parser.orderBy());
  assertOrderLength(terms);
  return terms;
}

/** Rejects a direction before the field, `-a`, as other APIs write it. */
function assertUnsigned(text: string): void {
  const [whole, before = '', sign, name = ''] = /^((?:[^,]*,)*?\s*)([-+])\s*([\w.]+)/.exec(text) ?? [];
  if (whole === undefined) return;
  const meant = `${name} ${sign === '-' ? 'desc' : 'asc'}`;
  const range = { position: before.length, length: whole.length - before.length };
  const message = `Write the direction after the field: '${cutText(meant)}'.`;
  throw syntaxError('order', [{ ...range, message, expected: [cutText(meant)] }]);
}

/**
 * Parses a list of fields, such as `a, b.c`.
 * @throws AppError WHERE_SYNTAX
 */
export function parseFieldList(text: string): readonly FieldRef[] {
  return parse('field list', text, (parser) => parser.fieldList());
}

/**
 * Parses a statement `SELECT … FROM … WHERE … ORDER BY … LIMIT …`.
 * @throws AppError WHERE_SYNTAX
 */
export function parseStatement(text: string): Statement {
  const statement = parse('statement', text, (parser) => parser.statement());
  if (statement.where !== undefined) assertPredicateCount(statement.where);
  assertOrderLength(statement.orderBy);
  assertRowLimit(statement);
  return statement;
}

function parse<Tree>(what: TextKind, text: string, entry: (parser: Grammar) => Tree): Tree {
  assertTextLength(what, text);
  assertWellFormed(what, text);
  const tokens = tokenize(what, text);
  assertNesting(what, tokens);
  grammar.input = tokens;
  const tree = entry(grammar);
  if (grammar.errors.length === 0) return tree;
  throw syntaxError(what, explainAll(what, text, tokens, entry));
}

function explainAll(
  what: TextKind,
  text: string,
  tokens: IToken[],
  entry: (parser: Grammar) => unknown,
): readonly PositionedDetail[] {
  const firstErrors = grammar.errors;
  recoveringGrammar ??= new Grammar({ recoveryEnabled: true, onError: stopAfterEnough });
  recoveringGrammar.input = tokens;
  try {
    entry(recoveringGrammar);
  } catch (cause) {
    // It was stopped, or met a gap after a recovery where a tree should be; the errors found so far still stand.
    if (recoveringGrammar.errors.length === 0) throw cause;
  }
  const errors: readonly IRecognitionException[] =
    recoveringGrammar.errors.length > 0 ? recoveringGrammar.errors : firstErrors;
  const byPosition = new Map<number, PositionedDetail>();
  for (const error of errors) {
    const detail = explainSyntaxError(error, what, text);
    if (!byPosition.has(detail.position)) byPosition.set(detail.position, detail);
  }
  // After another fault, the fault at the end is mostly its consequence.
  if (byPosition.size > 1) byPosition.delete(text.length);
  return [...byPosition.values()];
}

function stopAfterEnough(): void {
  const offsets = new Set(recoveringGrammar?.errors.map(({ token }) => token.startOffset));
  if (offsets.size > MOST_FAULTS) throw new Error('There are more faults than are reported.');
}

function tokenize(what: TextKind, text: string): IToken[] {
  const { tokens, errors } = lexer.tokenize(text);
  const unreadable = errors.slice(0, MOST_FAULTS + 1).map(({ offset, length }) => ({
    position: offset,
    length,
    message: `Unexpected character ${JSON.stringify(text.slice(offset, offset + length))}.`,
  }));
  const mistakes = tokens.flatMap((token) => {
    const name = token.tokenType.name;
    return isMistake(name) ? [explainMistake(name, token)] : [];
  });
  const details = [...unreadable, ...mistakes].sort((a, b) => a.position - b.position);
  if (details.length > 0) throw syntaxError(what, details);
  return tokens;
}

function syntaxError(what: TextKind, details: readonly ErrorDetail[]): AppError {
  return faultyText('WHERE_SYNTAX', details, (first) => `The ${what} cannot be read at position ${first?.position}: `);
}

/** Half a surrogate pair becomes another character on its way to a provider or a database, and would match other rows there. */
function assertWellFormed(what: TextKind, text: string): void {
  if (text.isWellFormed()) return;
  const position = text.search(/\p{Surrogate}/u);
  throw syntaxError(what, [{ position, length: 1, message: 'Half of a surrogate pair is not a character.' }]);
}

function assertTextLength(what: TextKind, text: string): void {
  // No unit of UTF-16 takes more than three bytes: short texts need no counting.
  if (text.length * 3 <= LIMITS.textBytes) return;
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= LIMITS.textBytes) return;
  throw limitError(`The ${what} has ${bytes} bytes; the limit is ${LIMITS.textBytes}.`);
}

/** Counts parentheses and NOTs before the parser recurses into them. */
function assertNesting(what: TextKind, tokens: readonly IToken[]): void {
  const open: number[] = [];
  let depth = 0;
  let nots = 0;
  for (const token of tokens) {
    if (token.tokenType === RightParen) {
      depth -= open.pop() ?? 0;
    } else if (token.tokenType === LeftParen) {
      depth += nots + 1;
      open.push(nots + 1);
    }
    nots = token.tokenType === Not ? nots + 1 : 0;
    if (depth + nots > LIMITS.nesting) {
      throw limitError(`The ${what} nests deeper than ${LIMITS.nesting} levels.`, token.startOffset);
    }
  }
}

/** Rows that are equal in all fields are compared by each of them, so the number of fields is limited. */
function assertOrderLength(terms: readonly OrderTerm[]): void {
  if (terms.length <= LIMITS.orderFields) return;
  const position = terms[LIMITS.orderFields]?.field.loc.offset;
  throw limitError(`The order has ${terms.length} fields; the limit is ${LIMITS.orderFields}.`, position);
}

function assertPredicateCount(filter: Filter): void {
  const predicates = countPredicates(filter);
  if (predicates <= LIMITS.predicates) return;
  throw limitError(`The filter has ${predicates} predicates; the limit is ${LIMITS.predicates}.`);
}

function countPredicates(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.operands.reduce((sum, operand) => sum + countPredicates(operand), 0);
    case 'not':
      return countPredicates(filter.operand);
    case 'in':
      assertInSize(filter);
      return 1;
    default:
      return 1;
  }
}

function assertInSize(filter: Extract<Filter, { kind: 'in' }>): void {
  if (filter.values.length <= LIMITS.inMembers) return;
  throw limitError(
    `IN on '${cutText(filter.field.name)}' has ${filter.values.length} values; the limit is ${LIMITS.inMembers}.`,
    filter.loc.offset,
  );
}

function assertRowLimit({ limit }: Statement): void {
  if (limit === undefined || (Number.isSafeInteger(limit.rows) && limit.rows > 0)) return;
  const { offset: position, length } = limit.loc;
  throw syntaxError('statement', [
    { position, length, message: 'LIMIT must be a whole number of at least 1.', expected: ['a whole number'] },
  ]);
}

function limitError(message: string, position = 0): AppError {
  return new AppError('WHERE_SYNTAX', message, { details: [{ position, message }] });
}
