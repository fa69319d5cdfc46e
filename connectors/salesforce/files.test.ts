import { expect } from 'chai';
import type { FileDescription } from '#connector';
import { FILES } from './files.ts';

function describeRecord(objectName: string, body: object): FileDescription | undefined {
  const about = FILES[objectName]?.about;
  if (about === undefined || 'run' in about) throw new Error('Two halves were expected.');
  return about.read({ status: 200, headers: {}, body }, { id: '1' });
}

describe('files of Salesforce', () => {
  it('are called and typed as their records tell', () => {
    const cases: readonly (readonly [object: string, record: object, about: FileDescription])[] = [
      [
        'ContentVersion',
        { PathOnClient: 'a.b.PDF', Title: 'A', FileExtension: 'PDF' },
        { name: 'a.b.PDF', type: 'application/pdf' },
      ],
      ['ContentVersion', { Title: 'A', FileExtension: 'docx' }, { name: 'A.docx', type: DOCX }],
      ['ContentVersion', { PathOnClient: 'Makefile', Title: 'M', FileExtension: null }, { name: 'Makefile' }],
      ['ContentVersion', { PathOnClient: 'x.unknown' }, { name: 'x.unknown' }],
      ['Attachment', { Name: 'a.pdf', ContentType: 'image/png; x=y' }, { name: 'a.pdf', type: 'image/png' }],
      ['Attachment', { Name: 'a.pdf', ContentType: null }, { name: 'a.pdf', type: 'application/pdf' }],
      ['Attachment', { Name: 'a', ContentType: 'nonsense' }, { name: 'a' }],
      ['Document', { Name: 'Logo', Type: 'gif', ContentType: 'image/gif' }, { name: 'Logo.gif', type: 'image/gif' }],
      ['Document', { Name: 'Logo.gif', Type: 'GIF' }, { name: 'Logo.gif', type: 'image/gif' }],
    ];
    for (const [object, record, about] of cases) expect(describeRecord(object, record)).to.deep.equal(about);
  });
});

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
