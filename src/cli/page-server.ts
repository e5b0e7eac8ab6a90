import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { DataFolder, ServerNote } from './folder.ts'

export interface PageServerOptions {
  readonly store: string
  readonly config: string
  readonly idleExit: string
  readonly token?: string
  /** How we were started, to start it the same way. */
  readonly program: readonly string[]
  readonly environment: NodeJS.ProcessEnv
}

const START_MS = 20_000
const LOOK_MS = 50

/** The server of the page, which serves the same data folder in a process of its own and outlives us. */
export class PageServer {
  readonly #folder: DataFolder
  readonly #options: PageServerOptions
  #starting: Promise<ServerNote | undefined> | undefined

  constructor(folder: DataFolder, options: PageServerOptions) {
    this.#folder = folder
    this.#options = options
  }

  /** Who serves the folder; started where nobody does, or does any more. */
  async ready(): Promise<ServerNote | undefined> {
    const running = this.#folder.server()
    if (running) return running
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    return this.#starting
  }

  /** Where a conversation is shown; with a code that signs in once, for a person only. */
  async link(conversation: string, signedIn: boolean): Promise<string | undefined> {
    const note = await this.ready()
    if (!note) return undefined
    const url = new URL(`?chat=${conversation}`, note.url)
    const token = this.#options.token ?? this.#folder.personToken()
    if (signedIn && token !== undefined) {
      const { createClient } = await import('../client/client.ts')
      // One that was given another token can be reached all the same, by who has signed in there.
      const login = await createClient({ url: note.local, token })
        .loginCode()
        .catch(() => undefined)
      if (login) url.hash = `code=${login.code}`
    }
    return url.href
  }

  /** On the usual port, so that a page that is open finds it again; where that is taken, on any. */
  async #start(): Promise<ServerNote | undefined> {
    return (await this.#startOn(this.#options.environment['RUNSHEET_PORT'] ?? '4747')) ?? this.#startOn('0')
  }

  async #startOn(port: string): Promise<ServerNote | undefined> {
    const { store, config, idleExit, program, environment } = this.#options
    const log = openSync(join(this.#folder.path, 'serve.log'), 'a', 0o600)
    const serve = ['serve', '--port', port, '--idle-exit', idleExit, '--config', config]
    const child = spawn(process.execPath, [...program, ...serve], {
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', log],
      // A store's address may hold a password: the command line is there for everybody to read.
      env: { ...environment, RUNSHEET_DATA: this.#folder.path, RUNSHEET_STORE: store },
    })
    closeSync(log)
    child.unref()
    const ended = once(child, 'exit').catch(() => {})
    const isOver = ended.then(() => true as const)
    const until = performance.now() + START_MS
    let hasEnded = false
    while (!hasEnded && performance.now() < until) {
      hasEnded = (await Promise.race([isOver, after(LOOK_MS, false, { ref: false })])) ?? false
      // Another may have been faster, and ours have ended because of that.
      const note = this.#folder.server()
      if (note) return note
    }
    return undefined
  }
}
