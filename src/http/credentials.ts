import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** A person may do everything; an agent reads, calls tools and follows events. */
export type Role = 'person' | 'agent'

export interface Caller {
  readonly role: Role
  readonly tenant: string
  /** Distinguishes callers of the same role and tenant; set by the host application. */
  readonly name?: string
  /** Which of our own tokens was sent; absent if the host application authenticates. */
  readonly token?: Role | 'page'
}

const CODE_LIFETIME_MS = 3_600_000
const MAX_CODES = 100

/** Compares tokens by hash and in constant time. */
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

/** Issues single-use codes that the page trades for its token within an hour. Codes do not survive a restart. */
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

  /** Spends the code even if it has expired. */
  redeem(code: string): string | undefined {
    const key = keyOf(code)
    const until = this.#codes.get(key)
    this.#codes.delete(key)
    return until !== undefined && performance.now() < until ? this.#token : undefined
  }
}

/**
 * Grants the same rights as the person's token, but lets the log distinguish the page from other clients. Derived, so
 * that it is the same after a restart and on every node.
 */
export const pageToken = (personToken: string): string =>
  createHmac('sha256', personToken).update('runsheet page').digest('base64url')

export const newToken = (): string => randomBytes(32).toString('base64url')

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

const keyOf = (code: string): string => hashOf(code).toString('base64url')
