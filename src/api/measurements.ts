import { hash, timingSafeEqual } from 'node:crypto';
import { type RequestHandler, Router } from 'express';
import { isLoopback, type ServiceConfig } from '../config/index.ts';
import { createShared } from '../http/shared.ts';
import type { Platform } from '../platform.ts';
import { refuse } from './authorization.ts';

/** Concurrent or frequent requests receive the same figures. */
const KEEP_MS = 100;

/**
 * Responds with the measurements of this process.
 * @param token the secret that a request must have; undefined: none
 */
export function createMeasurements(
  { metrics: { registry }, clock }: Pick<Platform, 'metrics' | 'clock'>,
  token: string | undefined,
): RequestHandler {
  const print = createShared(() => registry.metrics(), { clock, ms: KEEP_MS });
  const expected = token === undefined ? undefined : digestOf(`Bearer ${token}`);
  return async (request, response) => {
    const given = request.headers.authorization ?? '';
    if (expected !== undefined && !timingSafeEqual(digestOf(given), expected)) {
      response.setHeader('WWW-Authenticate', 'Bearer realm="causeway metrics"');
      refuse('/metrics needs the header `Authorization: Bearer <METRICS_TOKEN>`.');
    }
    response.set('Content-Type', registry.contentType).send(await print());
  };
}

function digestOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/**
 * Returns whether the API port may serve metrics: with a token, or if only this machine can send requests. On a
 * loopback address, `PUBLIC_URL` and `TRUST_PROXY` show that others send requests through a proxy.
 */
export function servesMeasurements({
  metricsPort,
  metricsToken,
  ...reached
}: Pick<ServiceConfig, 'metricsPort' | 'metricsToken' | 'host' | 'publicUrl' | 'trustProxy'>): boolean {
  return metricsPort === undefined && (metricsToken !== undefined || isForThisMachine(reached));
}

function isForThisMachine({
  host,
  publicUrl,
  trustProxy,
}: Pick<ServiceConfig, 'host' | 'publicUrl' | 'trustProxy'>): boolean {
  const publicHost = publicUrl === undefined ? host : new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  return isLoopback(host) && isLoopback(publicHost) && trustProxy.length === 0;
}

/** Creates the router for a separate metrics port. */
export function createMeasurementsRouter(measurements: RequestHandler): Router {
  return Router().get('/metrics', measurements);
}
