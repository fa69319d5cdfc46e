import { chooseFields, type KnownField } from '../default-fields.ts';
import { entriesOf, memberOf, type ToolContext } from './tool.ts';

/** Returns the default fields of an object by its metadata. */
export async function readFields({ api, instance }: ToolContext, path: string): Promise<readonly string[] | undefined> {
  const { body } = await api.json({ path, instance });
  return chooseFields(entriesOf(memberOf(body, 'fields')).map(toKnownField));
}

function toKnownField(field: unknown): KnownField {
  const [name, type] = ['name', 'type'].map((member) => String(memberOf(field, member)));
  return {
    name: name ?? '',
    type: type ?? '',
    identifier: memberOf(field, 'identifier') === true,
    unlisted: memberOf(field, 'unlisted') === true,
    mapped: memberOf(field, 'mapped') !== false,
  };
}
