/** Records for the suites of both elements. */

const USER = 'a'.repeat(32);
/** The id of an incident of the simulator. */
const INCIDENT = '05105b8ef134228b574462c34cf21b23';

/** Texts that ServiceNow does not store as they are: an empty text is null. */
const alteredTexts = [''];

const task = {
  create: (number: number) => ({ short_description: `New ${number} O'Neil`, priority: 2, active: true }),
  freeTexts: ['short_description', 'description', 'close_notes'],
  alteredTexts,
};

const device = {
  create: (number: number) => ({ name: `New ${number}`, fault_count: number, ip_address: '192.0.2.1' }),
  freeTexts: ['name', 'short_description'],
  alteredTexts,
};

export const WRITES = {
  task,
  problem: task,
  change_request: task,
  incident: { ...task, create: (number: number) => ({ ...task.create(number), caller_id: USER, notify: 1 }) },
  cmdb_ci: device,
  cmdb_ci_server: { ...device, create: (number: number) => ({ ...device.create(number), ram: 4096, virtual: true }) },
  core_company: {
    create: (number: number) => ({ name: `New ${number}`, city: 'Łódź', customer: true }),
    freeTexts: ['name', 'city'],
    alteredTexts,
  },
  sys_user: {
    create: (number: number) => ({ user_name: `new.${number}`, first_name: "O'Neil" }),
    freeTexts: ['first_name', 'title'],
    alteredTexts,
  },
  sys_user_group: {
    create: (number: number) => ({ name: `New ${number}`, manager: USER }),
    freeTexts: ['description'],
    alteredTexts,
  },
  // The values that an upload contains in addition to the file.
  sys_attachment: {
    create: () => ({ table_name: 'incident', table_sys_id: INCIDENT }),
  },
  time_card: {
    create: (number: number) => ({ user: USER, week_starts_on: '2026-01-04', monday: number + 0.5 }),
    freeTexts: [],
  },
};
