import type { Knex } from 'knex';
import { json } from '../db/json.ts';

/** Branding of the connect page. Missing members have the page's defaults. */
export interface Branding {
  /** Name of the product. */
  readonly name?: string | undefined;
  /** URL of the logo: an image of a registered origin, or a data URL. */
  readonly logoUrl?: string | undefined;
  /** Color in the form `#rrggbb`. */
  readonly color?: string | undefined;
  readonly language?: 'en' | 'de' | 'fr' | 'es' | undefined;
}

export function createBrandingStore(knex: Knex) {
  return {
    find: async (organizationId: number): Promise<Branding> =>
      (await knex('connect_branding').where({ organization_id: organizationId }).first('branding'))?.branding ?? {},

    /**
     * Replaces the branding. Concurrent calls take turns.
     * @returns the branding before
     */
    replace: async (organizationId: number, branding: Branding): Promise<Branding> => {
      await knex('organization').where({ id: organizationId }).forNoKeyUpdate().first('id');
      const before = await createBrandingStore(knex).find(organizationId);
      await knex('connect_branding')
        .insert({ organization_id: organizationId, branding: json(knex, { ...branding }) })
        .onConflict('organization_id')
        .merge();
      return before;
    },
  };
}
