import { codec, defined, type FieldSpec, type Fields, type FieldsOfOptions, fieldsOf, json } from '#connector';
import official from './official.json' with { type: 'json' };
import { type Searched, searching } from './search.ts';

export interface Described extends Pick<FieldsOfOptions, 'create' | 'update' | 'rename'> {
  readonly label: string;
  readonly description: string;
  readonly aliases?: readonly string[];
  /** The type in the schema, which is also the name in global ids. */
  readonly type: string;
  /** The type of owner in definitions of metafields. */
  readonly owner: string;
  /** Members of the type that are fields. */
  readonly pick: string;
  /** Fields that lie in an object of the type, by their paths. */
  readonly inner?: Fields;
  readonly but?: Readonly<Record<string, Partial<FieldSpec>>>;
  readonly searched: Searched;
  /** Sort keys by field. */
  readonly sorted: Readonly<Record<string, string>>;
  /** The arguments of mutations that hold the values. Absent for an object that is only read. */
  readonly written?: { readonly create: string; readonly update: string };
}

const REFERENCE: FieldSpec = { type: 'integer', read: codec.integer.read };
const amount = (native: string): FieldSpec => ({ type: 'number', native, ...codec.decimal });
const sum = (native: string): FieldSpec => amount(`${native}.shopMoney.amount`);
export const WRITTEN = { createable: true, updateable: true } as const;
const KEPT = { clearable: false } as const;
const LINES: FieldSpec = {
  type: 'array',
  createable: true,
  required: true,
  onDemand: true,
  read: (value) => json.at(value, 'nodes') ?? value,
};
const TIMES: Searched = { id: 'id integer', createdAt: 'created_at time', updatedAt: 'updated_at time' };
const ORDER_OF_TIMES = { id: 'ID', createdAt: 'CREATED_AT', updatedAt: 'UPDATED_AT' } as const;
const TOTALS: Fields = {
  totalPrice: sum('totalPriceSet'),
  subtotalPrice: sum('subtotalPriceSet'),
  totalTax: sum('totalTaxSet'),
  totalDiscounts: sum('totalDiscountsSet'),
  totalShippingPrice: sum('totalShippingPriceSet'),
  customerId: { ...REFERENCE, native: 'customer.legacyResourceId' },
  customerName: { type: 'string', native: 'customer.displayName' },
  lineItems: LINES,
};

