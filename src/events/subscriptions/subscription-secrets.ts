/** A signing secret in the form of Standard Webhooks. The current secret has no expiry. */
interface SigningSecret {
  readonly secret: string;
  /** Time of expiry (ISO 8601). Until then, deliveries are also signed with this secret. */
  readonly expiresAt?: string;
}

/** Signing secrets, the newest first. */
export type SigningSecrets = readonly [SigningSecret, ...SigningSecret[]];

/** Number of hours for which the secret before a rotation stays valid. */
const ROTATION_HOURS = 24;
const SECRET_PREFIX = 'whsec_';
/** The specification requires 24 to 64 bytes. */
const SECRET_BYTES = 24;
const HOUR_MS = 3_600_000;

export function createSecret(random: (bytes: number) => Buffer): string {
  return `${SECRET_PREFIX}${random(SECRET_BYTES).toString('base64')}`;
}

/** Returns the new secret and the one before it. Two rotations remove a secret that may have leaked. */
export function rotate([current]: SigningSecrets, next: string, nowMs: number): SigningSecrets {
  const expiresAt = new Date(nowMs + ROTATION_HOURS * HOUR_MS).toISOString();
  return [{ secret: next }, { secret: current.secret, expiresAt }];
}

export function validSecrets(secrets: SigningSecrets, nowMs: number): readonly string[] {
  return secrets
    .filter(({ expiresAt }) => expiresAt === undefined || Date.parse(expiresAt) > nowMs)
    .map(({ secret }) => secret);
}

/** Returns when the secret before the last rotation expires; undefined if there is none or it has expired. */
export function previousExpiry([, previous]: SigningSecrets, nowMs: number): Date | undefined {
  if (previous?.expiresAt === undefined || Date.parse(previous.expiresAt) <= nowMs) return undefined;
  return new Date(previous.expiresAt);
}
