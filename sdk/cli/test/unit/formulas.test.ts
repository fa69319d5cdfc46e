import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EXIT, exitCodeOf } from '../../src/exit-codes.js';
import { DifferentError, ExecutionFailedError, NamedNothingError } from '../../src/failures.js';
import { changeLine, changesBetween } from '../../src/formula-files.js';
import { reasonOf, withoutSecretValue } from '../../src/formula-steps.js';

const STORED = {
  name: 'Contacts',
  active: true,
  singleThreaded: false,
  debugLoggingEnabled: true,
  engine: 'v3',
  configuration: [{ key: 'crm', name: 'crm', type: 'value', required: false }],
  triggers: [
    { name: 'trigger', type: 'manual', async: true, onSuccess: ['get', 'say'], onFailure: [], properties: {} },
  ],
  steps: [
    {
      name: 'get',
      type: 'request',
      onSuccess: [],
      onFailure: [],
      properties: { method: 'GET', api: '/instances', headers: { Authorization: 'Bearer one' } },
    },
    { name: 'say', type: 'script', onSuccess: [], onFailure: [], properties: { body: 'done({\n a: 1\n});' } },
  ],
};

describe('the changes of a formula', () => {
  it('are none where a file leaves out what has a default, and orders its steps in another way', () => {
    const [get, say] = STORED.steps;
    const file = {
      id: 4711,
      userId: 1,
      name: 'Contacts',
      description: null,
      configuration: [{ id: 1, key: 'crm' }],
      triggers: [{ id: 2, type: 'manual', onSuccess: ['get', 'say'] }],
      steps: [
        { name: 'say', type: 'script', onFailure: null, properties: say?.properties },
        { id: 3, name: 'get', type: 'platformRequest', properties: get?.properties },
      ],
    };
    assert.deepEqual(changesBetween(STORED, file), []);
  });

  it('name what is added, removed and changed, and no secret', () => {
    const [get, say] = STORED.steps;
    const after = {
      ...STORED,
      singleThreaded: true,
      configuration: [],
      steps: [
        {
          ...get,
          properties: {
            method: 'GET',
            api: '/hubs',
            headers: { Authorization: 'Bearer two' },
            url: 'amqp://u:pw@host',
          },
        },
        { ...say, properties: { body: 'done({\n a: 2\n});' } },
        { name: 'new', type: 'filter', properties: { body: 'done(true)' } },
      ],
    };
    assert.deepEqual(changesBetween(STORED, after).map(changeLine), [
      '~ singleThreaded: false → true',
      '- configuration/crm',
      '~ steps/get/properties/api: "/instances" → "/hubs"',
      '~ steps/get/properties/headers/Authorization: another secret',
      '+ steps/get/properties/url: "amqp://********@host"',
      '~ steps/say/properties/body: another text',
      '+ steps/new',
    ]);
    assert.doesNotMatch(JSON.stringify(changesBetween(STORED, after)), /Bearer|pw/);
  });

  it('have the number of lines of scripts, and references as they are', () => {
    const before = { name: 'a', steps: [{ name: 's', properties: { body: '1\n2', token: '$' + '{config.old}' } }] };
    const after = { name: 'a', steps: [{ name: 's', properties: { body: '1\n2\n3', token: '$' + '{config.new}' } }] };
    assert.deepEqual(changesBetween(before, after).map(changeLine), [
      '~ steps/s/properties/body: 2 lines → 3 lines',
      '~ steps/s/properties/token: "$' + '{config.old}" → "$' + '{config.new}"',
    ]);
  });
});

describe('the values of a step', () => {
  const value = (key: string, text: string) => withoutSecretValue({ id: 1, key, value: text }).value;

  it('are shown without secrets', () => {
    assert.equal(value('get.request.headers', '{"authorization":"Bearer x"}'), '{"authorization":"********"}');
    assert.equal(
      value('get.response.body', '[{"id":1,"token":"abc","deep":{"apiKey":"k"}}]'),
      '[{"id":1,"token":"********","deep":{"apiKey":"********"}}]',
    );
    assert.equal(value('login.password', 'hunter2'), '********');
    assert.equal(value('send.request.url', 'https://user:pw@host/a'), 'https://********@host/a');
  });

  it('without secrets are shown to the last digit', () => {
    assert.equal(value('get.response.body', '{ "id": 9007199254740993 }'), '{ "id": 9007199254740993 }');
    assert.equal(value('s.text', '{not JSON'), '{not JSON');
  });

  it('say why a step failed', () => {
    const reason = (fault: boolean, ...values: readonly (readonly [string, string])[]) =>
      reasonOf(
        { stepName: 's', fault },
        values.map(([key, text], id) => ({ id, key: `s.${key}`, value: text })),
      );
    assert.equal(reason(true, ['console', '[]'], ['error', 'Boom.']), 'Boom.');
    assert.equal(reason(true, ['response.code', '404']), 'the response is 404');
    assert.equal(reason(false, ['continue', 'false']), 'the filter is false');
    assert.equal(reason(false), 'a filter that is false, or the end of a loop');
    assert.equal(reason(true), 'the values of the step are not kept');
  });
});

describe('a failure of a command on formulas', () => {
  it('has its exit code', () => {
    assert.equal(exitCodeOf(new NamedNothingError('')), EXIT.notFound);
    assert.equal(exitCodeOf(new DifferentError('')), EXIT.failure);
    assert.equal(exitCodeOf(new ExecutionFailedError('')), EXIT.failure);
  });
});
