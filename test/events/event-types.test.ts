import { expect } from 'chai';
import document from '../../generated/openapi.json' with { type: 'json' };
import {
  type DocumentedEventType,
  FORMULA_EVENT_TYPES,
  INSTANCE_EVENT_TYPES,
  OPERATIONAL_EVENT_TYPES,
  RECORD_ACTIONS,
  RECORD_EVENT_TYPES,
} from '../../src/events/event-types.ts';
import { EVENT_SCHEMAS, faultsOfEvent, NO_FAULTS, typesOf } from '../support/event-schemas.ts';

const TYPES: readonly (readonly [string, DocumentedEventType])[] = [
  ...Object.entries(RECORD_EVENT_TYPES),
  ...Object.entries(INSTANCE_EVENT_TYPES),
  ...Object.entries(FORMULA_EVENT_TYPES),
  ...Object.entries(OPERATIONAL_EVENT_TYPES),
];

describe('the catalogue of event types', () => {
  for (const [type, { schema, example }] of TYPES) {
    it(`has an example of ${type} that fits its schema, with no other members`, () => {
      expect(faultsOfEvent(example, schema)).to.equal(NO_FAULTS);
      expect(Object(example).type).to.match(new RegExp(`(^|\\.)${type.replace('.', '\\.')}$`));
    });
  }

  it('sees an example that is wrong', () => {
    const { example } = OPERATIONAL_EVENT_TYPES['delivery.exhausted'];
    expect(faultsOfEvent({ ...example, data: { ...example.data, attempts: undefined } })).not.to.equal(NO_FAULTS);
    expect(faultsOfEvent({ ...example, data: { ...example.data, other: 1 } })).not.to.equal(NO_FAULTS);
  });

  it('has every action of a record', () => {
    expect(Object.keys(RECORD_EVENT_TYPES)).to.have.members(RECORD_ACTIONS);
  });

  it('has the types that the API description names', () => {
    const own = [INSTANCE_EVENT_TYPES, FORMULA_EVENT_TYPES, OPERATIONAL_EVENT_TYPES].flatMap(Object.keys);
    expect(EVENT_SCHEMAS.flatMap(typesOf)).to.have.members(own);
    const { type } = document.components.schemas.Notification.properties;
    const named = [...type.description.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(named).to.have.members(Object.keys(OPERATIONAL_EVENT_TYPES));
  });
});
