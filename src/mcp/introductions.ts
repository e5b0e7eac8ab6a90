import type { InitializeRequest } from '@modelcontextprotocol/server'

/** Kept as long as the client's session. */
const MAX_LENGTH = 16 * 1024
const MAX_KNOWN = 100

/**
 * What clients say about themselves when they open a session. Equal ones, as from all clients of one program, are
 * stored once.
 */
export class Introductions {
  readonly #known = new Map<string, string>()

  /** The parameters of `initialize` that a server needs, as JSON; undefined if they are too long. */
  of({ params }: InitializeRequest): string | undefined {
    const { protocolVersion, capabilities, clientInfo } = params
    const { name, version, title } = clientInfo
    const introduction = JSON.stringify({ protocolVersion, capabilities, clientInfo: { name, version, title } })
    if (introduction.length > MAX_LENGTH) return undefined
    const known = this.#known.get(introduction)
    if (known !== undefined) return known
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(introduction, introduction)
    return introduction
  }
}
