import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Who asks: a person may do everything, an agent may read, call tools and subscribe. */
export interface Credential {
  readonly role: Role
  readonly tenant: string
}
export type Role = 'person' | 'agent'

const CODE_LASTS_MS = 3_600_000
/** More than anybody prints in an hour; the oldest gives way. */
const MOST_CODES = 100

/** The tokens that there are. They are compared by hash, in the same time for every guess. */
export class Credentials {
  readonly #known: readonly { readonly hash: Buffer; readonly credential: Credential }[]

  constructor(tokens: Readonly<Record<Role, string>>, tenant: string) {
    this.#known = (['person', 'agent'] as const).map(role => ({
      hash: hashOf(tokens[role]),
      credential: { role, tenant },
    }))
  }

  of(token: string): Credential | undefined {
    const hash = hashOf(token)
    return this.#known.find(known => timingSafeEqual(known.hash, hash))?.credential
  }
}

/** Codes that a page trades for the person's token: each once, within the hour. They live as long as the process. */
export class LoginCodes {
  readonly #codes = new Map<string, number>()

  issue(): string {
    const code = randomBytes(24).toString('base64url')
    const [oldest] = this.#codes.keys()
    if (oldest !== undefined && this.#codes.size >= MOST_CODES) this.#codes.delete(oldest)
    this.#codes.set(keyOf(code), performance.now() + CODE_LASTS_MS)
    return code
  }

  /** Whether the code was good; from now on it is not. */
  redeem(code: string): boolean {
    const key = keyOf(code)
    const until = this.#codes.get(key)
    this.#codes.delete(key)
    return until !== undefined && performance.now() < until
  }
}

export const newToken = (): string => randomBytes(32).toString('base64url')

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const keyOf = (code: string): string => hashOf(code).toString('base64url')
