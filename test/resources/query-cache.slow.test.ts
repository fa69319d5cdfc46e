import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { defineObject, type ObjectSpec } from '../../src/connector/index.ts';
import { createQueryCache } from '../../src/resources/query.ts';

const objectOf = (fieldCount = 1): ObjectSpec =>
  defineObject({
    label: 'Thing',
    fields: Object.fromEntries(Array.from({ length: fieldCount }, (_, index) => [`f${index}`, { type: 'string' }])),
  });

const where = (index: number) => ({ where: `f0 = '${index}'` });

describe('the queries that are kept', () => {
  it('are the same for the same texts and object', () => {
    const prepare = createQueryCache();
    const [one, other] = [objectOf(), objectOf()];
    expect(prepare(one, where(1))).to.equal(prepare(one, where(1)));
    expect(prepare(one, where(1))).not.to.equal(prepare(one, where(2)));
    expect(prepare(one, where(1))).not.to.equal(prepare(other, where(1)));
    expect(prepare(one, where(1))).not.to.equal(prepare(one, { ...where(1), fields: 'f0' }));
  });

  it('have at most 2,048 characters', () => {
    const prepare = createQueryCache();
    const object = objectOf();
    const isKept = (length: number) => {
      const query = { where: `f0 = '${'x'.repeat(length)}'` };
      const first = prepare(object, query);
      return prepare(object, query) === first;
    };
    expect(isKept(2000)).to.equal(true);
    expect(isKept(2048)).to.equal(false);
  });

  it('take a number of bytes together, whosever objects they are of; the longest unused go first', () => {
    const prepare = createQueryCache(100_000);
    const objects = Array.from({ length: 100 }, () => objectOf());
    const first = objects.map((object) => prepare(object, where(1)));
    const kept = () => objects.filter((object, index) => prepare(object, where(1)) === first[index]).length;
    expect(prepare(objects[99] ?? objectOf(), where(1))).to.equal(first[99]);
    expect(kept()).to.be.lessThan(20);

    const busy = createQueryCache(100_000);
    const [favourite, object] = [objectOf(), objectOf()];
    const wanted = busy(favourite, where(0));
    for (let index = 1; index < 200; index++) {
      busy(object, where(index));
      expect(busy(favourite, where(0)), `after ${index}`).to.equal(wanted);
    }
  });

  it('weigh their fields, and are not kept when one alone is too heavy', () => {
    const prepare = createQueryCache(100_000);
    const [light, heavy] = [objectOf(50), objectOf(500)];
    expect(prepare(light, {})).to.equal(prepare(light, {}));
    expect(prepare(heavy, {})).not.to.equal(prepare(heavy, {}));
    expect(prepare(heavy, { fields: 'f0' })).to.equal(prepare(heavy, { fields: 'f0' }));
    expect(prepare(light, {})).to.equal(prepare(light, {}));
  });

  it('are gone with their object', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const prepare = createQueryCache();
    const gone = Array.from({ length: 10 }, (_, index) => new WeakRef(prepare(objectOf(), where(index))));
    const object = objectOf();
    const stays = prepare(object, where(1));
    for (let turn = 0; turn < 3; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
    expect(gone.filter((reference) => reference.deref() !== undefined)).to.have.length(0);
    expect(prepare(object, where(1))).to.equal(stays);
  });
});
