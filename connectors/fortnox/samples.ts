import { HOSTILE_TEXTS } from '#connector/simulator';
import type { WriteSample } from '#connector/suite';

/** Texts with characters that Fortnox does not accept ("Formats and validation"), and the empty text, which has another effect. */
const alteredTexts = HOSTILE_TEXTS.filter(
  (text) => text === '' || !/^[\p{L}’\\0-9 –:.`´,;^¤#%§£$€¢¥©™°&/()=+\-*_!?²³®½@\n\r]*$/u.test(text),
);

/** Records that the suites of `fortnox` and `fortnoxoauth` create. */
export const WRITES: Readonly<Record<string, WriteSample>> = {
  customers: {
    create: (number) => ({ Name: `Kund ${number} & Åsa`, City: 'ÄLMHULT', Type: 'PRIVATE', InvoiceDiscount: 2.5 }),
    freeTexts: ['Name', 'Address1', 'Comments'],
    alteredTexts,
  },
  suppliers: {
    create: (number) => ({ Name: `Leverantör ${number}`, BG: '123-4567', Active: true }),
    freeTexts: ['Name', 'Address1', 'Comments'],
    alteredTexts,
  },
  articles: {
    create: (number) => ({ Description: `Artikel ${number}`, Type: 'STOCK', PurchasePrice: 10.25, Note: 'Röd' }),
    freeTexts: ['Description', 'Note'],
    alteredTexts,
  },
  orders: {
    create: (number) => ({ CustomerNumber: '1', OrderDate: '2024-02-29', Comments: `Order ${number}` }),
    freeTexts: ['Comments', 'YourReference'],
    alteredTexts,
  },
  invoices: {
    create: (number) => ({ CustomerNumber: '1', InvoiceDate: '2024-02-29', Comments: `Faktura ${number}` }),
    freeTexts: ['Comments', 'YourReference'],
    alteredTexts,
  },
};
