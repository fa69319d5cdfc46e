import {
  EmbeddedActionsParser,
  type IParserErrorMessageProvider,
  type IToken,
  type ParserMethod,
  type TokenType,
  tokenMatcher,
} from 'chevrotain';
import type { FieldRef, Filter, Literal, Loc } from './ast.ts';
import { comparisonOperator, fieldRef, group, literal, locOf, span, textLiteral } from './nodes.ts';
import * as t from './tokens.ts';

/** One term of an order: a field and its direction. */
export interface OrderTerm {
  readonly field: FieldRef;
  readonly direction: 'asc' | 'desc';
}

/** A statement: `SELECT a, b FROM object WHERE … ORDER BY a DESC LIMIT 10`. */
export interface Statement {
  /** The selected fields; `undefined` for `*`. */
  readonly fields: readonly FieldRef[] | undefined;
  readonly object: FieldRef;
  readonly where: Filter | undefined;
  readonly orderBy: readonly OrderTerm[];
  readonly limit: { readonly rows: number; readonly loc: Loc } | undefined;
  /** The ranges of the keywords that begin its clauses. */
  readonly clauseLocs: ClauseLocs;
}

type Clause = 'select' | 'from' | 'where' | 'orderBy' | 'limit';

/** The range of the keyword of each clause, or undefined where the clause is missing. */
type ClauseLocs = Readonly<Record<Clause, Loc | undefined>>;

type Rule<Result, Input extends unknown[] = []> = ParserMethod<Input, Result>;

/** Options of the parser. */
interface GrammarOptions {
  /** Whether to continue after an error. */
  readonly recoveryEnabled: boolean;
  /** Called before an error is stored. If it throws, parsing ends. */
  readonly onError?: () => void;
}

/** The grammar of the language, one rule per production. The tokens after a keyword decide whether it is a name. */
export class Grammar extends EmbeddedActionsParser {
  constructor({ recoveryEnabled, onError = () => {} }: GrammarOptions) {
    super(t.tokenTypes, { recoveryEnabled, maxLookahead: 1, errorMessageProvider: withoutMessages(onError) });
    this.performSelfAnalysis();
  }

  readonly statement: Rule<Statement> = this.RULE('statement', () => {
    const select = this.CONSUME(t.Select);
    const fields = this.OR([{ ALT: () => void this.CONSUME(t.Star) }, { ALT: () => this.SUBRULE(this.fieldList) }]);
    const from = this.CONSUME(t.From);
    const object = this.SUBRULE(this.field);
    const where = this.OPTION(() => {
      const word = this.CONSUME(t.Where);
      return { word, filter: this.SUBRULE(this.where) };
    });
    const orderBy = this.OPTION1(() => {
      const word = this.CONSUME(t.Order);
      const by = this.CONSUME(t.By);
      return { word, by, terms: this.SUBRULE(this.orderBy) };
    });
    const limit = this.OPTION2(() => {
      const word = this.CONSUME(t.Limit);
      return { word, rows: this.CONSUME(t.NumberLiteral) };
    });
    return this.ACTION(() => ({
      fields,
      object,
      where: where?.filter,
      orderBy: orderBy?.terms ?? [],
      limit: limit && { rows: Number(limit.rows.image), loc: locOf(limit.rows) },
      clauseLocs: {
        select: locOf(select),
        from: locOf(from),
        where: where && locOf(where.word),
        orderBy: orderBy && span(locOf(orderBy.word), locOf(orderBy.by)),
        limit: limit && locOf(limit.word),
      },
    }));
  });

