/** Behaviours of real services that differ from the specification. Each comment names the service. */
export interface Quirks {
  /** SAP CAP on SQLite: it stores decimals as doubles, compares them as doubles, and prints fifteen digits. */
  readonly keepsDoubles?: true;
  /** SAP CAP Java on H2: in contains, startswith and endswith a backslash escapes the next character. */
  readonly escapesInPatterns?: true;
  /** Apache Olingo's server: it cannot compare the order of an Edm.Byte and an integer literal. */
  readonly tellsBytesFromIntegers?: true;
  /** Apache Olingo's technical service: contains, startswith and endswith of null return 400. */
  readonly failsOnNull?: true;
  /** Apache Olingo's technical service: `Prefer: odata.maxpagesize` together with `$top` returns 500. */
  readonly failsOnPageSizeBesideTop?: true;
  /** Apache Olingo's technical service: it ignores If-Match, so a change of a record that does not exist creates it. */
  readonly upserts?: 'under the key asked for' | 'under a key of its own';
  /** Apache Tomcat, which runs many services: an encoded slash or backslash in a path returns 400. */
  readonly refusesSlashes?: true;
  /** Services with separate permissions to create and to read: reading a created record returns 404. */
  readonly hidesCreated?: true;
  /** Many services: the service document and the metadata need no authentication, but records do. */
  readonly showsDocuments?: true;
  /** Small servers whose filter is wrong. */
  readonly filter?: 'ignored' | 'finds no text' | 'finds no enumeration';
}
