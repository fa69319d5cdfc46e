import type { Config, Connector } from '../connector/contract.ts';
import { AppError } from '../errors.ts';
import type { Redactor } from '../redaction.ts';
import { missing } from '../shared-errors.ts';

/** An instance with its secrets in clear text. It must never leave the process in this form. */
export interface Instance {
  readonly accountId: number;
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  readonly tags: readonly string[];
  readonly connector: Connector;
  readonly config: Config;
  readonly token: string;
  /** Redacts the instance's secrets: its token and those of its configuration. */
  readonly redactor: Redactor;
  readonly providerData: Readonly<Record<string, unknown>>;
  readonly valid: boolean;
  /** Reason why the instance is not valid, if known. */
  readonly invalidReason: string | null;
  /**
   * Calls that the provider has rejected since the instance became invalid. Only a success of one of these makes it
   * valid again.
   */
  readonly refusedCalls: readonly string[];
  /** Present if the instance cannot be used, only read, repaired or deleted. It is then not valid either. */
  readonly fault?: InstanceFault;
  readonly disabled: boolean;
  /** Reason, as a text for people, why no events of the provider arrive. */
  readonly eventWarning: string | null;
  /** The time until which headers and bodies of its calls are logged. Null: this was never requested. */
  readonly traceLoggingUntil: Date | null;
  readonly createdAt: Date;
  /** Grows with every change of configuration and credentials. */
  readonly settingsVersion: number;
  /** Changes with every change of the instance. */
  readonly version: string;
}

/** Whether headers and bodies of the instance's calls are currently logged. */
export function isTraced({ traceLoggingUntil }: Pick<Instance, 'traceLoggingUntil'>, nowMs: number): boolean {
  return traceLoggingUntil !== null && traceLoggingUntil.getTime() > nowMs;
}

export type InstanceKey = Pick<Instance, 'accountId' | 'id'>;

/** Reason why an instance cannot be used here, independent of its provider. It can still be read and deleted. */
export interface InstanceFault {
  readonly kind: 'secrets' | 'element';
  readonly code: 'INSTANCE_CREDENTIALS_FAILED' | 'NOT_FOUND';
  readonly message: string;
}

/**
 * Asserts that the instance can be used.
 * @throws AppError that names the reason why it cannot
 */
export function assertUsable<Owner extends Pick<Instance, 'fault'>>(instance: Owner): Owner {
  const { fault } = instance;
  if (fault === undefined) return instance;
  throw new AppError(fault.code, fault.message);
}

export function instanceNotFound(id: number): AppError {
  return missing('instance', id);
}