  readonly orderBy: Rule<readonly OrderTerm[]> = this.RULE('orderBy', () => {
    const terms: OrderTerm[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => terms.push(this.SUBRULE(this.orderTerm)) });
    return terms;
  });

  readonly fieldList: Rule<readonly FieldRef[]> = this.RULE('fieldList', () => {
    const fields: FieldRef[] = [];
    this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => fields.push(this.SUBRULE(this.field)) });
    return fields;
  });

  readonly where: Rule<Filter> = this.RULE('where', () => {
    const operands: Filter[] = [this.SUBRULE(this.conjunction)];
    this.MANY(() => {
      this.CONSUME(t.Or);
      operands.push(this.SUBRULE1(this.conjunction));
    });
    return this.ACTION(() => group('or', operands));
  });

  private readonly orderTerm: Rule<OrderTerm> = this.RULE('orderTerm', () => {
    const field = this.SUBRULE(this.field);
    const direction = this.OPTION(() =>
      this.OR([
        { ALT: (): OrderTerm['direction'] => this.CONSUME(t.Asc) && 'asc' },
        { ALT: (): OrderTerm['direction'] => this.CONSUME(t.Desc) && 'desc' },
      ]),
    );
    return { field, direction: direction ?? 'asc' };
  });

  private readonly conjunction: Rule<Filter> = this.RULE('conjunction', () => {
    const operands: Filter[] = [this.SUBRULE(this.unary)];
    this.MANY(() => {
      this.CONSUME(t.And);
      operands.push(this.SUBRULE1(this.unary));
    });
    return this.ACTION(() => group('and', operands));
  });

  private readonly unary: Rule<Filter> = this.RULE('unary', () =>
    this.OR({
      // A field may be called `not`, so the gate decides and not the order of the alternatives.
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => !this.#isPredicate(), ALT: () => this.SUBRULE(this.negation) },
        { ALT: () => this.SUBRULE(this.parenthesised) },
        { ALT: () => this.SUBRULE(this.predicate) },
      ],
    }),
  );

  private readonly negation: Rule<Filter> = this.RULE('negation', () => {
    const not = this.CONSUME(t.Not);
    const operand = this.SUBRULE(this.unary);
    return this.ACTION((): Filter => ({ kind: 'not', operand, loc: span(locOf(not), operand.loc) }));
  });

  private readonly parenthesised: Rule<Filter> = this.RULE('parenthesised', () => {
    this.CONSUME(t.LeftParen);
    const filter = this.SUBRULE(this.where);
    this.CONSUME(t.RightParen);
    return filter;
  });

  private readonly predicate: Rule<Filter> = this.RULE('predicate', () => {
    const field = this.SUBRULE(this.field);
    return this.OR([
      { ALT: () => this.SUBRULE(this.comparison, { ARGS: [field] }) },
      { ALT: () => this.SUBRULE(this.nullTest, { ARGS: [field] }) },
      {
        ALT: () => {
          const negated = this.OPTION(() => this.CONSUME(t.Not)) !== undefined;
          return this.OR1([
            { ALT: () => this.SUBRULE(this.membership, { ARGS: [field, negated] }) },
            { ALT: () => this.SUBRULE(this.likeness, { ARGS: [field, negated] }) },
            { ALT: () => this.SUBRULE(this.range, { ARGS: [field, negated] }) },
          ]);
        },
      },
    ]);
  });

  private readonly comparison: Rule<Filter, [FieldRef]> = this.RULE('comparison', (field: FieldRef) => {
    const operator = this.CONSUME(t.Comparison);
    const value = this.SUBRULE(this.literal);
    return this.ACTION(
      (): Filter => ({
        kind: 'compare',
        field,
        operator: comparisonOperator(operator.image),
        value,
        loc: span(field.loc, value.loc),
      }),
    );
  });

  private readonly nullTest: Rule<Filter, [FieldRef]> = this.RULE('nullTest', (field: FieldRef) => {
    this.CONSUME(t.Is);
    const negated = this.OPTION(() => this.CONSUME(t.Not)) !== undefined;
    const end = this.CONSUME(t.Null);
    return this.ACTION((): Filter => ({ kind: 'isNull', field, negated, loc: span(field.loc, locOf(end)) }));
  });

  private readonly membership: Rule<Filter, [FieldRef, boolean]> = this.RULE(
    'membership',
    (field: FieldRef, negated: boolean) => {
      const values: Literal[] = [];
      this.CONSUME(t.In);
      this.CONSUME(t.LeftParen);
      this.AT_LEAST_ONE_SEP({ SEP: t.Comma, DEF: () => values.push(this.SUBRULE(this.literal)) });
      const end = this.CONSUME(t.RightParen);
      return this.ACTION((): Filter => ({ kind: 'in', field, negated, values, loc: span(field.loc, locOf(end)) }));
    },
  );

  private readonly likeness: Rule<Filter, [FieldRef, boolean]> = this.RULE(
    'likeness',
    (field: FieldRef, negated: boolean) => {
      this.CONSUME(t.Like);
      const pattern = this.CONSUME(t.Text);
      return this.ACTION(
        (): Filter => ({
          kind: 'like',
          field,
          negated,
          pattern: textLiteral(pattern),
          loc: span(field.loc, locOf(pattern)),
        }),
      );
    },
  );

  private readonly range: Rule<Filter, [FieldRef, boolean]> = this.RULE(
    'range',
    (field: FieldRef, negated: boolean) => {
      this.CONSUME(t.Between);
      const low = this.SUBRULE(this.literal);
      this.CONSUME(t.And);
      const high = this.SUBRULE1(this.literal);
      return this.ACTION(
        (): Filter => ({ kind: 'between', field, negated, low, high, loc: span(field.loc, high.loc) }),
      );
    },
  );

  private readonly field: Rule<FieldRef> = this.RULE('field', () => {
    const parts: IToken[] = [];
    this.AT_LEAST_ONE_SEP({
      SEP: t.Dot,
      DEF: () => parts.push(this.OR([{ ALT: () => this.CONSUME(t.Name) }, { ALT: () => this.CONSUME(t.QuotedName) }])),
    });
    return this.ACTION(() => fieldRef(parts));
  });

  private readonly literal: Rule<Literal> = this.RULE('literal', () => {
    const token = this.OR([
      { ALT: () => this.CONSUME(t.Text) },
      { ALT: () => this.CONSUME(t.NumberLiteral) },
      { ALT: () => this.CONSUME(t.DateLiteral) },
      { ALT: () => this.CONSUME(t.DateTimeLiteral) },
      { ALT: () => this.CONSUME(t.True) },
      { ALT: () => this.CONSUME(t.False) },
    ]);
    return this.ACTION(() => literal(token));
  });

  /** Returns whether a predicate begins here, with the next token as its field: true for `not in ('a')`, false for `not in = 1`. */
  #isPredicate(): boolean {
    const next = (ahead: number, ...types: readonly TokenType[]) =>
      types.some((type) => tokenMatcher(this.LA(ahead), type));
    if (!next(1, t.Not)) return true;
    const operand = next(2, t.Not) ? 3 : 2;
    if (next(operand, t.In)) return next(operand + 1, t.LeftParen);
    if (next(operand, t.Like)) return next(operand + 1, t.Text);
    if (next(operand, t.Between)) return next(operand + 1, ...t.literals, t.True, t.False) && next(operand + 2, t.And);
    if (next(2, t.Is)) return next(3, t.Null) || (next(3, t.Not) && next(4, t.Null));
    return next(2, t.Comparison, t.Dot);
  }
}

/** Suppresses the parser's own messages: messages.ts writes ours, and building them costs more than parsing. */
function withoutMessages(onError: () => void): IParserErrorMessageProvider {
  const build = () => {
    onError();
    return '';
  };
  return {
    buildMismatchTokenMessage: build,
    buildNotAllInputParsedMessage: build,
    buildNoViableAltMessage: build,
    buildEarlyExitMessage: build,
  };
}
