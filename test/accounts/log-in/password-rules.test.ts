import { dictionary } from '@zxcvbn-ts/language-common';
import { expect } from 'chai';
import { assertPassword, findProblem } from '../../../src/accounts/log-in/password-rules.ts';
import { isAppError } from '../../../src/errors.ts';

const USER = { emailAddress: 'max.mustermann@example.com', firstName: 'Max', lastName: 'Mustermann' };
const COMMON = new Set(dictionary['passwords-common']);

const LENGTH = /^The password has \d+ characters; it needs 12 to 256\.$/;
const FIRST_TRIED = /^The password is a common one, or a common one with little added\./;
const OWN_NAME = 'The password contains your e-mail address or name, which is easy to guess. Choose another one.';

const problemOf = (password: string) => findProblem(password, USER, COMMON);

describe('the rules of passwords', () => {
  for (const password of [
    'violet anchor drifts past noon',
    'x7#kQ9zRw!2m',
    'äöü ÄÖÜ ßßß éèê',
    'слон летит над морем',
    '四月の雨は静かに庭を濡らしている',
    '      1      2',
    'my cat max eats fish at noon',
    'b'.repeat(255).replace(/b{17}/g, 'correct gentle oak'),
  ]) {
    it(`take ${JSON.stringify(password.slice(0, 40))}`, () => {
      expect(problemOf(password.slice(0, 256))).to.equal(undefined);
    });
  }

  it('count characters, not the bytes or halves that they are made of', () => {
    expect(problemOf('🦉🐙🦔🐢🦜🐝🦚🐳🦩🐌🦥')).to.equal('The password has 11 characters; it needs 12 to 256.');
    expect(problemOf('🦉🐙🦔🐢🦜🐝🦚🐳🦩🐌🦥🐊')).to.equal(undefined);
    // Two characters for each on the keyboard that sent them, one when they are the password.
    expect(problemOf('éàîõüñçêôèâ'.normalize('NFD'))).to.match(LENGTH);
    expect(problemOf(`${'éàîõüñçêôèâ'.repeat(23)}éàî`.normalize('NFD'))).to.equal(undefined);
    expect(problemOf(`${'éàîõüñçêôèâ'.repeat(23)}éàîõ`)).to.match(LENGTH);
  });

  it('refuse half a character', () => {
    expect(problemOf('\ud83e no words here')).to.match(/^The password is not valid Unicode/);
  });

  for (const password of [
    ...['leavemealone', '1qaz2wsx3edc', 'LeaveMeAlone'],
    ...['Password1234', 'password2026!', '!!!!dragon!!!!', 'P4ssw0rd!!!!', 'p@$$w0rd2026', '12345678dragon'],
    ...['passwordpassword', 'monkeydragon', 'qwerty123456', 'letmein2026letmein2026'],
    ...['aaaaaaaaaaaa', 'abcdefghijkl', '123456789012', '098765432109', 'xyzxyzxyzxyz', '1212121212121'],
  ]) {
    it(`refuse ${password}, which others try first`, () => expect(problemOf(password)).to.match(FIRST_TRIED));
  }

  for (const password of [
    ...['max.mustermann@example.com', 'MaxMustermann1', 'mustermann2026', 'Causeway2026!', 'causeway-max-12'],
    ...['Example-Mustermann', 'mustermannmax!!'],
  ]) {
    it(`refuse ${password}, which is made of what others know`, () => expect(problemOf(password)).to.equal(OWN_NAME));
  }

  it('are told as a fault of the request', async () => {
    const error = await assertPassword('too short', USER).catch((reason: unknown) => reason);
    expect(isAppError(error, 'REQUEST_INVALID')).to.equal(true);
    const message = 'The password has 9 characters; it needs 12 to 256.';
    expect(error).to.deep.include({ message, details: [{ path: '/body/password', message }] });
    await assertPassword('violet anchor drifts past noon', USER);
  });
});
