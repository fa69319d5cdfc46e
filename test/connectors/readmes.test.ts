import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readmeText } from '../../scripts/new-connector/texts.ts';

const CONNECTORS = join(import.meta.dirname, '../../connectors');
const FACTS = ['connects to', 'key, id', 'hub', 'authentication'];
const SECTIONS = [
  ...['Credentials', 'Objects', 'Filters', 'Bulk queries', 'Bulk uploads', 'Polling', 'Webhooks'],
  ...['Limits', 'Quirks', 'Sources', 'Not documented', 'Simulator'],
];

describe('the README of a connector', () => {
  const readmes = readdirSync(CONNECTORS).map(
    (key) => [key, readFileSync(join(CONNECTORS, key, 'README.md'), 'utf8')] as const,
  );

  for (const [key, text] of [
    ...readmes,
    ['a new one', readmeText({ key: 'acme', paging: 'offset', filter: 'infix', auth: 'key' })] as const,
  ]) {
    it(`has the shape of all: ${key}`, () => {
      const [head = ''] = text.split('\n## ', 1);
      expect([...head.matchAll(/^\| ([a-z, ]+) \|/gm)].map(([, fact]) => fact)).to.deep.equal(FACTS);
      const sections = [...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
      expect(sections).to.deep.equal(SECTIONS.filter((title) => sections.includes(title)));
      expect(sections).to.include.members(['Credentials', 'Simulator']);
    });
  }
});
