import { expect } from 'chai';
import type { ObjectSpec } from '../../src/connector/contract.ts';
import { AppError } from '../../src/errors.ts';
import { writeRecord } from '../../src/resources/record.ts';

const WRITTEN = { createable: true, updateable: true } as const;
const EMPLOYEES: ObjectSpec = {
  fields: {
    id: { type: 'string', nullable: false },
    hireDate: { type: 'date', ...WRITTEN, clearable: false },
    nickname: { type: 'string', ...WRITTEN },
  },
};

function refusal(action: () => unknown): unknown {
  try {
    return action();
  } catch (error) {
    return error instanceof AppError ? error.details : error;
  }
}

describe('a field that the provider cannot clear', () => {
  it('takes no null on update, which the error says', () => {
    expect(refusal(() => writeRecord({ hireDate: null, nickname: null }, EMPLOYEES, 'update'))).to.deep.equal([
      { path: '/body/hireDate', message: "'hireDate' cannot be set to null: the provider cannot clear it." },
    ]);
  });

  it('takes null where the record has no value, as when it is sent back as it was read', () => {
    const stored = { id: '7', hireDate: null, nickname: 'Bo' };
    expect(writeRecord(stored, EMPLOYEES, 'update', stored)).to.deep.equal({ nickname: 'Bo' });
    const other = { ...stored, hireDate: '2024-02-29' };
    expect(refusal(() => writeRecord(stored, EMPLOYEES, 'update', other))).to.have.length(1);
  });

  it('is left out of a new record where it is null, and takes values as others do', () => {
    expect(writeRecord({ hireDate: null }, EMPLOYEES, 'create')).to.deep.equal({});
    expect(writeRecord({ hireDate: '2024-02-29' }, EMPLOYEES, 'update')).to.deep.equal({ hireDate: '2024-02-29' });
  });
});
