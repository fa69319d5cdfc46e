import { Causeway, type KeyInstance } from '@causeway/client';
import type { Asker } from './ask.js';
import { CAUSEWAY } from './command-name.js';
import { NotReadyError, UsageError } from './failures.js';
import { type Format, Output, type Screens } from './output.js';
import { type ChosenInstance, type Profile, type Profiles, readProfiles, writeProfiles } from './profiles.js';

/** Options of every command. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly instance?: string;
  readonly format?: Format;
  readonly json?: true;
}

/** The parts of the environment that the caller of the program provides. */
export interface Surroundings {
  readonly screens: Screens;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly asker: Asker;
  /** Texts that are removed from printed errors. */
  readonly secrets: string[];
}

/** An access key, and the instance of the command. */
interface KeyLogin {
  readonly url: string;
  readonly key: string;
  readonly instanceId?: number;
}

/** A run of a command with its log-in, its instance and its output. */
export class Session {
  readonly output: Output;
  readonly asker: Asker;
  readonly #options: GlobalOptions;
  readonly #surroundings: Surroundings;

  constructor(options: GlobalOptions, surroundings: Surroundings) {
    if (options.json === true && options.format !== undefined && options.format !== 'json') {
      throw new UsageError('--json is short for --format json. Use one of the two.');
    }
    this.#options = options;
    this.#surroundings = surroundings;
    this.asker = surroundings.asker;
    this.output = new Output(options.json === true ? 'json' : (options.format ?? 'table'), surroundings.screens);
  }

  get signal(): AbortSignal {
    return this.asker.signal;
  }

  get environment(): Surroundings['environment'] {
    return this.#surroundings.environment;
  }

  /** Returns the name of the profile that the command uses: the given one, or else the current one. */
  profileName({ current }: Profiles): string {
    return this.#options.profile ?? (this.environment.CAUSEWAY_PROFILE || current);
  }

  /** Marks a text as secret, and returns it. */
  keep(secret: string): string {
    this.#surroundings.secrets.push(secret);
    return secret;
  }

  /** Returns the access key of the environment, unless a profile is named. */
  #key(): KeyLogin | undefined {
    const { CAUSEWAY_URL: url, CAUSEWAY_KEY: key, CAUSEWAY_INSTANCE_ID } = this.environment;
    if (this.#isNamed() || !url || !key) return undefined;
    const instance = this.#options.instance ?? (CAUSEWAY_INSTANCE_ID || undefined);
    return { url, key: this.keep(key), ...(instance !== undefined && { instanceId: instanceIdOf(instance) }) };
  }

  /**
   * Returns the log-in. It comes from the environment if no profile is named and all variables are set.
   * @throws NotReadyError if nobody is logged in
   */
  async login(): Promise<Profile> {
    const profile = this.#loginOfEnvironment() ?? (await this.#storedLogin());
    this.keep(profile.userSecret);
    this.keep(profile.organizationSecret);
    if (profile.instance !== undefined) this.keep(profile.instance.token);
    return profile;
  }

  /**
   * Returns a client for calls without an instance.
   * @throws NotReadyError if nobody is logged in
   */
  async platform(): Promise<Causeway> {
    const key = this.#key();
    if (key !== undefined) return new Causeway(key);
    return this.#clientOf(await this.login());
  }

  /**
   * Returns a client for calls on the instance of the command.
   * @throws NotReadyError without a log-in or an instance
   */
  async account(): Promise<Causeway> {
    const key = this.#key();
    if (key !== undefined) return new Causeway(key);
    const profile = await this.login();
    return this.#clientOf(profile).withInstance(await this.#tokenFor(profile));
  }

