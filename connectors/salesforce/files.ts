import { defined, type FileDescription, type Json, json, type Media, path } from '#connector';

/**
 * The objects whose records are files. Salesforce sends the content without a name and with the type of a stream, but the record has more
 * information. Sources: REST API Developer Guide, "sObject Blob Get"; Object Reference of the three objects.
 */
export const FILES: Readonly<Record<string, Media>> = {
  ContentVersion: fileIn('ContentVersion', 'VersionData', {
    fields: ['PathOnClient', 'Title', 'FileExtension'],
    describe: describeVersion,
  }),
  Attachment: fileIn('Attachment', 'Body', { fields: ['Name', 'ContentType'], describe: describeAttachment }),
  Document: fileIn('Document', 'Body', { fields: ['Name', 'Type', 'ContentType'], describe: describeDocument }),
};

interface Description {
  readonly fields: readonly string[];
  readonly describe: (record: Json) => FileDescription;
}

function fileIn(objectName: string, field: string, { fields, describe }: Description): Media {
  return {
    types: ['*'],
    request: ({ id }) => ({ path: path`/sobjects/${objectName}/${id}/${field}`, headers: { accept: '*/*' } }),
    about: {
      request: ({ id }) => ({ path: path`/sobjects/${objectName}/${id}`, query: { fields: fields.join(',') } }),
      read: ({ body }) => describe(json.object(body, 'the data of a file')),
    },
  };
}

function describeVersion({ PathOnClient, Title, FileExtension }: Json): FileDescription {
  const extension = json.findText(FileExtension);
  const name = json.findText(PathOnClient) ?? withExtension(json.findText(Title), extension);
  return defined({ name, type: typeOf(extension ?? extensionOf(name)) });
}

function describeAttachment({ Name, ContentType }: Json): FileDescription {
  const name = json.findText(Name);
  return defined({ name, type: readType(ContentType) ?? typeOf(extensionOf(name)) });
}

/** Describes a document, whose extension is a separate field. */
function describeDocument({ Name, Type, ContentType }: Json): FileDescription {
  const extension = json.findText(Type);
  return defined({
    name: withExtension(json.findText(Name), extension),
    type: readType(ContentType) ?? typeOf(extension),
  });
}

function withExtension(name: string | undefined, extension: string | undefined): string | undefined {
  if (name === undefined || extension === undefined || extensionOf(name) === extension.toLowerCase()) return name;
  return `${name}.${extension}`;
}

function extensionOf(name: string | undefined): string | undefined {
  return /\.([^./\\]+)$/.exec(name ?? '')?.[1]?.toLowerCase();
}

/** Returns a media type without its parameters. Users write this value, so an invalid one is ignored. */
function readType(contentType: unknown): string | undefined {
  return /^\s*([\w.+-]+\/[\w.+-]+)/.exec(json.findText(contentType) ?? '')?.[1]?.toLowerCase();
}

function typeOf(extension: string | undefined): string | undefined {
  return TYPES.get(extension?.toLowerCase() ?? '');
}

const OFFICE = 'application/vnd.openxmlformats-officedocument';

/** Types of common files by extension. For other extensions, the header of the content determines the type. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['xml', 'application/xml'],
  ['rtf', 'application/rtf'],
  ['zip', 'application/zip'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['svg', 'image/svg+xml'],
  ['webp', 'image/webp'],
  ['tif', 'image/tiff'],
  ['tiff', 'image/tiff'],
  ['bmp', 'image/bmp'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['doc', 'application/msword'],
  ['xls', 'application/vnd.ms-excel'],
  ['ppt', 'application/vnd.ms-powerpoint'],
  ['docx', `${OFFICE}.wordprocessingml.document`],
  ['xlsx', `${OFFICE}.spreadsheetml.sheet`],
  ['pptx', `${OFFICE}.presentationml.presentation`],
  ['eml', 'message/rfc822'],
  ['ics', 'text/calendar'],
]);
