import type { ConfigField } from '../connector/contract.ts';

/** A configuration key of every element. Unlike the keys of connectors, its value may be an object, which its room checks. */
export interface PlatformField extends Omit<ConfigField, 'type'> {
  readonly type: ConfigField['type'] | 'object';
}
