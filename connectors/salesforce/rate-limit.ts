import type { ProviderResponse } from '#connector';

/**
 * `Sforce-Limit-Info: api-usage=25/5000` counts the calls of the whole account in the last 24 hours, so there is no moment at which
 * it starts again. Source: REST API Developer Guide, "Limit Info Header".
 */
export function readLimitInfo(headers: ProviderResponse['headers']) {
  const usage = /(?:^|[;,\s])api-usage=(\d+)\/(\d+)/.exec(headers['sforce-limit-info'] ?? '');
  if (usage === null) return undefined;
  const [used, limit] = [Number(usage[1]), Number(usage[2])];
  return { limit, remaining: Math.max(0, limit - used) };
}
