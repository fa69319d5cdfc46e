/** A column as `sys_dictionary` has it. Values are texts, and null for nothing. */
export interface Column {
  /** The provider's `internal_type`. */
  readonly type: string;
  readonly longest: number;
  /** The table that a reference names a record of. */
  readonly reference?: string;
  /** What of that record it names. Default `sys_id`. */
  readonly key?: 'name';
  readonly mandatory?: boolean;
  readonly readOnly?: boolean;
  /** Labels of the values. */
  readonly choices?: Readonly<Record<string, string>>;
  /** What a new record has where nothing was said. */
  readonly initial?: string;
}

export type Columns = Readonly<Record<string, Column>>;

export interface TableSchema {
  readonly label: string;
  /** What it extends. */
  readonly base?: string;
  /** Its own: those of the base come before. */
  readonly columns: Columns;
  /** The column that stands for a record where another one names it. */
  readonly display?: string;
  /** Only the instance itself writes here. */
  readonly isClosed?: boolean;
}

type More = Omit<Partial<Column>, 'type'>;

const column = (type: string, longest: number, more: More = {}): Column => ({ type, longest, ...more });
const text = (longest: number, more?: More) => column('string', longest, more);
const integer = (more?: More) => column('integer', 40, more);
const flag = (more?: More) => column('boolean', 40, { initial: 'false', ...more });
const moment = (more?: More) => column('glide_date_time', 40, more);
const reference = (table: string, more?: More) => column('reference', 32, { reference: table, ...more });
const choice = (choices: Column['choices'] = {}, initial?: string) =>
  text(40, { choices, ...(initial !== undefined && { initial }) });
const level = (choices: Column['choices'] = {}, initial?: string) =>
  integer({ choices, ...(initial !== undefined && { initial }) });
const system = { readOnly: true };

const ID = column('GUID', 32, system);
const CREATED: Columns = { sys_created_on: moment(system), sys_created_by: text(40, system) };
const SYSTEM: Columns = {
  sys_id: ID,
  ...CREATED,
  sys_updated_on: moment(system),
  sys_updated_by: text(40, system),
  sys_mod_count: integer({ ...system, initial: '0' }),
  sys_tags: column('related_tags', 255, system),
};
const CLASS: Columns = { sys_class_name: column('sys_class_name', 80, system) };
const DOMAIN: Columns = {
  sys_domain: column('domain_id', 32, { ...system, reference: 'sys_user_group', initial: 'global' }),
};

const THREE_LEVELS = { '1': '1 - High', '2': '2 - Medium', '3': '3 - Low' };
const PRIORITIES = {
  '1': '1 - Critical',
  '2': '2 - High',
  '3': '3 - Moderate',
  '4': '4 - Low',
  '5': '5 - Planning',
};
const INCIDENT_STATES = {
  '1': 'New',
  '2': 'In Progress',
  '3': 'On Hold',
  '6': 'Resolved',
  '7': 'Closed',
  '8': 'Canceled',
};
export const DAYS: readonly string[] = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const journal = column('journal_input', 4000);

