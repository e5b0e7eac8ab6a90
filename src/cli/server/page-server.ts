import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openPrivateLog } from '../../store/private-file.ts'
import { type DataFolder, usualPort } from './data-folder.ts'
import { cleanEnvironment, type Environment, pageEnvironment } from '../environment.ts'
import { urlCommand } from '../invocation.ts'
import { storeLocation } from './open-store.ts'
import { ServerLock, type ServerNote } from './server-lock.ts'
import type { SettingsOptions } from './settings.ts'

export interface PageServerOptions extends SettingsOptions {
  readonly store: string
  readonly idleExit: string
  readonly token?: string
  /** Node arguments that start this program. */
  readonly program: readonly string[]
}

type PageFolder = Pick<DataFolder, 'path' | 'personToken'>

const START_TIMEOUT_MS = 20_000
const END_TIMEOUT_MS = 10_000
const POLL_MS = 50
const RETRY_AFTER_MS = 10_000
const LOGIN_TIMEOUT_MS = 3_000

/** The page's server: a separate process on the same data folder that outlives this one. */
export class PageServer {
  readonly #folder: PageFolder
  readonly #options: PageServerOptions
  readonly #print: (line: string) => void
  #starting: Promise<ServerNote | undefined> | undefined
  #failedAt = -Infinity
  #printed = ''

  /** `print` gets a line whenever the page's URL, or the reason for its absence, changes. */
  constructor(folder: PageFolder, options: PageServerOptions, print: (line: string) => void) {
    this.#folder = folder
    this.#options = options
    this.#print = print
  }

  /** The running server if it serves our store; starts one if none runs. */
  async ready(): Promise<ServerNote | undefined> {
    let note: ServerNote | undefined
    try {
      note = await this.#running()
    } catch (error) {
      this.#report(noPage(`${(error as Error).message.replace(/\.$/, '')}.`))
      return undefined
    }
    if (!note) {
      this.#report(noPage(`See ${this.#logFile}.`))
      return undefined
    }
    const isOurs = this.#isOurs(note)
    this.#report(isOurs ? pageAt(note.url, this.#signInCommand) : otherStore(note.url))
    return isOurs ? note : undefined
  }

