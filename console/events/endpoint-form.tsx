import { useState } from 'preact/hooks';
import type { Schemas } from '../api.ts';
import { Field, Form, readText } from '../parts/form.tsx';
import { useNeeds } from '../who.ts';
import { CHANGING, type Subscription } from './calls.ts';

export type EndpointBody = Schemas['NewEndpoint'];
type Authentication = NonNullable<EndpointBody['authentication']>;
/** The members of a form. A member that is null was emptied. */
export type EndpointChanges = {
  readonly [Name in keyof EndpointBody]: Name extends 'url' | 'eventTypes' | 'format' | 'ordered' | 'active'
    ? EndpointBody[Name]
    : EndpointBody[Name] | null;
};

const FORMATS = {
  standard: 'Standard',
  elements: 'Cloud Elements and SAP Open Connectors',
  cloudevents: 'CloudEvents 1.0',
} as const;

const AUTHENTICATIONS = {
  none: 'None',
  basic: 'Basic',
  bearer: 'Bearer token',
  oauth2: 'OAuth 2.0 client credentials',
};

/** The text fields of each kind of authentication. Secrets that are stored come masked and are sent back so. */
const AUTHENTICATION_FIELDS = {
  none: [],
  basic: [
    { name: 'username', label: 'User name' },
    { name: 'password', label: 'Password', isSecret: true },
  ],
  bearer: [{ name: 'token', label: 'Token', isSecret: true }],
  oauth2: [
    { name: 'tokenUrl', label: 'Token endpoint' },
    { name: 'clientId', label: 'Client id' },
    { name: 'clientSecret', label: 'Client secret', isSecret: true },
    { name: 'scope', label: 'Scope', isOptional: true },
    { name: 'audience', label: 'Audience', isOptional: true },
  ],
} as const satisfies Record<keyof typeof AUTHENTICATIONS, readonly AuthenticationField[]>;

interface AuthenticationField {
  readonly name: string;
  readonly label: string;
  readonly isSecret?: true;
  readonly isOptional?: true;
}

const LISTS = [
  { name: 'elementKeys', label: 'Elements', placeholder: 'all, or bamboohr, salesforce' },
  { name: 'hubs', label: 'Hubs', placeholder: 'all, or crm' },
  { name: 'tags', label: 'Tags of instances', placeholder: 'all, or europe, vip' },
  { name: 'instances', label: 'Ids of instances', placeholder: 'all, or 12, 15' },
] as const;

interface EndpointFormProps {
  /** The endpoint to change; undefined for a new one. */
  readonly endpoint: Subscription | undefined;
  readonly onSubmit: (body: EndpointChanges & { readonly url: string }) => Promise<void>;
  readonly onCancel?: () => void;
}

