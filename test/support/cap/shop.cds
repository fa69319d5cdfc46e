/**
 * A service that has one of everything the OData connector must cope with: each kind of key, each type it filters,
 * nulls in every nullable column, a collection, navigation, an ETag and a page size of the server's own.
 */
@path: '/odata/v4/shop'
service Shop {

  @title: 'Product'
  entity Products {
    key ID          : Integer;
        @title: 'Title'
        title       : String(200) not null;
        description : String;
        category    : String(20) @assert.range enum { book; music; tool; };
        price       : Decimal(9, 2);
        weight      : Decimal;
        stock       : Integer;
        views       : Int64;
        rating      : Double;
        released    : Date;
        opensAt     : Time;
        soldAt      : DateTime;
        changedAt   : Timestamp;
        active      : Boolean;
        externalId  : UUID;
        tags        : array of String;
        reviews     : Composition of many Reviews on reviews.product = $self;
  }

  /** The server gives three rows at a time, whatever $top says. */
  @cds.query.limit: { default: 3, max: 3 }
  entity Reviews {
    key ID      : UUID;
        product : Association to Products;
        text    : String;
        stars   : Integer;
  }

  /** Two keys, one of them text. */
  entity OrderLines {
    key orderNumber : String(40);
    key line        : Integer;
        quantity    : Integer;
  }

  /** A text key, which may hold anything. */
  entity Documents {
    key code  : String(200);
        title : String(200);
  }

  /** Every change needs If-Match. */
  entity Contracts {
    key ID        : Integer;
        name      : String(100);
        @odata.etag
        changedAt : Timestamp @cds.on.insert: $now @cds.on.update: $now;
  }

  @cds.query.limit: { default: 7, max: 7 }
  entity Pages {
    key ID    : Integer;
        title : String(100);
        score : Integer;
  }

  @readonly
  entity Countries {
    key code : String(2);
        name : String(100);
  }
}
