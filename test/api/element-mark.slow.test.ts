import { expect } from 'chai';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { COLOURS, markOf } from '../../src/api/element-mark.ts';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { describeInBrowser, useChromium } from '../support/browser.ts';

const PREFIX = 'data:image/svg+xml,';

const HOSTILE_NAMES = [
  ...['<script>alert(1)</script>', `"'&<>`, '\u0000\u0007', '\ud800', 'é́́́́́́́́x', '👩‍👩‍👧', ' ', '#%2541'],
  '\u202eabc',
];

function svgOf(key: string, name: string): string {
  const url = markOf({ key, name });
  expect(url).to.match(/^data:image\/svg\+xml,[\w\-.!~*'();/?:@&=+$,%]+$/);
  return decodeURIComponent(url.slice(PREFIX.length));
}

function readMark(key: string, name: string) {
  const svg = svgOf(key, name);
  expect(XMLValidator.validate(svg), svg).to.equal(true);
  const { svg: root } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', parseTagValue: false }).parse(
    svg,
  );
  expect(Object.keys(root)).to.have.members(['xmlns', 'width', 'height', 'viewBox', 'rect', 'text']);
  return { text: String(root.text['#text']), colour: String(root.rect.fill) };
}

/** WCAG 2.2, "relative luminance". */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the mark of an element', () => {
  it('has the initials of its name', () => {
    const initials = {
      BambooHR: 'BH',
      OData: 'OD',
      Salesforce: 'Sa',
      'QuickBooks Online': 'QB',
      'SAP S/4HANA': 'SS',
      IBM: 'IB',
      X: 'X',
      '7 Geese': '7G',
      'Évry öl': 'Éö',
      日本語: '日本',
    };
    for (const [name, text] of Object.entries(initials)) expect(readMark('any', name).text, name).to.equal(text);
  });

  it('is the same each time, and another for another key', () => {
    expect(markOf({ key: 'twilio', name: 'Twilio' })).to.equal(markOf({ key: 'twilio', name: 'Twilio' }));
    const keys = Array.from({ length: 200 }, (_, index) => `key${index}`);
    expect(new Set(keys.map((key) => readMark(key, 'X').colour))).to.deep.equal(new Set(COLOURS));
  });

  it('can be read: its letters are white on colours that are dark enough', () => {
    for (const colour of COLOURS) expect(1.05 / (luminanceOf(colour) + 0.05), colour).to.be.at.least(4.5);
  });

  it('is an image and nothing else, whatever the name', () => {
    for (const name of HOSTILE_NAMES) expect([...readMark('any', name).text].length, name).to.be.within(1, 10);
  });
});

describeInBrowser('the mark of an element in a browser', () => {
  const browser = useChromium();

  it('is drawn, for every connector', async () => {
    const connectors = await loadConnectors({ folders: [OWN_CONNECTORS] });
    const hostile = HOSTILE_NAMES.map((name) => ({ key: 'any', name }));
    const marks = [...connectors, ...hostile].map(markOf);
    const page = await browser.newPage();
    const widths = await page.evaluate(`Promise.all(${JSON.stringify(marks)}.map(async (src) => {
      const image = new Image();
      image.src = src;
      document.body.append(image);
      await image.decode();
      return image.naturalWidth;
    }))`);
    expect(widths).to.deep.equal(marks.map(() => 64));
    expect(browser.complaints).to.deep.equal([]);
  });
});
