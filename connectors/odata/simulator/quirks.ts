/** Where real services go their own way. Each is that of a service named beside it. */
export interface Quirks {
  /** SAP CAP on SQLite: decimals are kept as doubles, compared as such, and printed in fifteen digits. */
  readonly keepsDoubles?: true;
  /** SAP CAP Java on H2: in contains, startswith and endswith a backslash makes the next character plain. */
  readonly escapesInPatterns?: true;
  /** Apache Olingo's server: an Edm.Byte is not ordered beside an integer literal. */
  readonly tellsBytesFromIntegers?: true;
  /** Apache Olingo's technical service: contains, startswith and endswith of null are a 400. */
  readonly failsOnNull?: true;
  /** Apache Olingo's technical service: `Prefer: odata.maxpagesize` beside `$top` is a 500. */
  readonly failsOnPageSizeBesideTop?: true;
  /** Apache Olingo's technical service: If-Match is ignored, so that a change of what does not exist creates it. */
  readonly upserts?: 'under the key asked for' | 'under a key of its own';
  /** Apache Tomcat, which many services run in: an encoded slash or backslash in a path is a 400. */
  readonly refusesSlashes?: true;
  /** Who may create may not read: what was just created is a 404. */
  readonly hidesCreated?: true;
  /** Many services: the service document and the metadata need no authentication, records do. */
  readonly showsDocuments?: true;
  /** Small servers whose filter is wrong. */
  readonly filter?: 'ignored' | 'finds no text' | 'finds no enumeration';
}