export const DESCRIBED: Readonly<Record<string, Described>> = {
  orders: {
    label: 'Orders',
    description: 'Orders of customers. Older ones than 60 days need the scope `read_all_orders`.',
    type: 'Order',
    owner: 'ORDER',
    pick: 'id name number email phone note tags poNumber test confirmed closed closedAt cancelledAt cancelReason createdAt updatedAt processedAt currencyCode displayFinancialStatus displayFulfillmentStatus returnStatus fullyPaid taxesIncluded subtotalLineItemsQuantity sourceName sourceIdentifier discountCodes customAttributes billingAddress shippingAddress',
    inner: {
      ...TOTALS,
      currentTotalPrice: { ...sum('currentTotalPriceSet'), nullable: false },
      totalRefunded: { ...sum('totalRefundedSet'), nullable: false },
      totalOutstanding: { ...sum('totalOutstandingSet'), nullable: false },
    },
    create: 'OrderCreateOrderInput',
    update: 'OrderInput',
    searched: {
      ...TIMES,
      ...{ processedAt: 'processed_at time', name: 'name text', email: 'email text', poNumber: 'po_number text' },
      ...{ displayFinancialStatus: 'financial_status choice', test: 'test flag', customerId: 'customer_id id' },
      ...{ currentTotalPrice: 'current_total_price money', sourceName: 'source_name text' },
    },
    sorted: { ...ORDER_OF_TIMES, processedAt: 'PROCESSED_AT', number: 'ORDER_NUMBER' },
    written: { create: 'order', update: 'input' },
  },
  products: {
    label: 'Products',
    description: 'Products, whose prices and stock are those of their variants.',
    type: 'Product',
    owner: 'PRODUCT',
    pick: 'id title handle descriptionHtml productType vendor status tags templateSuffix totalInventory tracksInventory isGiftCard onlineStoreUrl publishedAt createdAt updatedAt',
    inner: {
      minPrice: { ...amount('priceRangeV2.minVariantPrice.amount'), nullable: false },
      maxPrice: { ...amount('priceRangeV2.maxVariantPrice.amount'), nullable: false },
    },
    but: { title: { required: true } },
    create: 'ProductCreateInput',
    update: 'ProductUpdateInput',
    searched: {
      ...TIMES,
      ...{ publishedAt: 'published_at time', title: 'title text', vendor: 'vendor text', handle: 'handle text' },
      ...{ productType: 'product_type text', status: 'status choice', totalInventory: 'inventory_total integer' },
    },
    sorted: { ...ORDER_OF_TIMES, totalInventory: 'INVENTORY_TOTAL' },
    written: { create: 'product', update: 'product' },
  },
  customers: {
    label: 'Customers',
    description: 'Customers of the shop.',
    aliases: ['contacts'],
    type: 'Customer',
    owner: 'CUSTOMER',
    pick: 'id firstName lastName displayName note locale tags state numberOfOrders taxExempt verifiedEmail createdAt updatedAt defaultAddress',
    inner: {
      email: { type: 'string', format: 'email', native: 'defaultEmailAddress.emailAddress', ...WRITTEN },
      phone: { type: 'string', native: 'defaultPhoneNumber.phoneNumber', ...WRITTEN },
      amountSpent: { ...amount('amountSpent.amount'), nullable: false },
    },
    but: { numberOfOrders: { ...REFERENCE } },
    create: 'CustomerInput',
    update: 'CustomerInput',
    searched: {
      ...{ id: 'id integer', createdAt: 'customer_date day', updatedAt: 'updated_at day', email: 'email known' },
      ...{ phone: 'phone present', firstName: 'first_name text', lastName: 'last_name text' },
      ...{ numberOfOrders: 'orders_count integer', amountSpent: 'total_spent money' },
    },
    sorted: ORDER_OF_TIMES,
    written: { create: 'input', update: 'input' },
  },
  draftOrders: {
    label: 'Draft orders',
    description: 'Orders that the shop prepares, such as offers.',
    aliases: ['draft-orders', 'draft_orders'],
    type: 'DraftOrder',
    owner: 'DRAFTORDER',
    pick: 'id name email phone note2 tags poNumber status currencyCode taxExempt taxesIncluded invoiceUrl invoiceSentAt completedAt createdAt updatedAt customAttributes billingAddress shippingAddress',
    rename: { note2: 'note' },
    inner: { ...TOTALS, orderId: { ...REFERENCE, native: 'order.legacyResourceId' } },
    but: { note: WRITTEN },
    create: 'DraftOrderInput',
    update: 'DraftOrderInput',
    searched: { ...TIMES, status: 'status choice', customerId: 'customer_id id' },
    sorted: { id: 'ID', updatedAt: 'UPDATED_AT' },
    written: { create: 'input', update: 'input' },
  },
  productVariants: {
    label: 'Product variants',
    description: 'Variants of products, with their prices and their stock.',
    aliases: ['items', 'variants', 'product-variants'],
    type: 'ProductVariant',
    owner: 'PRODUCTVARIANT',
    pick: 'id title displayName sku barcode price compareAtPrice position inventoryQuantity inventoryPolicy taxable availableForSale createdAt updatedAt',
    inner: {
      productId: { ...REFERENCE, native: 'product.legacyResourceId', nullable: false },
      productTitle: { type: 'string', native: 'product.title', nullable: false },
    },
    but: {
      price: { type: 'number', ...codec.decimal },
      compareAtPrice: { type: 'number', ...codec.decimal },
    },
    searched: {
      ...{ id: 'id integer', updatedAt: 'updated_at time', productId: 'product_id id', sku: 'sku text' },
      ...{ barcode: 'barcode text', title: 'title text', taxable: 'taxable flag' },
    },
    sorted: { id: 'ID' },
  },
};

/** The fields of items, which orders and draft orders have alike. */
export const LINE_FIELDS: Fields = {
  ...fieldsOf(official, 'LineItem', {
    pick: 'id title variantTitle sku vendor quantity taxable requiresShipping isGiftCard',
  }),
  unitPrice: { ...sum('originalUnitPriceSet'), nullable: false },
  total: { ...sum('discountedTotalSet'), nullable: false },
  variantId: { ...REFERENCE, native: 'variant.legacyResourceId' },
  productId: { ...REFERENCE, native: 'product.legacyResourceId' },
};

const ID: FieldSpec = {
  ...REFERENCE,
  native: 'legacyResourceId',
  nullable: false,
  range: ['1', '999999999999999'],
};

/** Names of fields that Shopify empties by null. Lists and names keep their values. */
const UNCLEARED = /^(?:tags|title|handle|vendor|productType|descriptionHtml|status|locale|taxExempt|customAttributes)$/;

export function fieldsIn({ type, pick, inner, but = {}, searched, sorted, ...names }: Described): Fields {
  const { id: gid = ID, ...members } = fieldsOf(official, type, { pick, but, ...defined(names) });
  const readOnly = { createable: false, updateable: false, required: false };
  const all: Fields = { id: ID, ...members, ...inner, gid: { ...gid, native: 'id', ...readOnly } };
  return Object.fromEntries(
    Object.entries(all).map(([name, spec]) => [
      name,
      {
        ...spec,
        ...(UNCLEARED.test(name) && KEPT),
        ...searching(searched, name),
        ...(Object.hasOwn(sorted, name) && { sortable: true }),
      },
    ]),
  );
}
