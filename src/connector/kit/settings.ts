import type { Config, ConfigField } from '../contract.ts';

type Setting = Pick<ConfigField, 'key' | 'type' | 'required' | 'default'>;

interface TypeOf {
  readonly string: string;
  readonly url: string;
  readonly number: number;
  readonly boolean: boolean;
}

type Given<Declared extends Setting> = Declared extends
  | { readonly required: true }
  | { readonly default: string | number | boolean }
  ? TypeOf[Declared['type']]
  : TypeOf[Declared['type']] | undefined;

/**
 * Returns the value of a configuration key with its declared type. Empty text counts as no value.
 * @throws Error when a required value is missing, and for a key that is not declared
 */
export type SettingReader<Declared extends Setting> = <Key extends Declared['key']>(
  config: Config,
  key: Key,
) => Given<Extract<Declared, Readonly<Record<'key', Key>>>>;

/**
 * Returns a reader of configuration values by their declared keys: `settings(CONFIGURATION)(config, 'company.name')`. Declare the keys `as
 * const satisfies readonly ConfigField[]`, so that the compiler knows which values are always present.
 */
export function settings<const Declared extends Setting>(declared: readonly Declared[]): SettingReader<Declared> {
  const byKey = new Map<string, Setting>(declared.map((setting) => [setting.key, setting]));
  return (config, key) => {
    const setting = byKey.get(key);
    if (setting === undefined) throw new Error(`The setting '${key}' is not declared.`);
    const value = isGiven(config[key], setting) ? config[key] : setting.default;
    if (value === undefined && setting.required === true) throw new Error(`The setting '${key}' is missing.`);
    // The type was compared with the declared one, from which the compiler's type of the key is made.
    return value as Given<Extract<Declared, Readonly<Record<'key', typeof key>>>>;
  };
}

function isGiven(value: unknown, { type }: Setting): boolean {
  return typeof value === (type === 'url' ? 'string' : type) && value !== '';
}