  /** Like `ready`, but starts none. */
  running(): ServerNote | undefined {
    const serving = ServerLock.serving(this.#folder.path)
    return typeof serving === 'object' && this.#isOurs(serving) ? serving : undefined
  }

  judges(): boolean {
    // Most servers have no judge; reading the note first avoids opening the lock.
    return ServerLock.note(this.#folder.path)?.judges === true && this.running()?.judges === true
  }

  /** Optionally with a single-use sign-in code. */
  async link(conversation: string, signedIn: boolean): Promise<string | undefined> {
    const note = await this.ready()
    if (!note) return undefined
    const url = new URL(`?chat=${conversation}`, note.url)
    const code = signedIn ? await this.#loginCode(note) : undefined
    if (code !== undefined) url.hash = `code=${code}`
    return url.href
  }

  async #running(): Promise<ServerNote | undefined> {
    const serving = ServerLock.serving(this.#folder.path)
    if (typeof serving === 'object' && !(this.#isOurs(serving) && (await needsRestart(serving)))) return serving
    if (typeof serving === 'object') await this.#end(serving)
    if (!this.#starting && performance.now() - this.#failedAt < RETRY_AFTER_MS) return undefined
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    const note = await this.#starting
    if (!note) this.#failedAt = performance.now()
    return note
  }

  /** Ends a server that can no longer save anything, for example because its folder was moved. */
  async #end({ pid }: ServerNote): Promise<void> {
    // The note is an untrusted file: 0 and negative numbers would signal process groups.
    if (!Number.isSafeInteger(pid) || pid <= 1) return
    process.kill(pid)
    const deadline = performance.now() + END_TIMEOUT_MS
    while (ServerLock.serving(this.#folder.path) !== undefined && performance.now() < deadline) {
      await delay(POLL_MS, undefined, { ref: false })
    }
  }

  /** Tries the usual port first, where open pages reconnect and browsers are signed in; falls back to a free one. */
  async #start(): Promise<ServerNote | undefined> {
    const usual = this.#options.environment['RUNSHEET_PORT'] ?? String(usualPort(this.#folder.path))
    const onUsualPort = await this.#startOn(usual)
    const started = onUsualPort === 'exited' ? await this.#startOn('0') : onUsualPort
    return typeof started === 'object' ? started : undefined
  }

  async #startOn(port: string): Promise<ServerNote | 'exited' | 'slow'> {
    const server = this.#spawn(port)
    let hasExited = false
    server.once('close', () => (hasExited = true))
    const deadline = performance.now() + START_TIMEOUT_MS
    while (performance.now() < deadline) {
      await delay(POLL_MS, undefined, { ref: false })
      const serving = ServerLock.serving(this.#folder.path)
      if (typeof serving === 'object') return serving
      // It also exits if another server is starting on this folder: wait for that one.
      if (hasExited && serving === undefined) return 'exited'
    }
    return 'slow'
  }

  /**
   * Starts the server in its own session and reparents it through an intermediate process: a host that kills its
   * servers' process trees must not end the page. Returns a stream that closes when the server exits.
   */
  #spawn(port: string): Socket {
    const { store, config, idleExit, program, environment } = this.#options
    const log = openPrivateLog(this.#logFile)
    // Only a file that the user named. The server finds a default one itself and trusts it no more than we do.
    const named = config.by === 'cli' ? ['--config', config.file] : []
    const serve = ['serve', '--port', port, '--idle-exit', idleExit, ...named]
    const between = spawn(process.execPath, ['-e', startDetached([...program, ...serve])], {
      windowsHide: true,
      stdio: ['ignore', 'ignore', log, 'pipe'],
      // Not on the command line, which every process can read: a store's URL may contain a password.
      env: { ...pageEnvironment(environment), RUNSHEET_DATA: this.#folder.path, RUNSHEET_STORE: store },
    })
    closeSync(log)
    between.once('error', () => {}).unref()
    const lifeline = between.stdio[3] as Socket
    return lifeline.resume().unref()
  }

  /** Undefined if the server uses another token; its page then asks to sign in. */
  async #loginCode({ local }: ServerNote): Promise<string | undefined> {
    const token = this.#options.token ?? this.#folder.personToken()
    if (token === undefined) return undefined
    const { createClient } = await import('../../client/client.ts')
    const login = createClient({ url: local, token }).loginCode(AbortSignal.timeout(LOGIN_TIMEOUT_MS))
    return login.then(
      ({ code }) => code,
      () => undefined,
    )
  }

  #isOurs({ store }: ServerNote): boolean {
    return store === storeLocation(this.#options.store)
  }

  get #logFile(): string {
    return join(this.#folder.path, 'serve.log')
  }

  get #signInCommand(): string {
    return urlCommand(this.#options.invocation, this.#folder.path)
  }

  #report(line: string): void {
    if (line === this.#printed) return
    this.#printed = line
    this.#print(line)
  }
}

/**
 * A script that starts Node in its own session. The server inherits the last descriptor, so the stream closes when it
 * exits.
 */
const startDetached = (args: readonly string[]): string =>
  `require('node:child_process').spawn(process.execPath, ${JSON.stringify(args)}, {
    detached: true, windowsHide: true, stdio: ['ignore', 'ignore', 'inherit', 3],
  }).unref()`

const pageAt = (url: string, command: string): string =>
  `Runsheet: review plans at ${url} (for a sign-in link: ${command})`

const HOST_ONLY = 'You can review plans only in your host, if it supports elicitation.'

const otherStore = (url: string): string =>
  `Runsheet: the server at ${url} uses another --store and cannot show these plans. ${HOST_ONLY}`

const noPage = (why: string): string =>
  `Runsheet: could not start the page. ${HOST_ONLY} ${why.replaceAll(/\s+/g, ' ')}`

const ANSWER_MS = 2_000

/** True if the server reports that its database was moved, deleted or replaced. */
export async function needsRestart({ local }: ServerNote): Promise<boolean> {
  try {
    const answer = await fetch(new URL('/readyz', local), { signal: AbortSignal.timeout(ANSWER_MS) })
    return answer.status === 503 && (await answer.text()).includes('Restart the server')
  } catch {
    return false
  }
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // Not `start`: cmd would interpret the `&` of a URL.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Variables that a browser needs to find the desktop. */
const DESKTOP = /^(DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DESKTOP_SESSION|(XDG|DBUS|KDE|GNOME|MATE|WSL)_.*|WSLENV)$/

/** Undefined without a local browser: no display, SSH or CI. */
export function browserFor(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): ((url: string) => void) | undefined {
  if (!hasDisplay(environment, platform)) return undefined
  const chosen = environment['BROWSER']
  const [command = 'xdg-open', ...args] = chosen ? [chosen] : (OPENERS[platform] ?? [])
  const desktop = Object.entries(environment).filter(([name]) => DESKTOP.test(name))
  const env = { ...cleanEnvironment(environment, platform), ...Object.fromEntries(desktop) }
  return url => {
    const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore', windowsHide: true, env })
    // Without an opener the user still has the printed URL.
    child.once('error', () => {}).unref()
  }
}

function hasDisplay(environment: Environment, platform: NodeJS.Platform): boolean {
  if (['SSH_CONNECTION', 'SSH_CLIENT', 'SSH_TTY', 'CI'].some(name => environment[name])) return false
  if (platform in OPENERS) return true
  return Boolean(environment['DISPLAY'] || environment['WAYLAND_DISPLAY'])
}
