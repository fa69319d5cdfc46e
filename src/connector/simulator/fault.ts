/** A failure of a simulated provider. The provider's `print` turns it into a response. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly status: number;
  /** The provider's own code. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The inputs that caused it, where the provider names them. */
  readonly fields: readonly string[];

  constructor(status: number, code: string, message: string, more: Partial<Pick<Fault, 'headers' | 'fields'>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = more.headers ?? {};
    this.fields = more.fields ?? [];
  }
}

/** Codes of the kit's own faults. A provider may print others instead. */
export const KIT_CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  413: 'REQUEST_ENTITY_TOO_LARGE',
  414: 'URI_TOO_LONG',
  429: 'TOO_MANY_REQUESTS',
  500: 'SIMULATOR_FAILED',
} as const;

/** The code of a body that its endpoint cannot read. */
export const BAD_BODY = 'BAD_BODY';

/** Returns a fault with the kit's own code for the status. */
export function fault(
  status: keyof typeof KIT_CODES,
  message: string,
  more?: ConstructorParameters<typeof Fault>[3],
): Fault {
  return new Fault(status, KIT_CODES[status], message, more);
}
