import type { EgressRequest, EgressResponse } from '../../egress/index.ts';
import { isEgressError } from './egress-failure.ts';
import type { SentRequest } from './measure.ts';
import type { TellingPorts } from './ports.ts';

/** What of a request is told beside what came of it; `url` is the provider's. */
export type Undertaking = Pick<SentRequest, 'element' | 'url' | 'redactor'>;

/** Sends one request to a provider and tells of it, whatever came of it. */
export async function sendTold(
  { egress, onRequest }: TellingPorts,
  undertaking: Undertaking,
  request: EgressRequest,
): Promise<EgressResponse> {
  const startedAtMs = performance.now();
  const tell = (outcome: SentRequest['outcome']) =>
    onRequest?.({
      ...undertaking,
      method: request.method ?? 'GET',
      toSimulator: request.toSimulator === true,
      outcome,
      durationMs: performance.now() - startedAtMs,
    });
  try {
    const response = await egress.request(request);
    tell(response.status);
    return response;
  } catch (error) {
    tell(isEgressError(error) ? error.reason : 'failed');
    throw error;
  }
}