/** The form of an endpoint: its URL, its filter, and the form of its deliveries. */
export function EndpointForm({ endpoint, onSubmit, onCancel }: EndpointFormProps) {
  const needs = useNeeds();
  const [kind, setKind] = useState<keyof typeof AUTHENTICATIONS>(endpoint?.authentication?.type ?? 'none');
  const submit = (form: FormData) => onSubmit(readForm(form, kind));
  return (
    <Form
      action={endpoint === undefined ? 'Create' : 'Save'}
      onSubmit={submit}
      refusal={needs(CHANGING).title}
      {...(onCancel && { onCancel })}
    >
      <Field label="URL" name="url" type="url" value={endpoint?.config.url} required />
      <Field label="Name" name="name" value={endpoint?.name} maxLength={255} />
      <Field
        label="Event types"
        name="eventTypes"
        value={endpoint?.eventTypes.join(', ') ?? '*'}
        hint="Separated by commas: contacts.* means all types that begin with it."
      />
      <label>
        Filter
        <textarea
          class="mono"
          name="where"
          rows={3}
          spellcheck={false}
          defaultValue={endpoint?.where ?? ''}
          placeholder="objectName = 'deals' AND object.stage = 'Won'"
        />
      </label>
      <Warnings endpoint={endpoint} />
      <div class="columns">
        {LISTS.map(({ name, label, placeholder }) => (
          <Field key={name} label={label} name={name} value={endpoint?.[name]?.join(', ')} placeholder={placeholder} />
        ))}
      </div>
      <label>
        Format
        <select name="format" defaultValue={endpoint?.format ?? 'standard'}>
          {Object.entries(FORMATS).map(([value, title]) => (
            <option key={value} value={value} selected={value === (endpoint?.format ?? 'standard')}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Headers
        <textarea
          class="mono"
          name="headers"
          rows={2}
          spellcheck={false}
          defaultValue={Object.entries(endpoint?.headers ?? {})
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
          placeholder="X-Team: sales"
        />
      </label>
      <label>
        Authentication
        <select value={kind} onChange={({ currentTarget }) => setKind(kindOf(currentTarget.value))}>
          {Object.entries(AUTHENTICATIONS).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {AUTHENTICATION_FIELDS[kind].map((field: AuthenticationField) => (
        <Field
          key={`${kind} ${field.name}`}
          label={field.label}
          name={`authentication.${field.name}`}
          type={field.isSecret === true ? 'password' : 'text'}
          autocomplete="off"
          required={field.isOptional !== true}
          value={storedValue(endpoint?.authentication, kind, field.name)}
        />
      ))}
      <Field
        label="Deliveries per second"
        name="maxPerSecond"
        value={endpoint?.maxPerSecond === undefined ? undefined : String(endpoint.maxPerSecond)}
        placeholder="no limit"
        hint="Further deliveries wait; none is dropped."
      />
      <label class="inline">
        <input type="checkbox" name="ordered" defaultChecked={endpoint?.ordered ?? false} />
        Send one delivery at a time, in the order of the events
      </label>
      <label class="inline">
        <input type="checkbox" name="active" defaultChecked={endpoint?.active ?? true} />
        Store events for this endpoint
      </label>
    </Form>
  );
}

function Warnings({ endpoint }: { readonly endpoint: Subscription | undefined }) {
  if (endpoint?.warnings === undefined) return null;
  return (
    <ul class="note warn bare small" aria-label="Warnings about the filter">
      {endpoint.warnings.map(({ field, message }) => (
        <li key={field}>
          <code>{field}</code>: {message}
        </li>
      ))}
    </ul>
  );
}

function kindOf(value: string): keyof typeof AUTHENTICATIONS {
  return value === 'basic' || value === 'bearer' || value === 'oauth2' ? value : 'none';
}

/** A stored value belongs to its kind of authentication. */
function storedValue(stored: Authentication | undefined, kind: string, name: string): string | undefined {
  return stored?.type === kind ? Object.entries(stored).find(([member]) => member === name)?.[1] : undefined;
}

function readForm(form: FormData, kind: keyof typeof AUTHENTICATIONS): EndpointChanges & { readonly url: string } {
  const text = (name: string) => readText(form, name) || null;
  const list = (name: string) => listOf(readText(form, name));
  const rate = text('maxPerSecond');
  const format = readText(form, 'format');
  return {
    url: readText(form, 'url'),
    name: text('name'),
    eventTypes: list('eventTypes') ?? ['*'],
    where: text('where'),
    elementKeys: list('elementKeys'),
    hubs: list('hubs'),
    tags: list('tags'),
    instances: list('instances')?.map((id) => readNumber(id, 'the id of an instance, such as 12')) ?? null,
    format: format === 'elements' || format === 'cloudevents' ? format : 'standard',
    headers: readHeaders(readText(form, 'headers')),
    authentication: readAuthentication(form, kind),
    maxPerSecond: rate === null ? null : readNumber(rate, 'a number of deliveries per second, such as 10 or 0.5'),
    ordered: form.get('ordered') !== null,
    active: form.get('active') !== null,
  };
}

function listOf(text: string): string[] | null {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  return items.length === 0 ? null : items;
}

/**
 * Reads a number. JSON has no NaN, and writes null in its place, which would empty the member.
 * @throws Error for text that is not a number
 */
function readNumber(text: string, what: string): number {
  const value = Number(text);
  if (!Number.isFinite(value)) throw new Error(`'${text}' is not ${what}.`);
  return value;
}

/** Reads one header per line. @throws Error for a line without a colon */
function readHeaders(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return null;
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`'${line}' is not a header, such as X-Team: sales.`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function readAuthentication(form: FormData, kind: keyof typeof AUTHENTICATIONS): Authentication | null {
  if (kind === 'none') return null;
  const members = AUTHENTICATION_FIELDS[kind].flatMap(({ name }: AuthenticationField) => {
    const value = readText(form, `authentication.${name}`);
    return value === '' ? [] : [[name, value] as const];
  });
  return { type: kind, ...Object.fromEntries(members) };
}

/** Returns a body for a new endpoint, which has no empty members. */
export function withoutNulls(changes: EndpointChanges & { readonly url: string }): EndpointBody {
  // What is left of the members has the types of the body.
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as unknown as EndpointBody;
}
