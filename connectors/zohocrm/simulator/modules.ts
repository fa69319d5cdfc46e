import { createConform, type Member, type Members, type TableRow } from '#connector/simulator';
import official from '../official.json' with { type: 'json' };

/** A field of a module. */
export interface Field {
  readonly name: string;
  /** The kind: `data_type` of the description. */
  readonly kind: string;
  readonly values: readonly string[];
  /** The module of the records to which a lookup leads. */
  readonly refersTo: string | undefined;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
}

export interface Module {
  readonly name: string;
  readonly fields: readonly Field[];
}

/** Fields of every module. An exclamation mark stands for a required field, and a minus sign for one that people cannot set. */
const COMMON =
  'Owner:ownerlookup=users Created_By:ownerlookup-=users Modified_By:ownerlookup-=users Created_Time:datetime- Modified_Time:datetime- Tag:text-[]';

const ADDRESS = (prefix: string) =>
  ['Street', 'City', 'State', 'Country'].map((part) => `${prefix}_${part}:text`).join(' ');

/** The modules, with a part of the fields that a new account has, fields with names that queries must quote, and a custom module. */
export const MODULES: readonly Module[] = Object.entries({
  Leads: `Last_Name:text! First_Name:text Company:text! Email:email Phone:phone Website:website Lead_Status:picklist=Contacted|Lost_Lead|Not_Contacted No_of_Employees:integer Annual_Revenue:currency Email_Opt_Out:boolean Description:textarea External:text Score:formula- Full_Name:text- Designation:text Mobile:phone Industry:picklist=Energy|Retail Lead_Source:picklist=Web|Fair Rating:picklist=Active|Acquired Street:text City:text State:text Zip_Code:text Country:text`,
  Contacts: `Last_Name:text! First_Name:text Full_Name:text- Email:email Phone:phone Mobile:phone Title:text Account_Name:lookup=Accounts Date_of_Birth:date Email_Opt_Out:boolean Lead_Source:picklist=Web|Fair Mailing_Zip:text Interests:multiselectpicklist=golf|chess Description:textarea ${ADDRESS('Mailing')}`,
  Accounts: `Account_Name:text! Account_Number:bigint Account_Type:picklist=Analyst|Customer Fax:text Billing_Code:text Phone:phone Website:website Industry:picklist=Energy|Retail|It's_other Employees:integer Annual_Revenue:currency Parent_Account:lookup=Accounts Description:textarea ${ADDRESS('Billing')}`,
  Deals: `Deal_Name:text! Amount:currency Stage:picklist!=Qualification|Closed_Won|Closed_Lost Probability:integer Closing_Date:date Account_Name:lookup=Accounts Contact_Name:lookup=Contacts Lead_Source:picklist=Web|Fair Type:picklist=New_Business|Existing_Business Next_Step:text Description:textarea`,
  Cases: `Subject:text! Status:picklist!=New|On_Hold|Closed Priority:picklist=High|Medium|Low Case_Number:autonumber- Type:picklist=Question|Problem Case_Origin:picklist!=Email|Phone|Web Account_Name:lookup=Accounts Related_To:lookup=Contacts Description:textarea`,
  Tasks: `Subject:text! Status:picklist=Not_Started|In_Progress|Completed Priority:picklist=High|Normal|Low Due_Date:date Closed_Time:datetime- Remind_At:ALARM Who_Id:lookup=Contacts Description:textarea`,
  Products: `Product_Name:text! Product_Code:text Unit_Price:currency Qty_in_Stock:double Product_Active:boolean Usage_Unit:picklist=Box|Each Sales_Start_Date:date Description:textarea`,
  // More fields than a query can select.
  Pets: `Name:text! Born:date Weight:double Vaccinated_At:datetime ${Array.from({ length: 48 }, (_, index) => `Note_${index}:text`).join(' ')}`,
}).map(([name, fields]) => ({ name, fields: `${fields} ${COMMON}`.split(' ').map(readField) }));

