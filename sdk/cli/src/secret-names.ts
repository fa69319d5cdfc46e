/** The text that replaces a secret. */
export const MASK = '********';
const SECRET_NAME = /(?:token|password|passphrase|secret|authorization|api[-_.]?key|credentials?|cookie)$/i;
const USER_OF_URL = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi;

/** Returns whether the value of a member with this name is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Returns a value without its secrets: members are judged by their name, and URLs by the part that contains the secret. */
export function withoutSecretsIn(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(USER_OF_URL, `$1${MASK}@`);
  if (Array.isArray(value)) return value.map(withoutSecretsIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      isSecretName(name) && isText(member) ? MASK : withoutSecretsIn(member),
    ]),
  );
}

/** Returns whether a value is a text with a secret. A reference such as `${config.token}` is none. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !/^\$\{[^{}]*\}$/.test(value);
}