  /**
   * Returns the id of the instance of the command.
   * @throws NotReadyError without a log-in or an instance
   */
  async instanceId(): Promise<number> {
    const key = this.#key();
    if (key !== undefined) return key.instanceId ?? this.#onlyInstanceOf(key);
    const profile = await this.login();
    if (this.#options.instance !== undefined) return instanceIdOf(this.#options.instance);
    const token = this.#tokenOfEnvironment();
    if (token === undefined) return chosen(profile).id;
    const platform = this.#clientOf(profile);
    for await (const instance of platform.all((page) =>
      platform.instances.listInstancesRaw(page, { signal: this.signal }),
    )) {
      if (instance.token === token) return instance.id;
    }
    throw new NotReadyError(
      `The instance of CAUSEWAY_ELEMENT_TOKEN does not belong to this user. See: ${CAUSEWAY} instances`,
    );
  }

  /**
   * Stores the instance that later commands use.
   * @throws UsageError if the log-in comes from the environment
   */
  async choose(instance: ChosenInstance | undefined): Promise<void> {
    if (!this.keepsChoices) {
      throw new UsageError(
        'The log-in comes from environment variables, which store no chosen instance. Use --instance, CAUSEWAY_ELEMENT_TOKEN or CAUSEWAY_INSTANCE_ID.',
      );
    }
    const stored = await readProfiles();
    const name = this.profileName(stored);
    const { instance: _, ...profile } = await this.#storedLogin();
    const next = instance === undefined ? profile : { ...profile, instance };
    await writeProfiles({ ...stored, profiles: { ...stored.profiles, [name]: next } });
  }

  /** Whether the command line names the instance. */
  get namesInstance(): boolean {
    return this.#options.instance !== undefined;
  }

  /** Whether a chosen instance can be stored. */
  get keepsChoices(): boolean {
    return this.#key() === undefined && this.#loginOfEnvironment() === undefined;
  }

  /** Returns the instances of the access key; undefined for a log-in with secrets. */
  async instancesOfKey(): Promise<readonly KeyInstance[] | undefined> {
    const key = this.#key();
    return key && (await this.#instancesOf(key));
  }

  async #instancesOf(key: KeyLogin): Promise<readonly KeyInstance[]> {
    return (await new Causeway(key).keys.getOwnAccessKey({ signal: this.signal })).instances;
  }

  async #onlyInstanceOf(key: KeyLogin): Promise<number> {
    const instances = await this.#instancesOf(key);
    const [only, ...others] = instances;
    if (only !== undefined && others.length === 0) return only.id;
    throw new NotReadyError(
      'The key reaches no instance or several. Name one with --instance or CAUSEWAY_INSTANCE_ID.',
    );
  }

  #clientOf({ url, userSecret, organizationSecret }: Profile): Causeway {
    return new Causeway({ url, userSecret, organizationSecret });
  }

  async #tokenFor(profile: Profile): Promise<string> {
    const { instance } = this.#options;
    if (instance === undefined) return this.keep(this.#tokenOfEnvironment() ?? chosen(profile).token);
    const id = instanceIdOf(instance);
    const { token } = await this.#clientOf(profile).instances.getInstance({ id }, { signal: this.signal });
    return this.keep(token);
  }

  #tokenOfEnvironment(): string | undefined {
    const { CAUSEWAY_ELEMENT_TOKEN } = this.environment;
    return this.#isNamed() ? undefined : CAUSEWAY_ELEMENT_TOKEN || undefined;
  }

  #loginOfEnvironment(): Profile | undefined {
    const { CAUSEWAY_URL, CAUSEWAY_USER_SECRET, CAUSEWAY_ORGANIZATION_SECRET } = this.environment;
    if (this.#isNamed() || !CAUSEWAY_URL || !CAUSEWAY_USER_SECRET || !CAUSEWAY_ORGANIZATION_SECRET) return undefined;
    return { url: CAUSEWAY_URL, userSecret: CAUSEWAY_USER_SECRET, organizationSecret: CAUSEWAY_ORGANIZATION_SECRET };
  }

  #isNamed(): boolean {
    return this.#options.profile !== undefined || Boolean(this.environment.CAUSEWAY_PROFILE);
  }

  async #storedLogin(): Promise<Profile> {
    const stored = await readProfiles();
    const name = this.profileName(stored);
    const profile = Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
    if (profile !== undefined) return profile;
    const option = name === 'default' ? '' : ` --profile ${name}`;
    throw new NotReadyError(`Nobody is logged in${option && ` as ${name}`}. Log in first: ${CAUSEWAY} login${option}`);
  }
}

/**
 * Parses the id of an instance.
 * @throws UsageError for any other text
 */
export function instanceIdOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`The id of an instance is a number, not '${text}'. See: ${CAUSEWAY} instances`);
}

function chosen({ instance }: Profile): ChosenInstance {
  if (instance !== undefined) return instance;
  throw new NotReadyError(
    `No instance is chosen. Choose one: ${CAUSEWAY} instances use <id>, or create one: ${CAUSEWAY} connect <element>`,
  );
}
