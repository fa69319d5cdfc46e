import { invalid } from './faults.ts';

/** A kind of CRM object: its id, its default and its searchable properties, and the form of all. */
export interface Kind {
  readonly typeId: string;
  /** Names that paths accept beside the usual one. */
  readonly aliases: readonly string[];
  /** Properties that a response has unless a request names some. */
  readonly shown: readonly string[];
  /** The members with the times of creation and of the last change. */
  readonly created: string;
  readonly changed: string;
  readonly properties: Readonly<Record<string, Property>>;
}

/** A property as HubSpot defines it. All values are texts. */
export interface Property {
  readonly type: string;
  readonly fieldType: string;
  readonly options: readonly string[];
  readonly isReadOnly: boolean;
  readonly isUnique: boolean;
  readonly isCustom: boolean;
}

/** Types and field types by the word in the table below. */
const FORMS: Readonly<Record<string, readonly [type: string, fieldType: string]>> = {
  text: ['string', 'text'],
  area: ['string', 'textarea'],
  html: ['string', 'html'],
  phone: ['string', 'phonenumber'],
  number: ['number', 'number'],
  flag: ['bool', 'booleancheckbox'],
  date: ['date', 'date'],
  time: ['datetime', 'date'],
  one: ['enumeration', 'select'],
  many: ['enumeration', 'checkbox'],
};

const CUSTOM =
  'favorite_color+:text score+:number is_vip+:flag anniversary+:date visited_at+:time interests+:many(golf,chess,tennis) tier+:one(gold,Silver,BRONZE,tin)';
const ACTIVITY = 'hs_timestamp:time hubspot_owner_id:one';

/**
 * Types, with the default properties before the bar. A property is `name:form`, with its options in parentheses; `*` cannot be set, `!` is
 * unique, `+` is custom.
 */
const KINDS: Readonly<Record<string, readonly [typeId: string, properties: string]>> = {
  contacts: [
    '0-1',
    `email!:text firstname:text lastname:text createdate*:time lastmodifieddate*:time | company:text jobtitle:text phone:phone mobilephone:phone website:text address:text city:text state:text zip:text country:text associatedcompanyid:number lifecyclestage:one(subscriber,lead,customer) hs_lead_status:one(NEW,OPEN,IN_PROGRESS) annualrevenue:text hubspot_owner_id:one num_notes*:number ${CUSTOM}`,
  ],
  companies: [
    '0-2',
    'name:text domain:text createdate*:time hs_lastmodifieddate*:time | description:area phone:phone website:text address:text city:text state:text zip:text country:text type:one(PROSPECT,PARTNER) hs_parent_company_id:number industry:one(COMPUTER_SOFTWARE,RETAIL) numberofemployees:number annualrevenue:number is_public:flag hubspot_owner_id:one priority+:one(low,high)',
  ],
  deals: [
    '0-3',
    'dealname:text amount:number closedate:time pipeline:one(default) dealstage:one(appointmentscheduled,qualifiedtobuy,closedwon,closedlost) createdate*:time hs_lastmodifieddate*:time | description:area dealtype:one(newbusiness,existingbusiness) hubspot_owner_id:one hs_is_closed*:flag hs_is_closed_won*:flag hs_deal_stage_probability*:number hs_next_step:text contract_number+:text',
  ],
  tickets: [
    '0-5',
    'subject:text content:area hs_pipeline:one(0) hs_pipeline_stage:one(1,2,3,4) hs_ticket_priority:one(LOW,MEDIUM,HIGH,URGENT) hs_ticket_category:many(PRODUCT_ISSUE,BILLING_ISSUE) createdate*:time hs_lastmodifieddate*:time | closed_date*:time hubspot_owner_id:one',
  ],
  products: [
    '0-7',
    'name:text description:area price:number createdate*:time hs_lastmodifieddate*:time | hs_sku:text hs_cost_of_goods_sold:number',
  ],
  line_items: [
    '0-8',
    'quantity:number amount*:number price:number createdate*:time hs_lastmodifieddate*:time | name:text hs_product_id:text hs_sku:text',
  ],
  notes: ['0-46', `hs_createdate*:time hs_lastmodifieddate*:time | hs_note_body:html ${ACTIVITY}`],
  tasks: [
    '0-27',
    `hs_createdate*:time hs_lastmodifieddate*:time | hs_task_subject:text hs_task_body:html hs_task_status:one(NOT_STARTED,IN_PROGRESS,COMPLETED) hs_task_priority:one(NONE,LOW,MEDIUM,HIGH) hs_task_type:one(TODO,CALL,EMAIL) hs_task_completion_date*:time ${ACTIVITY}`,
  ],
  meetings: [
    '0-47',
    `hs_createdate*:time hs_lastmodifieddate*:time | hs_meeting_title:text hs_meeting_body:html hs_meeting_outcome:one(SCHEDULED,COMPLETED) hs_meeting_start_time:time ${ACTIVITY}`,
  ],
  emails: [
    '0-49',
    `hs_createdate*:time hs_lastmodifieddate*:time | hs_email_subject:text hs_email_text:area hs_email_html:html hs_email_direction:one(EMAIL,INCOMING_EMAIL) hs_email_status:one(SENT,BOUNCED) ${ACTIVITY}`,
  ],
  calls: [
    '0-48',
    `hs_createdate*:time hs_lastmodifieddate*:time | hs_call_title:text hs_call_body:html hs_call_direction:one(INBOUND,OUTBOUND) hs_call_duration:number hs_call_status:one(COMPLETED,NO_ANSWER) ${ACTIVITY}`,
  ],
  pets: [
    '2-4711001',
    'hs_createdate*:time hs_lastmodifieddate*:time | name+:text species+:one(cat,Dog) born+:date weight+:number chipped+:flag tag_number+!:text',
  ],
};

