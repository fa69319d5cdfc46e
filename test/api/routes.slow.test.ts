import { expect } from 'chai';
import { createRoutes } from '../../src/api/routes.ts';

describe('createRoutes', () => {
  const platform = createRoutes('platform');
  const record = createRoutes('record');

  it('finds concrete paths before those with parameters', () => {
    expect(platform('/elements/oauthProxies')?.operations).to.include({ GET: 'listOAuthProxies' });
    const element = platform('/elements/bamboohr');
    expect(element?.operations).to.deep.equal({ GET: 'getElement' });
    expect(element?.readParams()).to.deep.equal({ keyOrId: 'bamboohr' });
  });

  it('finds in each scope its own operations', () => {
    expect(platform('/elements')?.operations).to.deep.equal({ GET: 'listElements' });
    expect(record('/elements')?.operations).to.deep.equal({ GET: 'listRecords', POST: 'createRecord' });
  });

  it('decodes parameters, of which one may hold any character', () => {
    expect(record('/employees/a%2Fb%20c')?.readParams()).to.deep.equal({ objectName: 'employees', objectId: 'a/b c' });
    expect(record('/__proto__')?.readParams()).to.deep.equal({ objectName: '__proto__' });
  });

  it('takes a slash at the end, and no empty part', () => {
    expect(record('/employees/')?.readParams()).to.deep.equal({ objectName: 'employees' });
    for (const path of ['/', '//', '//employees', '/employees//', '/employees//files']) {
      expect(record(path), path).to.equal(undefined);
    }
  });

  it('tells upper from lower case', () => {
    expect(platform('/Instances')).to.equal(undefined);
  });
});
