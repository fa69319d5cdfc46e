import { type Condition, isGroup, type Predicate } from './condition.ts';
import type { Translator } from './model.ts';

/** Translates a pushed condition to the provider's syntax, operands first. The translator owns all quoting. */
export function translate<Native>(condition: Condition, translator: Translator<Native>): Native {
  if (!isGroup<Condition>(condition)) return translatePredicate(condition, translator);
  const operands = condition.operands.map((operand) => translate(operand, translator));
  return required(translator[condition.kind], condition.kind)(operands);
}

function translatePredicate<Native>(predicate: Predicate, translator: Translator<Native>): Native {
  const { kind } = predicate;
  switch (kind) {
    case 'compare':
      return required(translator.compare, kind)(predicate.field, predicate.operator, predicate.value);
    case 'in':
      return required(translator.in, kind)(predicate.field, predicate.values, predicate.negated);
    case 'like':
      return required(translator.like, kind)(predicate.field, predicate.pattern, predicate.negated);
    case 'isNull':
      return required(translator.isNull, kind)(predicate.field, predicate.negated);
  }
}

/** The check of connectors at start ensures that every declared operator has its function. */
function required<Construct>(construct: Construct, name: string): NonNullable<Construct> {
  if (construct == null) throw new Error(`The translator has no '${name}', although its object declares it.`);
  return construct;
}
