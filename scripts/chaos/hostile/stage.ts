import type { Knex } from 'knex';
import type { Attacker, HostileRequest, HostileResponse, Tally } from './attacker.ts';
import type { HostileService, HostileSite } from './provider.ts';
import type { Random } from './random.ts';
import { authorizationOf, type Tenant } from './tenants.ts';

export type Kind = 'caller' | 'provider' | 'webhook' | 'receiver' | 'socket' | 'formula';

/** Everything that an input may use while it prepares. `signal` ends the attack. */
export interface Ground {
  readonly name: string;
  readonly tenant: Tenant;
  readonly knex: Knex;
  readonly site: HostileSite;
  readonly random: Random;
}

/** Everything that an input may use during the attack. */
export interface Stage extends Ground {
  readonly attacker: Attacker;
  readonly tally: Tally;
  readonly signal: AbortSignal;
}

/**
 * A hostile client. `arm` runs before the clock starts: it creates instances and pages, and returns the attack, which ends by itself or
 * when the signal aborts.
 */
export interface HostileInput {
  readonly kind: Kind;
  /** The finding of the audit that the input repeats. Undefined if it was found later. */
  readonly finding?: string;
  readonly arm: (ground: Ground & Pick<Stage, 'attacker'>) => Promise<Attack> | Attack;
}

export type Attack = (stage: Stage) => Promise<unknown>;

export type Inputs = Readonly<Record<string, HostileInput>>;

export const API = '/elements/api-v2';

/** Returns the header of platform calls. */
export function asTenant(tenant: Tenant): Readonly<Record<string, string>> {
  return { authorization: authorizationOf(tenant) };
}

export function onInstance(tenant: Tenant, token: string): Readonly<Record<string, string>> {
  return { authorization: authorizationOf(tenant, token) };
}

export const JSON_TYPE = { 'content-type': 'application/json' };

/** Sends at most `most` requests, a number of them concurrently, until the attack ends. */
export async function flood(
  { attacker, signal }: Stage,
  { most, parallel }: { readonly most: number; readonly parallel: number },
  requestOf: (number: number) => HostileRequest,
): Promise<void> {
  let number = 0;
  const lane = async () => {
    while (number < most && !signal.aborted) await attacker.send(requestOf(number++));
  };
  await Promise.all(Array.from({ length: Math.min(parallel, most) }, lane));
}

export interface StagedInstance {
  readonly id: number;
  readonly token: string;
  /** URL for the provider's webhooks. Only elements whose provider sends webhooks have it. */
  readonly eventUrl?: string;
}

/** Creates an instance. @throws Error if that fails, because the input would then prove nothing */
export async function createInstance(
  { tenant, attacker }: Pick<Stage, 'tenant' | 'attacker'>,
  key: string,
  configuration: object,
  more: object = {},
): Promise<StagedInstance> {
  const body = JSON.stringify({ element: { key }, name: 'hostile', configuration, ...more });
  const response = await attacker.ask({ ...post('/instances', tenant), body });
  return JSON.parse(assertOk(response).text);
}

export function connectBamboo(ground: Pick<Stage, 'tenant' | 'attacker'>, more: object = {}): Promise<StagedInstance> {
  return createInstance(ground, 'bamboohr', { username: 'demo-key', 'company.name': 'acme', simulator: true, ...more });
}

export function connectOData(
  ground: Pick<Stage, 'tenant' | 'attacker' | 'site' | 'name'>,
  service: HostileService,
): Promise<StagedInstance> {
  return createInstance(ground, 'odata', { 'base.url': ground.site.serve(ground.name, service) });
}

export function post(path: string, tenant: Tenant): HostileRequest & { headers: Record<string, string> } {
  return { method: 'POST', path: API + path, headers: { ...asTenant(tenant), ...JSON_TYPE } };
}

/** Returns a request that lists `items` or another object, with this query. */
export function listing(
  tenant: Tenant,
  token: string,
  query: Readonly<Record<string, string>> = {},
  object = 'items',
): HostileRequest {
  const text = new URLSearchParams(query).toString();
  return { path: `${API}/${object}${text === '' ? '' : `?${text}`}`, headers: onInstance(tenant, token) };
}

export function assertOk(response: HostileResponse): HostileResponse {
  if (response.status !== 200) throw new Error(`The input could not be armed: ${response.status} ${response.text}`);
  return response;
}