const SINGULARS: Readonly<Record<string, string>> = { companies: 'company', pets: 'p8472_pets' };

/** All types by name. `pets` is a custom object. */
export const KINDS_BY_NAME: Readonly<Record<string, Kind>> = Object.fromEntries(
  Object.entries(KINDS).map(([name, [typeId, text]]) => {
    const [shown = '', hidden = ''] = text.split('|').map((part) => part.trim());
    const properties = readAll(`hs_object_id*!:number ${shown} ${hidden}`);
    const names = Object.keys(properties);
    const times = { created: /^(?:hs_)?createdate$/, changed: /^(?:hs_)?lastmodifieddate$/ };
    return [
      name,
      {
        typeId,
        aliases: [typeId, SINGULARS[name] ?? name.slice(0, -1)],
        shown: ['hs_object_id', ...Object.keys(readAll(shown))],
        created: names.find((each) => times.created.test(each)) ?? '',
        changed: names.find((each) => times.changed.test(each)) ?? '',
        properties,
      },
    ];
  }),
);

function readAll(text: string): Readonly<Record<string, Property>> {
  return Object.fromEntries(text.split(' ').map(readProperty));
}

function readProperty(text: string): [string, Property] {
  const [, name = '', flags = '', form = '', options] = /^(\w+)([*!+]*):(\w+)(?:\((.*)\))?$/.exec(text) ?? [];
  const [type, fieldType] = FORMS[form] ?? [form, form];
  return [
    name,
    {
      ...{ type, fieldType },
      ...{ isReadOnly: flags.includes('*'), isUnique: flags.includes('!'), isCustom: flags.includes('+') },
      options: type === 'bool' ? ['true', 'false'] : (options?.split(',') ?? []),
    },
  ];
}

const DEFINED = '2024-01-31T09:30:00.123Z';

/** Returns a property as `GET /crm/v3/properties` has it, by recorded responses. */
export function describeProperty([name, property]: [string, Property]) {
  const { type, fieldType, options, isReadOnly, isUnique, isCustom } = property;
  const isOwner = name === 'hubspot_owner_id';
  return {
    ...{ name, label: name.replaceAll('_', ' '), type, fieldType, description: '', groupName: 'information' },
    options: options.map((value, displayOrder) => ({ label: `The ${value}`, value, displayOrder, hidden: false })),
    ...{ displayOrder: -1, calculated: false, externalOptions: isOwner, hasUniqueValue: isUnique, hidden: false },
    ...(isOwner && { referencedObjectType: 'OWNER' }),
    ...(!isCustom && { hubspotDefined: true }),
    modificationMetadata: { archivable: isCustom, readOnlyDefinition: !isCustom, readOnlyValue: isReadOnly },
    ...{ formField: !isReadOnly, dataSensitivity: 'non_sensitive', createdAt: DEFINED, updatedAt: DEFINED },
  };
}

/**
 * Returns the name of a type by its name, its singular or its id.
 * @throws Fault 400 for an unknown one
 */
export function findKindName(text = ''): string {
  const [name] = Object.entries(KINDS_BY_NAME).find(([key, { aliases }]) => [key, ...aliases].includes(text)) ?? [];
  if (name === undefined) throw invalid(`Unable to infer object type from: ${text}`);
  return name;
}

/** Returns a custom object as `GET /crm-object-schemas/v3/schemas` has it. */
export function describeKind(name: string) {
  const { typeId = '', aliases: [, qualified] = [], properties = {} } = KINDS_BY_NAME[name] ?? {};
  return {
    ...{ id: typeId.replace('2-', ''), name, objectTypeId: typeId, fullyQualifiedName: qualified, archived: false },
    labels: { singular: 'Pet', plural: 'Pets' },
    ...{ primaryDisplayProperty: 'name', requiredProperties: ['name'], searchableProperties: ['name'] },
    ...{ secondaryDisplayProperties: [], associations: [], createdAt: DEFINED, updatedAt: DEFINED },
    properties: Object.entries(properties).map(describeProperty),
  };
}
