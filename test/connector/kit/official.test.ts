import { expect } from 'chai';
import { each, fieldsOf } from '../../../src/connector/index.ts';

const OFFICIAL = {
  schemas: {
    Contact: {
      allOf: [{ $ref: '#/schemas/Record' }],
      type: 'object',
      required: ['email', 'nick', 'work'],
      properties: {
        email: { type: 'string', format: 'email' },
        nick: { type: ['string', 'null'] },
        kind: { type: 'string', enum: ['person', 'company'] },
        born: { type: 'string', format: 'date' },
        score: { type: 'number' },
        visits: { type: 'integer' },
        active: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        home: { anyOf: [{ $ref: '#/schemas/Address' }, { type: 'null' }] },
        work: { $ref: '#/schemas/NullableAddress' },
        either: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      },
    },
    Record: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer', readOnly: true }, changed_at: { type: 'string', format: 'date-time' } },
    },
    Address: { type: 'object', properties: { city: { type: 'string' } } },
    NullableAddress: { type: ['object', 'null'], properties: { city: { type: 'string' } } },
    NewContact: {
      type: 'object',
      required: ['email'],
      properties: { email: {}, kind: {}, id: { readOnly: true } },
    },
    Change: { type: 'object', properties: { kind: {}, nick: {} } },
  },
};

describe('fields of an official description', () => {
  it('have the types, the formats and the choices of the schema', () => {
    const fields = fieldsOf(OFFICIAL, 'Contact');
    const plain = Object.fromEntries(
      Object.entries(fields).map(([name, { read: _read, write: _write, ...spec }]) => [name, spec]),
    );
    expect(plain).to.deep.equal({
      id: { type: 'integer', nullable: false },
      changed_at: { type: 'datetime' },
      email: { type: 'string', format: 'email', nullable: false },
      nick: { type: 'string' },
      kind: { type: 'string', values: ['person', 'company'] },
      born: { type: 'date' },
      score: { type: 'number' },
      visits: { type: 'integer' },
      active: { type: 'boolean' },
      tags: { type: 'array' },
      home: { type: 'object' },
      work: { type: 'object' },
      either: { type: 'object' },
    });
    expect(fields.changed_at?.read?.('2026-01-31T01:00:00+01:00')).to.equal('2026-01-31T00:00:00Z');
  });

  it('are picked and renamed, with what the schema does not say beside them', () => {
    const fields = fieldsOf(OFFICIAL, 'Contact', {
      pick: 'id kind nick',
      rename: { nick: 'nickName' },
      but: { id: { type: 'string' }, nickName: { filter: { '=': 'exact' } } },
    });
    expect(fields).to.deep.equal({
      id: { type: 'string', nullable: false },
      kind: { type: 'string', values: ['person', 'company'] },
      nickName: { type: 'string', native: 'nick', filter: { '=': 'exact' } },
    });
  });

  it('are written as the bodies of requests have them, except what is read only', () => {
    const fields = fieldsOf(OFFICIAL, 'Contact', {
      pick: 'id email kind nick',
      create: 'NewContact',
      update: 'Change',
    });
    expect(fields).to.deep.equal({
      id: { type: 'integer', nullable: false },
      email: { type: 'string', format: 'email', nullable: false, createable: true, required: true },
      kind: { type: 'string', values: ['person', 'company'], createable: true, updateable: true },
      nick: { type: 'string', updateable: true },
    });
  });

  for (const [options, message] of [
    [{ pick: 'id phone' }, "official.json lacks 'phone' in the schema 'Contact'."],
    [{ create: 'Person' }, "official.json lacks the schema 'Person'."],
    [{ but: { mail: {} } }, "official.json lacks 'mail', which the fields of 'Contact' mention."],
  ] as const) {
    it(`reports what a newer description no longer has: ${message}`, () => {
      expect(() => fieldsOf(OFFICIAL, 'Contact', options)).to.throw(message);
    });
  }
});

describe('fields that are all alike', () => {
  it('are named in one text', () => {
    const TEXT = { type: 'string' } as const;
    expect(each(TEXT, ' city\n  street ')).to.deep.equal({ city: TEXT, street: TEXT });
  });
});
