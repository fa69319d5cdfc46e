/** Configurations that the simulators take. */

export const BAMBOOHR = { username: 'demo-key', 'company.name': 'acme', simulator: true };

export const SHOP = { 'base.url': 'https://shop.example.com/odata/v4/shop', simulator: true };

/** Behind basic authentication. */
export const PRIVATE_SHOP = {
  'base.url': 'https://shop.example.com/odata/v4/private',
  username: 'demo',
  password: 'demo-password',
  simulator: true,
};