export const TABLES: Readonly<Record<string, TableSchema>> = {
  task: {
    label: 'Task',
    display: 'number',
    columns: {
      ...SYSTEM,
      ...CLASS,
      ...DOMAIN,
      number: text(40),
      short_description: text(160),
      description: text(4000),
      active: flag({ initial: 'true' }),
      state: level({ '1': 'Open', '2': 'Work in Progress', '3': 'Closed Complete' }, '1'),
      priority: level(PRIORITIES),
      impact: level(THREE_LEVELS, '3'),
      urgency: level(THREE_LEVELS, '3'),
      assigned_to: reference('sys_user'),
      assignment_group: reference('sys_user_group'),
      opened_by: reference('sys_user'),
      closed_by: reference('sys_user'),
      cmdb_ci: reference('cmdb_ci'),
      company: reference('core_company'),
      parent: reference('task'),
      opened_at: moment(),
      closed_at: moment(),
      due_date: moment(),
      made_sla: flag({ initial: 'true' }),
      approval: choice({ 'not requested': 'Not Yet Requested', approved: 'Approved' }, 'not requested'),
      contact_type: choice({ email: 'Email', phone: 'Phone', 'self-service': 'Self-service' }),
      escalation: level({ '0': 'Normal', '1': 'Moderate' }, '0'),
      reassignment_count: integer({ initial: '0' }),
      time_worked: column('timer', 40),
      correlation_id: text(100),
      close_notes: text(4000),
      comments: journal,
      work_notes: journal,
      comments_and_work_notes: column('journal_list', 4000, system),
    },
  },
  incident: {
    label: 'Incident',
    base: 'task',
    display: 'number',
    columns: {
      state: level(INCIDENT_STATES, '1'),
      incident_state: level(INCIDENT_STATES, '1'),
      caller_id: reference('sys_user', { mandatory: true }),
      category: choice({ inquiry: 'Inquiry / Help', software: 'Software', network: 'Network' }, 'inquiry'),
      subcategory: choice({ email: 'Email', vpn: 'VPN' }),
      severity: level(THREE_LEVELS, '3'),
      notify: level({ '1': 'Do Not Notify' }, '1'),
      close_code: choice({ 'Solved (Permanently)': 'Solved (Permanently)' }),
      resolved_at: moment(),
      resolved_by: reference('sys_user'),
      problem_id: reference('problem'),
      rfc: reference('change_request'),
      reopen_count: integer({ initial: '0' }),
    },
  },
  problem: {
    label: 'Problem',
    base: 'task',
    display: 'number',
    columns: { known_error: flag(), workaround: column('html', 4000), resolved_at: moment() },
  },
  change_request: {
    label: 'Change Request',
    base: 'task',
    display: 'number',
    columns: {
      type: choice({ standard: 'Standard', normal: 'Normal', emergency: 'Emergency' }, 'normal'),
      risk: level({ '2': 'High', '3': 'Moderate', '4': 'Low' }, '3'),
      start_date: moment(),
      end_date: moment(),
    },
  },
  sys_user: {
    label: 'User',
    display: 'name',
    columns: {
      ...SYSTEM,
      ...DOMAIN,
      user_name: text(40),
      first_name: text(50),
      last_name: text(50),
      name: text(151),
      email: column('email', 100),
      title: text(60),
      phone: column('ph_number', 40),
      active: flag({ initial: 'true' }),
      locked_out: flag(),
      vip: flag(),
      manager: reference('sys_user'),
      company: reference('core_company'),
      last_login_time: moment(),
    },
  },
  sys_user_group: {
    label: 'Group',
    display: 'name',
    columns: {
      ...SYSTEM,
      name: text(80, { mandatory: true }),
      description: text(1000),
      email: column('email', 100),
      active: flag({ initial: 'true' }),
      manager: reference('sys_user'),
      parent: reference('sys_user_group'),
    },
  },
  core_company: {
    label: 'Company',
    display: 'name',
    columns: {
      ...SYSTEM,
      name: text(80),
      city: text(50),
      country: text(40),
      phone: column('ph_number', 40),
      website: column('url', 1024),
      stock_symbol: text(40),
      num_employees: integer(),
      customer: flag(),
      vendor: flag(),
      parent: reference('core_company'),
    },
  },
  cmdb_ci: {
    label: 'Configuration Item',
    display: 'name',
    columns: {
      ...SYSTEM,
      ...CLASS,
      name: text(255),
      short_description: text(1000),
      asset_tag: text(40),
      serial_number: text(255),
      install_status: level({ '1': 'Installed', '7': 'Retired' }, '1'),
      operational_status: level({ '1': 'Operational', '2': 'Non-Operational' }, '1'),
      ip_address: text(255),
      fault_count: integer({ initial: '0' }),
      assigned_to: reference('sys_user'),
      support_group: reference('sys_user_group'),
      company: reference('core_company'),
      last_discovered: moment(),
    },
  },
  cmdb_ci_server: {
    label: 'Server',
    base: 'cmdb_ci',
    display: 'name',
    columns: { os: choice({ Linux: 'Linux' }), ram: integer(), virtual: flag() },
  },
  time_card: {
    label: 'Time Card',
    columns: {
      ...SYSTEM,
      user: reference('sys_user', { mandatory: true }),
      task: reference('task'),
      week_starts_on: column('glide_date', 40, { mandatory: true }),
      category: choice({ task_work: 'Task work', admin: 'Admin' }, 'task_work'),
      state: choice({ Pending: 'Pending', Submitted: 'Submitted', Approved: 'Approved' }, 'Pending'),
      ...Object.fromEntries(DAYS.map((day) => [day, column('decimal', 15)])),
      total: column('decimal', 15, system),
    },
  },
  sys_journal_field: {
    label: 'Journal Entry',
    isClosed: true,
    columns: {
      sys_id: ID,
      ...CREATED,
      sys_tags: column('related_tags', 255, system),
      name: text(80),
      element: text(80),
      element_id: text(32),
      value: text(4000),
    },
  },
  sys_attachment: {
    label: 'Attachment',
    display: 'file_name',
    isClosed: true,
    columns: {
      ...SYSTEM,
      file_name: text(100),
      content_type: text(100),
      size_bytes: integer(),
      size_compressed: integer(),
      compressed: flag({ initial: 'true' }),
      table_name: text(80),
      table_sys_id: column('char', 32),
      image_height: integer(),
      image_width: integer(),
      average_image_color: text(40),
    },
  },
  sys_audit_delete: {
    label: 'Deleted Record',
    isClosed: true,
    columns: {
      ...SYSTEM,
      tablename: text(80),
      documentkey: column('char', 32),
      display_value: text(255),
      payload: text(4000),
    },
  },
  sys_db_object: {
    label: 'Table',
    display: 'label',
    isClosed: true,
    columns: {
      ...SYSTEM,
      name: text(80),
      label: text(80),
      super_class: reference('sys_db_object'),
      is_extendable: flag(),
    },
  },
  sys_dictionary: {
    label: 'Dictionary Entry',
    isClosed: true,
    columns: {
      ...SYSTEM,
      name: text(80),
      element: text(80),
      column_label: text(80),
      internal_type: reference('sys_glide_object', { key: 'name' }),
      reference: reference('sys_db_object', { key: 'name' }),
      max_length: integer(),
      mandatory: flag(),
      read_only: flag(),
      display: flag(),
      active: flag({ initial: 'true' }),
      choice: level({ '1': 'Dropdown with -- None --' }),
      default_value: text(512),
    },
  },
};

