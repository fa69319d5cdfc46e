import type { ProviderCall, ProviderClient } from '../connector/client/index.ts';
import type { Config } from '../connector/contract.ts';
import { AppError, isAppError } from '../errors.ts';

/**
 * The settings to store once the provider takes them: with what the connector found out about it.
 * @throws AppError PROVIDER_CREDENTIALS_INVALID when it refuses them or does not know the account; other failures as they are
 */
export async function verifySettings(client: ProviderClient, call: ProviderCall): Promise<Config> {
  try {
    await client.send(call, call.connector.probe);
    return await examined(client, call);
  } catch (error) {
    // A wrong account name shows as "not found" or "forbidden" at most providers: to the caller it is all one.
    if (!isAppError(error, 'INSTANCE_CREDENTIALS_FAILED', 'PROVIDER_REJECTED', 'NOT_FOUND')) throw error;
    const { connector, config } = call;
    const given = connector.configuration.filter((field) => field.default === undefined && field.key in config);
    const keys = given.map(({ key }) => key).join(', ');
    const message = `${connector.name} refuses these credentials. Check ${keys}. Nothing was stored.`;
    throw new AppError('PROVIDER_CREDENTIALS_INVALID', message, {
      ...(error.providerMessage !== undefined && { providerMessage: error.providerMessage }),
      cause: error,
    });
  }
}

async function examined(client: ProviderClient, call: ProviderCall): Promise<Config> {
  const { examine } = call.connector;
  if (examine === undefined) return call.config;
  const found = await client.execute({ run: examine }, undefined, { ...call, retry: false });
  const settings = Object.entries({ ...call.config, ...found }).filter(([, value]) => value !== undefined);
  return Object.freeze(Object.fromEntries(settings));
}
