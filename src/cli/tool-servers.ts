import { statSync } from 'node:fs'
import type { LearningRedactor } from '../domain/redact.ts'
import { hashOf } from '../door/door.ts'
import { secretsOf } from '../runner/mcp-tools.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import { causeOf } from './cause.ts'
import { serversIn } from './own-config.ts'

type Servers = Readonly<Record<string, McpServer>>

export interface ToolServersOptions {
  /** The person's own settings file. Its servers are taken up as they change; another program's file counts as of the start. */
  readonly own: string
  /** The other settings file. */
  readonly chosen: string
  /** All servers that count at the start. */
  readonly servers: Servers
  readonly redact: LearningRedactor
  /** A server as it is started. */
  readonly prepared: (servers: Servers) => Servers
}

/** The MCP servers that count now, and which file names each. */
export class ToolServers {
  readonly #options: ToolServersOptions
  /** Those of the other file. They count before the person's own. */
  readonly #chosen: Servers
  #stamp: string
  #own: Servers
  #all: Servers
  #problem: string | undefined

  constructor(options: ToolServersOptions) {
    const { own, servers, prepared } = options
    this.#options = options
    this.#stamp = stampOf(own)
    this.#own = serversIn(own)
    this.#chosen = Object.fromEntries(
      Object.entries(servers).filter(([name, server]) => hashOf(this.#own[name] ?? null) !== hashOf(server)),
    )
    this.#all = prepared({ ...this.#own, ...this.#chosen })
  }

  /** As they are started, by name. The same object as long as nothing has changed. */
  get all(): Servers {
    this.#look()
    return this.#all
  }

  /** Why the person's own file is not used as it is now. */
  get problem(): string | undefined {
    this.#look()
    return this.#problem
  }

  get own(): string {
    return this.#options.own
  }

  /** The file that names a server, and whether it is the person's own. */
  fileOf(name: string): { readonly file: string; readonly isOwn: boolean } {
    const isOwn = !Object.hasOwn(this.#chosen, name)
    return { file: isOwn ? this.#options.own : this.#options.chosen, isOwn }
  }

  #look(): void {
    const { own, redact, prepared } = this.#options
    const stamp = stampOf(own)
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    try {
      this.#own = serversIn(own)
      redact.learn(secretsOf(this.#own))
      this.#all = prepared({ ...this.#own, ...this.#chosen })
      this.#problem = undefined
    } catch (error) {
      this.#problem = causeOf(error)
    }
  }
}

/** Another one whenever the file may be another. */
function stampOf(file: string): string {
  try {
    // Not the link itself: what it leads to may change.
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ') : ''
  } catch (error) {
    return causeOf(error)
  }
}
