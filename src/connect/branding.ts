import { createAnnouncedCache } from '../db/caches.ts';
import { changeInTurn, differences } from '../db/change.ts';
import { assertAllStorable } from '../db/storable.ts';
import { invalidRequest, pointer } from '../errors.ts';
import type { Platform } from '../platform.ts';
import { type Branding, createBrandingStore } from './branding-store.ts';
import type { Origins } from './origins.ts';

/** The service for the branding of connect pages. */
export type Brandings = ReturnType<typeof createBrandings>;

interface BrandingNeighbours {
  readonly origins: Pick<Origins, 'of'>;
}

export function createBrandings(
  { knex, notifier }: Pick<Platform, 'knex' | 'notifier'>,
  { origins }: BrandingNeighbours,
) {
  const known = createAnnouncedCache<Branding>({
    notifier,
    topic: 'connect-branding',
    load: (organizationId) => createBrandingStore(knex).find(Number(organizationId)),
  });
  const of = async (organizationId: number): Promise<Branding> => (await known.get(String(organizationId))) ?? {};

  /**
   * Validates a branding.
   * @param path path of the branding in the body
   * @throws AppError REQUEST_INVALID for a logo that the page may not show
   */
  async function read(organizationId: number, { name, ...rest }: Branding, ...path: readonly string[]) {
    assertAllStorable({ name, logoUrl: rest.logoUrl });
    const fault =
      rest.logoUrl === undefined ? undefined : findLogoFault(rest.logoUrl, await origins.of(organizationId));
    if (fault !== undefined) {
      const message = `${['body', ...path].join('.')}.logoUrl ${fault}`;
      throw invalidRequest([{ path: pointer('body', ...path, 'logoUrl'), message }]);
    }
    return { ...(name !== undefined && { name: name.trim() }), ...rest } satisfies Branding;
  }

  return {
    /** Returns the branding of the organization. It is cached until a change. */
    of,
    read,

    /**
     * Returns the branding that the page of a session shows: its own before that of the organization, without a logo of an origin that is
     * no longer registered.
     */
    shownIn: async (organizationId: number, own: Branding): Promise<Branding> => {
      const { logoUrl, ...rest } = { ...(await of(organizationId)), ...own };
      const isShown = logoUrl !== undefined && findLogoFault(logoUrl, await origins.of(organizationId)) === undefined;
      return isShown ? { ...rest, logoUrl } : rest;
    },

    /**
     * Replaces the branding of an organization.
     * @throws AppError REQUEST_INVALID
     */
    replace: async (organizationId: number, given: Branding) => {
      const branding = await read(organizationId, given);
      await changeInTurn(
        knex,
        async (via) => {
          const before = await createBrandingStore(via).replace(organizationId, branding);
          await known.changed(String(organizationId), via);
          return before;
        },
        (before) => ({
          targetId: String(organizationId),
          changes: differences({ connectBranding: toAudit(before) }, { connectBranding: toAudit(branding) }),
        }),
      );
      await notifier.settle();
      return branding;
    },
  };
}

/** Returns the branding for the audit log. Images inside URLs are shortened. */
export function toAudit({ logoUrl, ...rest }: Branding): Branding {
  const isImage = logoUrl?.startsWith('data:') === true;
  return {
    ...rest,
    ...(logoUrl !== undefined && { logoUrl: isImage ? logoUrl.slice(0, logoUrl.indexOf(',')) : logoUrl }),
  };
}

/**
 * Returns the origin that the logo is loaded from, for the page's Content-Security-Policy; undefined if the image is
 * in its URL.
 */
export function logoOriginOf({ logoUrl }: Branding): string | undefined {
  return logoUrl === undefined || logoUrl.startsWith('data:') ? undefined : new URL(logoUrl).origin;
}

const MAX_URL = 2_048;
/** Images that browsers show and that run nothing in an `img` element, by what their bytes begin with. */
const IMAGES: Readonly<Record<string, RegExp>> = {
  png: /^[\x80-\xff]PNG\r\n/,
  jpeg: /^\xff\xd8\xff/,
  webp: /^RIFF[\s\S]{4}WEBP/,
  'svg+xml': /<svg[\s>]/,
};
const DATA =
  /^data:image\/(png|jpeg|webp|svg\+xml);base64,((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
const KINDS = 'data:image/png, image/jpeg, image/webp or image/svg+xml in base64';

/** @returns what is wrong, behind the name of the member */
function findLogoFault(text: string, registered: readonly string[]): string | undefined {
  if (text.startsWith('data:')) {
    const [, kind = '', encoded = ''] = DATA.exec(text) ?? [];
    if (kind === '') return `must be ${KINDS}.`;
    const isOfKind = IMAGES[kind]?.test(Buffer.from(encoded, 'base64').toString('latin1')) === true;
    return isOfKind ? undefined : `declares image/${kind}, but its content has another type.`;
  }
  const url = text.length > MAX_URL ? null : URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '')
    return `must be an address of ${MAX_URL} characters at most, such as https://app.example.com/logo.png, or ${KINDS}.`;
  if (registered.includes(url.origin)) return undefined;
  return `has the origin ${url.origin}, which the organization has not registered. Register it with PUT /organizations/me/connect-origins, or send the image itself, as ${KINDS}.`;
}