const CUSTOM: ReadonlySet<string> = new Set(['Pets']);

function readField(text: string): Field {
  const [, name = '', kind = '', flags = '', more = ''] = /^(\w+):(\w+)([!-]?)(?:\[\])?=?(.*)$/.exec(text) ?? [];
  const isLookup = kind.endsWith('lookup');
  return {
    ...{ name, kind: text.endsWith('[]') ? 'jsonarray' : kind, isRequired: flags === '!', isReadOnly: flags === '-' },
    values: more === '' || isLookup ? [] : more.replaceAll('_', ' ').split('|'),
    refersTo: isLookup ? more : undefined,
  };
}

const TYPES: Readonly<Record<string, Member['type']>> = {
  ...{ integer: 'integer', bigint: 'string', double: 'number', currency: 'number', boolean: 'boolean', date: 'date' },
  ...{ datetime: 'datetime', lookup: 'reference', ownerlookup: 'reference', jsonarray: 'array', ALARM: 'object' },
  ...{ multiselectpicklist: 'array' },
};

const RANGES: Readonly<Record<string, readonly [string, string]>> = { integer: ['-999999999', '999999999'] };

/** Returns the members of a module's records. An empty text is no value. */
export function membersOf({ fields }: Module): Members {
  const entries = fields.map(({ name, kind, values, refersTo, isRequired, isReadOnly }): [string, Member] => {
    const isPossible = (text: string) => text !== '' && (kind !== 'bigint' || /^\d{1,19}$/.test(text));
    const limits = { range: RANGES[kind], longest: kind === 'textarea' ? 32_000 : 255, isPossible, refersTo };
    const isNeverNull = isRequired || kind === 'boolean' || /^(?:Created|Modified|Owner|Tag)/.test(name);
    const chosen = kind === 'picklist' ? { values } : {};
    return [name, { type: TYPES[kind] ?? 'string', ...limits, isRequired, isReadOnly, isNeverNull, ...chosen }];
  });
  return { ...Object.fromEntries(entries), id: { type: 'string', isReadOnly: true, isNeverNull: true } };
}

/** Brings a record into the form of a schema. */
export const conform = createConform(official, {
  textOf: (_, { format }) => (format === 'date-time' ? '2024-01-01T00:00:00+00:00' : ''),
});

/** Returns a module as the list of modules has it. */
export function showModule({ name }: Module, index: number): TableRow {
  const isCustom = CUSTOM.has(name);
  const can = { creatable: true, editable: true, deletable: true, viewable: true, api_supported: true };
  const about = { api_name: name, module_name: name, plural_label: name, singular_label: name.slice(0, -1) };
  return conform(
    { ...can, ...about, id: String(554_000 + index), generated_type: isCustom ? 'custom' : 'default', visible: true },
    'modules',
  );
}

const JSON_TYPES: Readonly<Record<string, string>> = {
  ...{ integer: 'integer', double: 'double', currency: 'double', boolean: 'boolean', jsonarray: 'jsonarray' },
  ...{ lookup: 'jsonobject', ownerlookup: 'jsonobject', ALARM: 'jsonobject', multiselectpicklist: 'jsonarray' },
};

/** Returns a field as the list of fields has it. */
export function showField({ name, kind, values, isRequired, isReadOnly }: Field, schema: string): TableRow {
  const writes = { api_create: !isReadOnly, api_update: !isReadOnly, web_create: !isReadOnly, web_update: !isReadOnly };
  return conform(
    {
      ...{
        api_name: name,
        field_label: name.replaceAll('_', ' '),
        data_type: kind,
        json_type: JSON_TYPES[kind] ?? 'string',
      },
      ...{ system_mandatory: isRequired, read_only: isReadOnly, visible: true, operation_type: writes, length: 255 },
      custom_field: /^(?:Note_|External$|Interests$)/.test(name),
      pick_list_values: values.map((value) => ({ display_value: value, actual_value: value })),
    },
    schema,
  );
}
