import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { DataFolder, ServerNote } from './folder.ts'
import { placeOf } from './open-store.ts'
import { quoted, self } from './version.ts'

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
/** One that could not be started is not tried for every call. */
const AGAIN_MS = 10_000
/** A server that is there and does not answer keeps nobody waiting. */
const CODE_MS = 3_000

/** The server of the page, which serves the same data folder in a process of its own and outlives us. */
export class PageServer {
  readonly #folder: DataFolder
  readonly #options: PageServerOptions
  readonly #say: (line: string) => void
  #starting: Promise<ServerNote | undefined> | undefined
  #failedAt = -Infinity
  #said = ''

  /** Says where it is, once for each place. */
  constructor(folder: DataFolder, options: PageServerOptions, say: (line: string) => void) {
    this.#folder = folder
    this.#options = options
    this.#say = say
  }

  /** Who serves our store; started where nobody serves the folder, or does any more. */
  async ready(): Promise<ServerNote | undefined> {
    let note: ServerNote | undefined
    try {
      note = await this.#serving()
    } catch (error) {
      this.#tell(noPage(`${(error as Error).message.replace(/\.$/, '')}.`))
      return undefined
    }
    const isOurs = note?.store === placeOf(this.#options.store)
    if (!note) this.#tell(noPage('serve.log says why.'))
    else this.#tell(isOurs ? shownAt(note.url, this.#folder.path) : otherStore(note.url))
    return isOurs ? note : undefined
  }

  async #serving(): Promise<ServerNote | undefined> {
    const running = this.#folder.server()
    if (running) return running
    if (!this.#starting && performance.now() - this.#failedAt < AGAIN_MS) return undefined
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    const note = await this.#starting
    if (!note) this.#failedAt = performance.now()
    return note
  }

  #tell(line: string): void {
    if (line === this.#said) return
    this.#said = line
    this.#say(line)
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
        .loginCode(AbortSignal.timeout(CODE_MS))
        .catch(() => undefined)
      if (login) url.hash = `code=${login.code}`
    }
    return url.href
  }

  /** On the usual port, so that a page that is open finds it again; where that is taken, on any. */
  async #start(): Promise<ServerNote | undefined> {
    const usual = await this.#startOn(this.#options.environment['RUNSHEET_PORT'] ?? '4747')
    return usual === 'ended' ? noteIn(await this.#startOn('0')) : noteIn(usual)
  }

  async #startOn(port: string): Promise<ServerNote | 'ended' | 'slow'> {
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
    // One that is slow may come yet: another would only be in its way.
    return hasEnded ? 'ended' : 'slow'
  }
}

const noteIn = (started: ServerNote | 'ended' | 'slow'): ServerNote | undefined =>
  typeof started === 'string' ? undefined : started

const shownAt = (url: string, data: string): string =>
  `Runsheet: plans are shown and decided at ${url} (a link that signs you in: ${self} url --data ${quoted(data)})`

const otherStore = (url: string): string =>
  `Runsheet: the server at ${url} serves this folder with another --store; plans are decided in the host, if it can ask.`

const noPage = (why: string): string =>
  `Runsheet: the page could not be started; plans are decided in the host, if it can ask. ${why.replaceAll(/\s+/g, ' ')}`
