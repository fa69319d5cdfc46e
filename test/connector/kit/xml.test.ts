import { expect } from 'chai';
import { xml } from '../../../src/connector/index.ts';

describe('the XML of the kit', () => {
  it('reads elements, attributes and texts without the prefixes of namespaces', () => {
    const root = xml.parse(
      '<?xml version="1.0" encoding="UTF-8"?><!-- a --><s:a xmlns:s="urn:s" s:t="sf:Account &amp; co" n="1">' +
        '<s:b> x &amp;lt; &#65;&#x1F600; &other; </s:b><c xsi:nil="true"/><d><![CDATA[<&amp;>]]></d><b>y<i>z</i></b></s:a>',
    );
    expect([root.name, root.attributes.get('t'), root.attributes.get('n')]).to.deep.equal([
      'a',
      'sf:Account & co',
      '1',
    ]);
    expect(xml.children(root, 'b').map(({ text }) => text)).to.deep.equal([' x &lt; A😀 &other; ', 'y']);
    expect(xml.text(root, 'c')).to.equal(undefined);
    expect(xml.text(root, 'd')).to.equal('<&amp;>');
    expect(xml.child(xml.child(root, 'none'), 'b')).to.equal(undefined);
  });

  it('expands nothing that somebody declares', () => {
    const bomb = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;">]><a>&c;</a>';
    expect(() => xml.parse(bomb)).to.throw(SyntaxError, 'The XML declares a document type.');
    expect(xml.parse('<a>&c;</a>').text).to.equal('&c;');
  });

  it('refuses what is no XML', () => {
    for (const text of ['', 'a', '{}', '<a>', '<a></b>', '<a b></a>', '<', '<a><![CDATA[</a>', '<a/', '\0']) {
      expect(() => xml.parse(text), text).to.throw(SyntaxError);
    }
  });

  it('bounds tags, attributes and levels before it parses', () => {
    const most = 1_000_000;
    const refused: Readonly<Record<string, string>> = {
      'more than 50000 tags': `<a>${'<b/>'.repeat(50_000)}</a>`,
      'more than 20000 attributes': `<a>${'<b c="" d=\'\'/>'.repeat(10_001)}</a>`,
      'a tag of more than 20,000 characters': `<a ${'b '.repeat(most / 2)}/>`,
      'Maximum nested tags exceeded': '<a>'.repeat(60) + '</a>'.repeat(60),
    };
    for (const [message, text] of Object.entries(refused)) {
      expect(() => xml.parse(text), message).to.throw(SyntaxError, message);
    }
    expect(xml.parse(`<a>${'<b/>'.repeat(40_000)}</a>`).children).to.have.length(40_000);
  });
});
