import { type ErrorDetail, invalidRequest, pointer } from '../errors.ts';
import type { EndpointInput, EventEndpoint } from '../events/endpoints/endpoint.ts';
import type { EndpointAuthentication } from '../events/model.ts';
import type { OperationBody, OperationResult } from './operation.ts';

type EndpointBody = OperationBody<'updateSubscription'>;
type AuthenticationBody = NonNullable<OperationBody<'createSubscription'>['authentication']>;
type SubscriptionView = OperationResult<'getSubscription'>;

/** Members of an endpoint that a request may set, beside those of every subscription. */
const MEMBERS = [
  'url',
  'name',
  'where',
  'instances',
  'elementKeys',
  'hubs',
  'tags',
  'format',
  'headers',
  'authentication',
  'maxPerSecond',
  'ordered',
  'active',
] as const satisfies readonly (keyof EndpointInput & keyof EndpointBody)[];

/** Returns the members of an endpoint in a body, and the rest of it. */
export function splitBody(body: EndpointBody): { readonly input: EndpointInput; readonly rest: EndpointBody } {
  const { authentication, ...members } = Object.fromEntries(MEMBERS.map((name) => [name, body[name]])) as Pick<
    EndpointBody,
    (typeof MEMBERS)[number]
  >;
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !MEMBERS.some((member) => member === name)));
  return { input: { ...members, authentication: authentication && readAuthentication(authentication) }, rest };
}

const NEEDED = {
  basic: ['username', 'password'],
  bearer: ['token'],
  oauth2: ['tokenUrl', 'clientId', 'clientSecret'],
} as const;
/** Values that no header can have, or that the receiver would read as others. */
const UNSENDABLE = [
  // RFC 6750, 2.1
  { name: 'token', is: /[^\x21-\x7e]/, message: "'token' has a character that no header can have." },
  // RFC 7617, 2
  { name: 'username', is: /:/, message: "'username' contains a colon, at which the receiver would end it." },
] as const;
const OPTIONAL = { basic: [], bearer: [], oauth2: ['scope', 'audience', 'clientAuthentication'] } as const;

/**
 * Returns an authentication with exactly the members of its type.
 * @throws AppError REQUEST_INVALID that names the members that are missing or belong to another type
 */
function readAuthentication(body: AuthenticationBody): EndpointAuthentication {
  const { type, ...members } = body;
  const needed: readonly string[] = NEEDED[type];
  const known = ['type', ...needed, ...OPTIONAL[type]];
  const missing = needed.flatMap((name): ErrorDetail[] => {
    const value: unknown = Reflect.get(members, name);
    if (typeof value === 'string' && value !== '') return [];
    return [{ path: pointer('body', 'authentication', name), message: `'${name}' is required for the type ${type}.` }];
  });
  const foreign = Object.keys(members).flatMap((name): ErrorDetail[] =>
    known.includes(name)
      ? []
      : [{ path: pointer('body', 'authentication', name), message: `'${name}' does not belong to the type ${type}.` }],
  );
  const control = Object.entries(members).flatMap(([name, value]): ErrorDetail[] =>
    /\p{Cc}/u.test(value) || !value.isWellFormed()
      ? [{ path: pointer('body', 'authentication', name), message: `'${name}' contains a control character.` }]
      : [],
  );
  const unsendable = Object.entries(members).flatMap(([name, value]): ErrorDetail[] => {
    const fault = UNSENDABLE.find((each) => each.name === name && each.is.test(value));
    return fault === undefined ? [] : [{ path: pointer('body', 'authentication', name), message: fault.message }];
  });
  const faults = [...missing, ...foreign, ...control, ...unsendable];
  if (faults.length > 0) throw invalidRequest(faults);
  // Its members are those of its type.
  return body as EndpointAuthentication;
}

/** Returns the members of an endpoint for the view of its subscription. */
export function toEndpointView(url: string, endpoint: EventEndpoint): Partial<SubscriptionView> {
  const { name, where, format, headers, authentication, maxPerSecond, ordered, active } = endpoint;
  const { instances, elementKeys, hubs, tags, warnings } = endpoint;
  return {
    endpoint: true,
    url,
    ...(name !== undefined && { name }),
    ...(where !== undefined && { where }),
    ...(instances !== undefined && { instances: [...instances] }),
    ...(elementKeys !== undefined && { elementKeys: [...elementKeys] }),
    ...(hubs !== undefined && { hubs: [...hubs] }),
    ...(tags !== undefined && { tags: [...tags] }),
    format,
    ...(headers !== undefined && { headers: { ...headers } }),
    ...(authentication !== undefined && { authentication: { ...authentication } }),
    ...(maxPerSecond !== undefined && { maxPerSecond }),
    ordered,
    active,
    ...(warnings !== undefined && { warnings: warnings.map((warning) => ({ ...warning })) }),
  };
}