/** Its own and those it has from what it extends, under which its own may stand in place of another. */
export function columnsOf(name: string): Columns {
  const { base, columns } = schemaOf(name);
  const all = ALL_COLUMNS.get(name) ?? (base === undefined ? columns : { ...columnsOf(base), ...columns });
  ALL_COLUMNS.set(name, all);
  return all;
}

const ALL_COLUMNS = new Map<string, Columns>();

/** The table and what extends it. */
export function classesOf(name: string): readonly string[] {
  const extensions = Object.keys(TABLES).filter((other) => schemaOf(other).base === name);
  return [name, ...extensions.flatMap(classesOf)];
}

export function schemaOf(name: string): TableSchema {
  const schema = Object.hasOwn(TABLES, name) ? TABLES[name] : undefined;
  if (schema === undefined) throw new Error(`There is no table ${name}.`);
  return schema;
}

/** How values of the column are compared. */
export function kindOf({
  type,
  reference,
}: Column): 'string' | 'number' | 'boolean' | 'date' | 'datetime' | 'reference' {
  return reference === undefined ? (KINDS[type] ?? 'string') : 'reference';
}

const KINDS: Readonly<Record<string, 'number' | 'boolean' | 'date' | 'datetime'>> = {
  integer: 'number',
  decimal: 'number',
  boolean: 'boolean',
  glide_date: 'date',
  glide_date_time: 'datetime',
};
