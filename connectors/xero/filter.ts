import { type LikePattern, type PushedField, plainText, type Translator, type Value } from '#connector';

/**
 * A filter in Xero's two forms: the text of the parameter `where`, and the parameters that Xero has optimised for large organisations. The
 * conditions are joined by AND.
 */
export interface Filter {
  /** Conditions for `where`. */
  readonly texts: readonly string[];
  /** Optimised parameters by name, each with the condition that says the same in `where`. */
  readonly inputs: Readonly<Record<string, Input>>;
}

interface Input {
  readonly value: string;
  readonly text: string;
}

/** The header that finds records by the time of their last change. Source: "Requests and responses", If-Modified-Since. */
export const SINCE = 'if-modified-since';

const WORDS = { '=': '==', '!=': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' } as const;

/**
 * Returns the translator of an object.
 * @param quick the optimised parameters, by the name of the field that they filter
 */
export function createTranslator(
  quick: Readonly<Record<string, string>>,
): Translator<Filter> & Required<Pick<Translator<Filter>, 'and' | 'or' | 'compare' | 'in' | 'like' | 'isNull'>> {
  const oneOf = (field: PushedField, values: readonly Value[]): Filter => {
    const conditions = values.map((value) => `${field.native}==${literalOf(value, field)}`);
    const text = conditions.length === 1 ? conditions.join() : `(${conditions.join(' OR ')})`;
    const input = quick[field.name];
    return input === undefined
      ? plain(text)
      : { texts: [], inputs: { [input]: { value: values.map(plainText).join(), text } } };
  };
  return {
    and: joinAll,
    or: (operands) => plain(`(${operands.map(printAll).join(' OR ')})`),
    compare: (field, operator, value) => {
      if (value.kind === 'datetime') return compareTimes(field, operator.startsWith('>'), value.epochMs);
      if (operator === '=') return oneOf(field, [value]);
      return plain(`${field.native}${WORDS[operator]}${literalOf(value, field)}`);
    },
    in: (field, values, isNegated) =>
      isNegated
        ? plain(`(${values.map((value) => `${field.native}!=${literalOf(value, field)}`).join(' AND ')})`)
        : oneOf(field, values),
    // Xero fails at a record without a value unless the condition begins with a test for null.
    like: (field, pattern) =>
      plain(`(${field.native}!=null AND ${field.native}.${METHODS[methodOf(pattern)]}(${quote(pattern.text)}))`),
    isNull: ({ native }, isNegated) => plain(`${native}${isNegated ? '!=' : '=='}null`),
  };
}

const METHODS = { prefix: 'StartsWith', suffix: 'EndsWith', contains: 'Contains' } as const;

function methodOf({ form }: LikePattern): keyof typeof METHODS {
  return form === 'prefix' || form === 'suffix' ? form : 'contains';
}

function plain(text: string): Filter {
  return { texts: [text], inputs: {} };
}

/** An optimised parameter can be sent once, so a second condition on it goes to `where`. */
function joinAll(operands: readonly Filter[]): Filter {
  const inputs: Record<string, Input> = {};
  const texts: string[] = [];
  for (const operand of operands) {
    texts.push(...operand.texts);
    for (const [name, input] of Object.entries(operand.inputs)) {
      if (inputs[name] === undefined) inputs[name] = input;
      else texts.push(input.text);
    }
  }
  return { texts, inputs };
}

function printAll({ texts, inputs }: Filter): string {
  const all = [...texts, ...Object.values(inputs).map(({ text }) => text)];
  return all.length === 1 ? all.join() : `(${all.join(' AND ')})`;
}

/**
 * Compares instants by whole seconds, with a second more at the end. A lower bound is a header, which is documented to be accurate to the
 * second.
 */
function compareTimes({ native }: PushedField, isLower: boolean, epochMs: number): Filter {
  const second = Math.floor(epochMs / 1000) * 1000;
  if (!isLower) return plain(`${native}<${dateTime(new Date(second + 1000), true)}`);
  const value = new Date(second - 1000).toISOString().slice(0, 19);
  return { texts: [], inputs: { [SINCE]: { value, text: `${native}>=${dateTime(new Date(second), true)}` } } };
}

/** Source: "Requests and responses", the examples with `DateTime(2015, 01, 01)`. */
function dateTime(at: Date, withTime: boolean): string {
  const day = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
  return `DateTime(${[...day, ...(withTime ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()] : [])].join()})`;
}

function literalOf(value: Value, { format }: PushedField): string {
  if (value.kind === 'date') return dateTime(new Date(value.text), false);
  if (value.kind === 'string') return format === 'uuid' ? `Guid(${quote(value.value)})` : quote(value.value);
  return plainText(value);
}

/** Texts with a quote or a backslash are never sent, because Xero documents no escape. */
function quote(text: string): string {
  return `"${text}"`;
}
