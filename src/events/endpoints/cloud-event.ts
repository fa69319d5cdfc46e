import { type StandardBody, toOriginalBody } from '../message.ts';
import type { BodyFormat } from '../model.ts';

export const CONTENT_TYPES: Readonly<Record<BodyFormat, string>> = {
  standard: 'application/json',
  elements: 'application/json',
  cloudevents: 'application/cloudevents+json',
};

interface FormInput {
  readonly format: BodyFormat;
  readonly companyId: number;
  /** Whether the endpoint gets the event because its filter could not be decided. */
  readonly unfiltered: boolean;
}

/** Returns a stored body in the form that an endpoint receives. */
export function toEndpointBody(body: Buffer, { format, companyId, unfiltered }: FormInput): Buffer {
  if (format === 'elements') return toOriginalBody(body, { companyId, unfiltered });
  if (format === 'standard' && !unfiltered) return body;
  // It was written by `buildPayload`.
  const event: StandardBody = JSON.parse(body.toString());
  const marked = unfiltered ? { ...event, data: { ...event.data, unfiltered } } : event;
  return Buffer.from(JSON.stringify(format === 'standard' ? marked : toCloudEvent(marked)));
}

/**
 * Converts an event to CloudEvents 1.0 (structured mode, https://github.com/cloudevents/spec). Its attributes are those that receivers
 * route by; names of extensions have lower-case letters and digits only.
 */
function toCloudEvent({ id, type, timestamp, data }: StandardBody) {
  const { objectName, objectId, elementKey, hub, accountId, instance } = data;
  const subject = [objectName, objectId].filter((part) => part !== undefined && part !== '').map(encodePart);
  return {
    specversion: '1.0',
    id,
    source: `/accounts/${accountId}/instances/${instance.id}`,
    type,
    time: timestamp,
    ...(subject.length > 0 && { subject: subject.join('/') }),
    datacontenttype: 'application/json',
    elementkey: elementKey,
    hub,
    accountid: String(accountId),
    instanceid: String(instance.id),
    data,
  };
}

function encodePart(part: string | undefined): string {
  return encodeURIComponent((part ?? '').toWellFormed());
}
