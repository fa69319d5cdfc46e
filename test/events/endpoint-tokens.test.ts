import { expect } from 'chai';
import { readToken, TokenRefusedError, toTokenRequest } from '../../src/events/endpoints/authorization.ts';

const SECRET = 's3cret of the client';
const CLIENT = {
  type: 'oauth2',
  tokenUrl: 'https://login.example.com/token',
  clientId: 'me:1',
  clientSecret: SECRET,
} as const;
const read = (body: string | object, more: { readonly status?: number; readonly quotable?: boolean } = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return readToken(CLIENT, { status: 200, quotable: true, ...more, body: Buffer.from(text) }, 1_000);
};

describe('the token of an endpoint', () => {
  it('is kept until 30 seconds before its end, half of a short life, or an hour', async () => {
    const at = async (expires_in: unknown) =>
      (await read({ access_token: 'a', token_type: 'Bearer', expires_in })).expiresAtMs;
    expect(await at(3_600)).to.equal(1_000 + 3_570_000);
    expect(await at('3600')).to.equal(1_000 + 3_570_000);
    expect(await at(10)).to.equal(1_000 + 5_000);
    expect(await at(undefined)).to.equal(1_000 + 3_570_000);
    expect(await at(0)).to.equal(1_000 + 3_570_000);
  });

  it('is read as those of providers are: as a form, behind a byte order mark, and without a type', async () => {
    for (const body of ['access_token=a-token&scope=x', '\ufeff {"access_token":"a-token"}'])
      expect(await read(body)).to.deep.include({ accessToken: 'a-token' });
  });

  const refused: readonly (readonly [string, Parameters<typeof read>, string])[] = [
    ['an error', [{ error: 'invalid_client' }, { status: 401 }], '401 (invalid_client).'],
    ['an error with the status of a success', [{ error: 'invalid_scope' }], '200 (invalid_scope).'],
    ['an error that quotes the secret', [{ error: SECRET }, { status: 400 }], '400 (an error).'],
    [
      'an error at an address that must not be quoted',
      [{ error: 'invalid_client' }, { status: 401, quotable: false }],
      '401.',
    ],
    ['a page', ['<html>', { status: 502 }], '502.'],
    ['a page with the status of a success', ['<html>'], 'a response that is not one of OAuth 2.0.'],
    ['another type', [{ access_token: 'a', token_type: 'mac' }], 'a token of another type than Bearer.'],
    ['a token with a line break', [{ access_token: 'a\r\nx: y' }], 'an access token that no header can have.'],
    [
      'too many members',
      [Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`m${index}`, 1]))],
      'a response that has more than 1000 members, 10000 with those inside others, or more than 100 levels.',
    ],
  ];
  for (const [what, [body, more], message] of refused) {
    it(`is refused: ${what}`, async () => {
      const error: unknown = await read(body, more).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(TokenRefusedError);
      expect(error).to.include({ message: `The token endpoint at login.example.com returned ${message}` });
    });
  }

  it('is requested with the client in the header, form-encoded, or in the body', () => {
    const { headers, body } = toTokenRequest({ ...CLIENT, scope: 'a b' });
    const sent = Buffer.from((headers.authorization ?? '').slice('Basic '.length), 'base64').toString();
    expect(sent).to.equal('me%3A1:s3cret+of+the+client');
    expect(body).to.equal('grant_type=client_credentials&scope=a+b');
    const inBody = toTokenRequest({ ...CLIENT, clientAuthentication: 'body' });
    expect(inBody.headers).not.to.have.property('authorization');
    expect(Object.fromEntries(new URLSearchParams(inBody.body))).to.deep.equal({
      grant_type: 'client_credentials',
      client_id: 'me:1',
      client_secret: SECRET,
    });
  });
});
