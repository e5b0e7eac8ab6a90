import { statSync } from 'node:fs'
import type { LearningRedactor } from '../domain/redact.ts'
import { hashOf } from '../door/door.ts'
import { secretsOf } from '../runner/mcp-tools.ts'
import type { McpServer } from '../runner/mcp-tools.ts'
import { causeOf } from './cause.ts'
import { serversIn } from './own-config.ts'

type Servers = Readonly<Record<string, McpServer>>

export interface ToolServersOptions {
  /** The user's own settings file, reloaded on change. The other file is loaded once, at the start. */
  readonly own: string
  readonly chosen: string
  readonly servers: Servers
  readonly redact: LearningRedactor
  /** Gives a server its final environment. */
  readonly prepared: (servers: Servers) => Servers
}

export class ToolServers {
  readonly #options: ToolServersOptions
  /** Servers of the chosen file; they override the user's own. */
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

  /** Prepared servers by name. The same object until something changes. */
  get all(): Servers {
    this.#look()
    return this.#all
  }

  /** Why the user's own file is currently not used. */
  get problem(): string | undefined {
    this.#look()
    return this.#problem
  }

  get own(): string {
    return this.#options.own
  }

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

/** Changes whenever the file may have changed. */
function stampOf(file: string): string {
  try {
    // `stat`, not `lstat`: a link's target may change.
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false })
    return stat ? [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ') : ''
  } catch (error) {
    return causeOf(error)
  }
}
