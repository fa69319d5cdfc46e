import type { ConfigField } from '../connector/contract.ts';

/** A configuration key that every element takes. Unlike those of connectors it may be an object, which its room checks. */
export interface PlatformField extends Omit<ConfigField, 'type'> {
  readonly type: ConfigField['type'] | 'object';
}
