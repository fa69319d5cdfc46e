import {
  codec,
  type FieldSpec,
  type Json,
  json,
  type ObjectSpec,
  type Operation,
  type PushedField,
  rejected,
  type Value,
} from '#connector';

/**
 * Amounts in units of the merchant's currency, beside Clover's own amounts in the smallest unit: `priceMajor` is 19.99 where `price` is 1999
 * and the merchant sells in USD.
 */
const SUFFIX = 'Major';

interface Units {
  /** The amounts of the object, separated by blanks. */
  readonly amounts: string;
  /** The number of decimals of the merchant's currency. */
  readonly decimals: number;
}

/** Returns the object with a field in units of the currency for each of its amounts. */
export function inUnits(object: ObjectSpec, { amounts, decimals }: Units): ObjectSpec {
  const units = codec.minorUnits(decimals);
  const names = new Map(amounts.split(' ').map((amount) => [amount + SUFFIX, amount]));
  const { fields, translator, list, get, create, update } = object;
  const required = [...names.values()].filter((amount) => fields[amount]?.required === true);
  const added = [...names].map(([name, amount]) => [name, majorOf(fields[amount] ?? lacks(amount), units, decimals)]);
  const optional = required.map((amount) => [amount, { ...fields[amount], required: false }]);

  const addTo = (row: unknown): Json => {
    const record = json.object(row, 'a record');
    return { ...record, ...Object.fromEntries([...names].map(([name, amount]) => [name, record[amount]])) };
  };
  const toMinor = (values: Json): Json => {
    const made = { ...values };
    for (const [name, amount] of names) {
      const { [name]: major, [amount]: other } = made;
      if (major === undefined) continue;
      const minor = units.write(major);
      if (String(minor).includes('.')) {
        throw rejected(`'${name}' is ${String(major)}, and amounts of this merchant have ${decimals} decimals.`);
      }
      if (String(other ?? minor) !== String(minor)) {
        throw rejected(`'${amount}' and '${name}' are different amounts. Set one of them.`);
      }
      delete made[name];
      made[amount] = minor;
    }
    return made;
  };
  const toNew = (values: Json): Json => {
    const made = toMinor(values);
    const missing = required.find((amount) => made[amount] == null);
    if (missing !== undefined) throw rejected(`'${missing}' or '${missing + SUFFIX}' is required.`);
    return made;
  };
  /** The field of an amount, and the value in the smallest unit. */
  const pushed = (field: PushedField, value: Value): readonly [PushedField, Value] => {
    const amount = names.get(field.name);
    if (amount === undefined || value.kind !== 'number') return [field, value];
    return [
      { ...field, ...fields[amount], name: amount, native: amount },
      { kind: 'number', text: String(units.write(value.text)) },
    ];
  };
  return {
    ...object,
    fields: { ...fields, ...Object.fromEntries(optional), ...Object.fromEntries(added) },
    translator: {
      ...translator,
      compare: (field, operator, value) => {
        const [own, minor] = pushed(field, value);
        return translator?.compare?.(own, operator, minor);
      },
    },
    ...(list !== undefined && { list: { ...list, readRecord: addTo } }),
    ...(get !== undefined && { get: withRecord(get, addTo, (input) => input) }),
    ...(create !== undefined && {
      create: withRecord(create, addTo, (input) => ({ ...input, values: toNew(input.values) })),
    }),
    ...(update !== undefined && {
      update: withRecord(update, addTo, (input) => ({ ...input, values: toMinor(input.values) })),
    }),
  };
}

function lacks(amount: string): never {
  throw new Error(`The object has no field '${amount}'.`);
}

function majorOf(amount: FieldSpec, units: ReturnType<typeof codec.minorUnits>, decimals: number): FieldSpec {
  const { format: _, range: __, sortable: ___, required: ____, label = '', ...spec } = amount;
  return {
    ...spec,
    type: 'number',
    label: label.replace(', in cents', ', in units of the currency'),
    domain: { digits: { decimals } },
    read: units.read,
  };
}

/** Changes the input of an operation, and the record that it returns. */
function withRecord<Input>(
  operation: Operation<Input, unknown>,
  addTo: (record: unknown) => unknown,
  change: (input: Input) => Input,
): Operation<Input, unknown> {
  if ('run' in operation) {
    return { run: async (context, input) => addTo(await operation.run(context, change(input))) };
  }
  return {
    request: (input, config) => operation.request(change(input), config),
    read: (response, input) => addTo(operation.read(response, input)),
  };
}
