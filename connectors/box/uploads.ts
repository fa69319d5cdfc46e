import { json, type ProviderResponse, path, rejected, type Upload, type UploadRequest } from '#connector';
import { allOf, FILE_FIELDS } from './fields.ts';
import { entriesOf, ROOT } from './folders.ts';

/**
 * Uploads of files. Box accepts files of any length in one request, to a host of its own. Sources: "Upload file", "Upload file version".
 */
export const uploads: Upload = {
  create: {
    request: ({ values, file }) => send('/files/content', { name: file.name, parent: { id: ROOT }, ...values }),
    read: readStored,
  },
  replace: {
    // Without a name, the file keeps its name.
    request: ({ id, values: { name, ...others } }) => {
      const [other] = Object.keys(others);
      if (other !== undefined) {
        throw rejected(
          `Together with a new version of a file, Box accepts only a new name. Set '${other}' in a request of its own.`,
        );
      }
      return send(path`/files/${id}/content`, { name });
    },
    read: readStored,
  },
};

/** Returns the request of an upload. Box expects the attributes before the file. */
function send(where: string, attributes: Readonly<Record<string, unknown>>): UploadRequest {
  return {
    url: `https://upload.box.com/api/2.0${where}`,
    query: { fields: allOf(FILE_FIELDS) },
    form: { parts: [{ name: 'attributes', value: JSON.stringify(attributes) }], file: 'file' },
  };
}

function readStored({ body }: ProviderResponse) {
  const [record] = entriesOf(body);
  return { record: json.object(record, 'the file') };
}
