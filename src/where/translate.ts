import { type Condition, isGroup, type Predicate } from './condition.ts';
import type { Translator } from './model.ts';

/** Turns a pushed condition into the provider's syntax, leaves first. The translator owns all quoting. */
export function translate<Native>(condition: Condition, translator: Translator<Native>): Native {
  if (!isGroup<Condition>(condition)) return translatePredicate(condition, translator);
  const operands = condition.operands.map((operand) => translate(operand, translator));
  return required(translator, condition.kind)(operands);
}

function translatePredicate<Native>(predicate: Predicate, translator: Translator<Native>): Native {
  switch (predicate.kind) {
    case 'compare':
      return required(translator, 'compare')(predicate.field, predicate.operator, predicate.value);
    case 'in':
      return required(translator, 'in')(predicate.field, predicate.values, predicate.negated);
    case 'like':
      return required(translator, 'like')(predicate.field, predicate.pattern, predicate.negated);
    case 'isNull':
      return required(translator, 'isNull')(predicate.field, predicate.negated);
  }
}

/** The connector check at load makes sure that every declared operator has its function. */
function required<Native, Name extends keyof Translator<Native>>(
  translator: Translator<Native>,
  name: Name,
): NonNullable<Translator<Native>[Name]> {
  const construct = translator[name];
  if (construct == null) throw new Error(`The translator has no '${String(name)}', although its object declares it.`);
  return construct;
}
