import { expect } from 'chai';
import { XMLValidator } from 'fast-xml-parser';
import { type Marked, markOf } from '../../src/api/element-mark.ts';
import { ABSTRACT_SHAPES, MARK_COLOURS, MARK_SHAPES, type MarkShape, SHAPE_OF_HUB } from '../../src/connector/mark.ts';
import { loadConnectors, OWN_CONNECTORS } from '../../src/connector/registry.ts';
import { describeInBrowser, useChromium } from '../support/browser.ts';

const PREFIX = 'data:image/svg+xml,';
/** The backgrounds of the pages that are furthest apart: `--back` and `--raised` of console/design.css. */
const PAGES = ['#ffffff', '#1f2731'];

function svgOf(marked: Marked): string {
  const url = markOf(marked);
  expect(url).to.match(/^data:image\/svg\+xml,[\w\-.!~*'();/?:@&=+$,%]+$/);
  const svg = decodeURIComponent(url.slice(PREFIX.length));
  expect(XMLValidator.validate(svg), svg).to.equal(true);
  return svg;
}

function shapeIn(svg: string): MarkShape | undefined {
  return (Object.keys(MARK_SHAPES) as MarkShape[]).find((shape) => svg.includes(MARK_SHAPES[shape][0]));
}

function colourIn(svg: string): string | undefined {
  return Object.values(MARK_COLOURS).find((colour) => svg.includes(colour));
}

/** WCAG 2.2, "relative luminance". */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe('the mark of an element', () => {
  it('is what its connector declares', () => {
    const svg = svgOf({ key: 'any', hub: 'crm', mark: { shape: 'cart', colour: 'violet' } });
    expect([shapeIn(svg), colourIn(svg)]).to.deep.equal(['cart', MARK_COLOURS.violet]);
  });

  it('has the shape of its hub where the connector declares none, and any shape in another hub', () => {
    for (const [hub, shape] of Object.entries(SHAPE_OF_HUB))
      expect(shapeIn(svgOf({ key: 'any', hub }))).to.equal(shape);
    expect(ABSTRACT_SHAPES).to.include(shapeIn(svgOf({ key: 'any', hub: '<script>' })));
  });

  it('is the same each time, and by the key alone of every colour', () => {
    expect(markOf({ key: 'twilio', hub: 'messaging' })).to.equal(markOf({ key: 'twilio', hub: 'messaging' }));
    const keys = Array.from({ length: 400 }, (_, index) => `key${index}`);
    const colours = new Set(keys.map((key) => colourIn(svgOf({ key, hub: 'crm' }))));
    expect(colours).to.deep.equal(new Set(Object.values(MARK_COLOURS)));
    expect(new Set(keys.map((key) => markOf({ key, hub: 'crm' }))).size).to.be.above(80);
  });

  it('differs between all connectors, in its shape or in its colour', async () => {
    const connectors = await loadConnectors({ folders: [OWN_CONNECTORS] });
    const marks = connectors.map(svgOf).map((svg) => `${shapeIn(svg)} ${colourIn(svg)}`);
    expect(new Set(marks).size, marks.join(', ')).to.equal(connectors.length);
    for (const { key, mark } of connectors) expect(mark, key).to.not.equal(undefined);
  });

  it('is seen on white and on the dark page, and its shape on its colour', () => {
    for (const colour of Object.values(MARK_COLOURS))
      for (const page of PAGES) expect(contrastOf(colour, page), `${colour} on ${page}`).to.be.at.least(3);
  });
});

describeInBrowser('the mark of an element in a browser', () => {
  const browser = useChromium();

  it('is drawn, for every shape', async () => {
    const shapes = Object.keys(MARK_SHAPES) as MarkShape[];
    const marks = shapes.map((shape) => markOf({ key: shape, hub: 'crm', mark: { shape, colour: 'blue' } }));
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
