import { once } from 'node:events';
import type { Knex } from 'knex';
import { DEMO } from '../../bench/running-service.ts';
import type { Attacker, HostileRequest, HostileResponse, Tally } from './attacker.ts';
import type { HostileService, HostileSite } from './provider.ts';
import type { Random } from './random.ts';
import { authorizationOf, type Tenant } from './tenants.ts';

export type Kind = 'caller' | 'provider' | 'webhook' | 'receiver' | 'socket' | 'formula';

interface Ground {
  readonly name: string;
  readonly tenant: Tenant;
  readonly knex: Knex;
  readonly site: HostileSite;
  readonly random: Random;
}

/** Everything that an input may use during the attack. `signal` ends it. */
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
  readonly arm: (armed: Armed) => Promise<Attack> | Attack;
}

/** Everything that an input may use while it prepares. */
export type Armed = Ground & Pick<Stage, 'attacker'>;

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

/** A number of requests, some of them concurrently. */
export interface Flood {
  readonly most: number;
  readonly parallel: number;
  readonly finding?: string | undefined;
}

/** Returns each of the requests, by its number. */
export type Requests = (number: number) => HostileRequest;

/** Returns an input that sends the same kind of requests until the attack ends. `prepare` runs before the clock starts. */
export function flooding(
  kind: Kind,
  { finding, ...load }: Flood,
  prepare: (armed: Armed) => Requests | Promise<Requests>,
): HostileInput {
  return {
    kind,
    ...(finding !== undefined && { finding }),
    arm: async (armed) => {
      const requestOf = await prepare(armed);
      return (stage) => flood(stage, load, requestOf);
    },
  };
}

/** Sends the requests until all are sent or the attack ends. */
export async function flood(
  { attacker, signal }: Stage,
  { most, parallel }: Flood,
  requestOf: Requests,
): Promise<void> {
  let number = 0;
  const lane = async () => {
    while (number < most && !signal.aborted) await attacker.send(requestOf(number++));
  };
  await Promise.all(Array.from({ length: Math.min(parallel, most) }, lane));
}

/** Waits until the attack ends. */
export async function untilEnd({ signal }: Pick<Stage, 'signal'>): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

export interface StagedInstance {
  readonly id: number;
  readonly token: string;
  /** URL for the provider's webhooks. Only elements whose provider sends webhooks have it. */
  readonly eventUrl?: string;
}

/** Creates an instance. @throws Error if that fails, because the input would then prove nothing */
export async function createInstance(
  { tenant, attacker }: Armed,
  key: string,
  configuration: object,
  more: object = {},
): Promise<StagedInstance> {
  const body = JSON.stringify({ element: { key }, name: 'hostile', configuration, ...more });
  const response = await attacker.ask({ ...post('/instances', tenant), body });
  return JSON.parse(assertOk(response).text);
}

export function connectBamboo(armed: Armed, more: object = {}): Promise<StagedInstance> {
  return createInstance(armed, 'bamboohr', { ...DEMO, ...more });
}

export function connectOData(armed: Armed, service: HostileService): Promise<StagedInstance> {
  return createInstance(armed, 'odata', { 'base.url': armed.site.serve(armed.name, service) });
}

/** Returns a POST of JSON to the platform or, with the token of an instance, on that. */
export function post(path: string, tenant: Tenant, token?: string) {
  const headers = { authorization: authorizationOf(tenant, token), ...JSON_TYPE };
  return { method: 'POST', path: API + path, headers };
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
