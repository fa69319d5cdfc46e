/** The workspace: its admins, the attributes that it added, and its types of tickets. */

const TIME = { created_at: 1_704_067_200, updated_at: 1_704_067_200 };

export const WORKSPACE = { type: 'app', id_code: 'abc12345', name: 'Demo', region: 'US', timezone: 'America/New_York' };

export const ADMINS = ['991', '992', '993'].map((id, index) => ({
  ...{ type: 'admin', id, name: `Admin ${index + 1}`, email: `admin${index + 1}@example.com`, job_title: 'Support' },
  ...{ away_mode_enabled: false, away_mode_reassign: false, has_inbox_seat: true, team_ids: [], avatar: null },
}));

interface Attribute {
  readonly name: string;
  readonly type: string;
  readonly options?: readonly string[];
}

/** Attributes by object, under the names that the workspace gave them. */
export const ATTRIBUTES: Readonly<Record<string, readonly Attribute[]>> = {
  contacts: [
    { name: 'favourite colour', type: 'string' },
    { name: 'plan', type: 'string', options: ['free', 'pro'] },
    { name: 'score', type: 'integer' },
    { name: 'rate', type: 'float' },
    { name: 'is_vip', type: 'boolean' },
    { name: 'renewed_at', type: 'date' },
  ],
  companies: [
    { name: 'segment', type: 'string' },
    { name: 'seats', type: 'integer' },
    { name: 'is_partner', type: 'boolean' },
  ],
  conversations: [
    { name: 'Topic', type: 'string' },
    { name: 'Count', type: 'integer' },
    { name: 'Level', type: 'list', options: ['Low', 'High'] },
    { name: 'Due', type: 'datetime' },
  ],
  tickets: [
    { name: '_default_title_', type: 'string' },
    { name: '_default_description_', type: 'string' },
    { name: 'Serial number', type: 'string' },
    { name: 'Amount', type: 'decimal' },
    { name: 'Is urgent', type: 'boolean' },
  ],
};

const byIndex = (index: number) => 300 + index;

/** The attributes of contacts and companies. */
export function dataAttributes(model: string | null): readonly object[] {
  return (['contact', 'company'] as const)
    .filter((each) => model === null || model === each)
    .flatMap((each) =>
      (ATTRIBUTES[each === 'contact' ? 'contacts' : 'companies'] ?? []).map(({ name, type, options }, index) => ({
        ...{ type: 'data_attribute', id: byIndex(index), model: each, name, full_name: `custom_attributes.${name}` },
        ...{ label: name, description: '', data_type: type, ...(options && { options }), api_writable: true },
        ...{ messenger_writable: false, ui_writable: true, custom: true, archived: false, ...TIME },
      })),
    );
}

export const CONVERSATION_ATTRIBUTES = (ATTRIBUTES.conversations ?? []).map(({ name, type, options }, index) => ({
  ...{ type: 'conversation_attribute', id: byIndex(index), name, description: '', data_type: type, required: false },
  ...{ visible_to_team_ids: [], archived: false, ...TIME, admin_id: '991' },
  ...(options && { options: options.map((label, at) => ({ id: `o${at}`, label, archived: false })) }),
}));

export const TICKET_STATES = (['submitted', 'in_progress', 'waiting_on_customer', 'resolved'] as const).map(
  (category, index) => ({
    ...{ type: 'ticket_state', id: String(8577 + index), category },
    ...{ internal_label: category, external_label: category },
  }),
);

export const TICKET_TYPES = (['Customer', 'Back-office'] as const).map((category, index) => ({
  ...{ type: 'ticket_type', id: String(1 + index), category, name: `${category} ticket`, description: '', icon: '🎟' },
  ...{ workspace_id: WORKSPACE.id_code, archived: false, ...TIME },
  ticket_type_attributes: {
    type: 'list',
    ticket_type_attributes: (ATTRIBUTES.tickets ?? []).map(({ name, type }, at) => ({
      ...{ type: 'ticket_type_attribute', id: String(byIndex(at)), workspace_id: WORKSPACE.id_code, name },
      ...{ description: '', data_type: type, input_options: {}, order: at, required_to_create: false },
      ...{ visible_on_create: true, default: name.startsWith('_default'), ticket_type_id: 1 + index },
      ...{ archived: false, ...TIME },
    })),
  },
  ticket_states: { type: 'list', data: TICKET_STATES },
}));
