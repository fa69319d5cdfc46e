import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { expect } from 'chai';
import type { WebhookCall } from '#connector';
import { sign } from './simulator/business-rule.ts';
import { BUSINESS_RULE, businessRules } from './webhooks.ts';

const SECRET = 'a-secret-of-ServiceNow!';
const NOW = Date.parse('2026-01-31T08:30:00Z');
const ID = '9d385017c611228701d22104cc95c371';
const UPDATED = {
  table: 'incident',
  sys_id: ID,
  operation: 'update',
  sys_mod_count: '7',
  sys_updated_on: '2026-01-31 08:29:59',
};

function callOf({ headers, body }: { readonly headers: WebhookCall['headers']; readonly body: string }): WebhookCall {
  return { method: 'POST', url: 'https://x.example/', headers, body: Buffer.from(body) };
}

function verdictOf(call: WebhookCall, { secret = SECRET, now = NOW } = {}) {
  const { verify } = businessRules;
  return verify === 'unsigned' ? verify : verify(call, { secret, now, config: {} });
}

const notify = (body: unknown) => businessRules.events(callOf(sign(Object(body), SECRET, NOW)), {});

/**
 * Runs the script of the business rule with ServiceNow's API as its server API reference describes it, and returns the request that it
 * sends.
 */
function runRule(record: Readonly<Record<string, string | null>>, operation: string) {
  const sent: { url?: string; method?: string; body?: string; headers: Record<string, string> } = { headers: {} };
  const properties: Readonly<Record<string, string>> = {
    'causeway.webhook.url': 'https://hooks.example/events/servicenow/k',
    'causeway.webhook.secret': SECRET,
  };
  let isSent = false;
  class GlideCertificateEncryption {
    generateMac(key: string, algorithm: string, data: string): string {
      if (algorithm !== 'HmacSHA256') throw new Error(algorithm);
      return createHmac('sha256', Buffer.from(key, 'base64')).update(data).digest('base64');
    }
  }
  class RESTMessageV2 {
    setEndpoint = (url: string) => Object.assign(sent, { url });
    setHttpMethod = (method: string) => Object.assign(sent, { method });
    setRequestHeader = (name: string, value: string) => Object.assign(sent.headers, { [name.toLowerCase()]: value });
    setRequestBody = (body: string) => Object.assign(sent, { body });
    executeAsync = () => {
      isSent = true;
    };
  }
  const current = {
    getRecordClassName: () => record.sys_class_name,
    getUniqueValue: () => record.sys_id,
    getValue: (name: string) => record[name] ?? null,
    operation: () => operation,
  };
  const context = {
    ...{ GlideCertificateEncryption, sn_ws: { RESTMessageV2 }, current, previous: null },
    GlideStringUtil: { base64Encode: (text: string) => Buffer.from(text).toString('base64') },
    gs: { getProperty: (name: string) => properties[name] },
  };
  runInContext(BUSINESS_RULE, createContext(context));
  expect(isSent).to.equal(true);
  const { url, method, body = '', headers } = sent;
  return { url, method, call: callOf({ headers, body }) };
}

describe('a business rule of ServiceNow', () => {
  it('sends calls that are genuine, by the script that people copy', () => {
    const record = { sys_class_name: 'incident', ...UPDATED };
    const { url, method, call } = runRule(record, 'update');
    expect([url, method]).to.deep.equal(['https://hooks.example/events/servicenow/k', 'POST']);
    expect(verdictOf(call, { now: Date.now() })).to.equal('genuine');
    const [event, ...none] = businessRules.events(call, {});
    const { raw, ...reported } = event ?? {};
    expect([reported, none]).to.deep.equal([
      {
        id: `incident:${ID}:update:7:2026-01-31 08:29:59`,
        action: 'updated',
        objectName: 'incident',
        objectId: ID,
        at: new Date('2026-01-31T08:29:59Z'),
      },
      [],
    ]);
    expect(raw).to.deep.equal(UPDATED);
  });

  it('sends no more than ASCII, whatever the record holds', () => {
    const { call } = runRule({ sys_class_name: 'incident', sys_id: ID, short_description: 'Zürich' }, 'insert');
    expect(Buffer.from(call.body).toString()).to.match(/^[\x20-\x7e]+$/);
  });

  it('stands in the README as the element tells it', async () => {
    const readme = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
    expect(readme).to.include(`\`\`\`js\n${BUSINESS_RULE}\n\`\`\``);
    expect(businessRules.setup).to.include(BUSINESS_RULE);
  });

  it('is written in ECMAScript 5', () => {
    expect(BUSINESS_RULE).not.to.match(/=>|`|\blet\b|\bconst\b|\bclass\b/);
  });

  it('signs the moment and the bytes of a call', () => {
    const call = callOf(sign(UPDATED, SECRET, NOW));
    const flipped = Uint8Array.from(call.body, (byte, index) => (index === 12 ? byte ^ 1 : byte));
    const hour = 3_600_000;
    expect([
      verdictOf(call, { now: NOW + hour }),
      verdictOf(call, { now: NOW + hour + 1000 }),
      verdictOf({ ...call, body: flipped }),
      verdictOf({ ...call, headers: { ...call.headers, 'x-causeway-timestamp': String(NOW / 1000 + 1) } }),
      verdictOf(call, { secret: 'another secret of theirs' }),
      verdictOf({ ...call, headers: {} }),
    ]).to.deep.equal(['genuine', 'stale', 'forged', 'forged', 'forged', 'unsigned']);
  });

  it('tells what happened to which record, each change by an id of its own', () => {
    const of = (more: object) => notify({ ...UPDATED, ...more })[0];
    expect(of({ operation: 'insert' })?.action).to.equal('created');
    expect([of({ operation: 'delete' })?.action, of({ operation: 'delete' })?.at]).to.deep.equal([
      'deleted',
      new Date(NOW),
    ]);
    expect(of({ operation: 'query' })?.action).to.equal('unknown');
    expect(of({ sys_mod_count: '8' })?.id).not.to.equal(of({})?.id);
    expect(Number.isNaN(of({ sys_updated_on: 'null' })?.at?.getTime())).to.equal(true);
    expect(of({ table: 'u_own_table' })?.objectName).to.equal('u_own_table');
  });

  it('is not understood in any other form', () => {
    expect(() => notify([])).to.throw();
    expect(() => notify({})).to.throw('lacks the table of a record.');
    expect(() => notify({ ...UPDATED, table: '../incident' })).to.throw('is not the name of a table.');
    expect(() => notify({ ...UPDATED, sys_id: '' })).to.throw('lacks the id of a record.');
    expect(() => notify({ ...UPDATED, operation: null })).to.throw('lacks the operation on a record.');
  });
});
