import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A person may do everything; an agent reads, calls tools and follows events. */
export type Role = 'person' | 'agent'

/** Who sent a request. */
export interface Caller {
  readonly role: Role
  readonly tenant: string
  /** Tells callers of the same role and tenant apart, where the host application does. */
  readonly name?: string
  /** Which of our own tokens it sent; absent where the host application authenticates. */
  readonly token?: Role | 'page'
}

const CODE_LIFETIME_MS = 3_600_000
/** Codes that are valid at a time; the oldest gives way. */
const MAX_CODES = 100

/** The valid tokens, compared by hash and in constant time. */
export class Credentials {
  readonly #known: readonly { readonly hash: Buffer; readonly caller: Caller }[]

  constructor(tokens: Readonly<Record<Role, string>>, tenant: string) {
    this.#known = [
      { hash: hashOf(tokens.person), caller: { role: 'person', tenant, token: 'person' } },
      { hash: hashOf(tokens.agent), caller: { role: 'agent', tenant, token: 'agent' } },
      { hash: hashOf(pageToken(tokens.person)), caller: { role: 'person', tenant, token: 'page' } },
    ]
  }

  callerOf(token: string): Caller | undefined {
    const hash = hashOf(token)
    return this.#known.find(known => timingSafeEqual(known.hash, hash))?.caller
  }
}

/** Single-use codes that a page trades for its token within an hour. They end with the process. */
export class Login {
  readonly #token: string
  readonly #codes = new Map<string, number>()

  constructor(token: string) {
    this.#token = token
  }

  issue(): string {
    const code = randomBytes(24).toString('base64url')
    const [oldest] = this.#codes.keys()
    if (oldest !== undefined && this.#codes.size >= MAX_CODES) this.#codes.delete(oldest)
    this.#codes.set(keyOf(code), performance.now() + CODE_LIFETIME_MS)
    return code
  }

  /** The token, if the code is valid. The code is spent in any case. */
  redeem(code: string): string | undefined {
    const key = keyOf(code)
    const until = this.#codes.get(key)
    this.#codes.delete(key)
    return until !== undefined && performance.now() < until ? this.#token : undefined
  }
}

/**
 * The page's token: as good as the person's, and another one, so that the log can tell the page from other clients. It is
 * derived, so that it is the same after a restart and on every node.
 */
export const pageToken = (personToken: string): string =>
  createHmac('sha256', personToken).update('runsheet page').digest('base64url')

export const newToken = (): string => randomBytes(32).toString('base64url')

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const keyOf = (code: string): string => hashOf(code).toString('base64url')
