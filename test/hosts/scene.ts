import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, inject } from 'vitest'
import type { ReviewRequest } from '../../src/core/model/review.ts'
import { scratchFolder } from '../support/scratch.ts'
import type { Driver } from './drivers/driver.ts'
import { ScriptedModel } from './model/scripted-model.ts'
import { outline, Person } from './person.ts'
import { Terminal } from './terminal.ts'

/** How long a host gets for a run without a person. */
const RUN_MS = 180_000
const REVIEW_MS = 60_000

/** A program that runs in a scene, in a process group of its own. */
export interface Running {
  readonly process: ChildProcess
  /** What it printed so far. */
  readonly printed: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly printed: string }>
  /** Ends it at once, with the processes of its group. */
  kill(): void
}

export interface TerminalRun {
  /** More arguments. */
  readonly args?: readonly string[]
  /** More variables. */
  readonly env?: Readonly<Record<string, string>>
  /** What it shows first, if not that it can be asked. */
  readonly sees?: string
}

/** A fresh home folder and project, a scripted model, and a person at the page. */
export class HostScene {
  readonly driver: Driver
  readonly home: string
  readonly project: string
  readonly data: string
  readonly model: ScriptedModel
  readonly person: Person
  readonly #folder = realpathSync(scratchFolder())
  readonly #bin: string
  readonly #runs: Running[] = []
  readonly #terminals: Terminal[] = []
  #server: string | undefined

  private constructor(driver: Driver, bin: string, model: ScriptedModel) {
    this.driver = driver
    this.model = model
    this.#bin = bin
    this.home = join(this.#folder, 'home')
    this.project = join(this.home, 'website')
    this.data = join(this.home, '.runsheet')
    this.person = new Person(this.data)
    mkdirSync(this.project, { recursive: true })
    this.addSettings(driver.signedIn ?? {})
  }

  /** `bin`: the folder with the host's program. */
  static async open(driver: Driver, bin: string): Promise<HostScene> {
    return new HostScene(driver, bin, await ScriptedModel.start(driver.api))
  }

  /** As in a terminal of this user, with `runsheet` and the host on the PATH, and nothing of the machine that runs the tests. */
  get env(): Readonly<Record<string, string>> {
    const path = [this.#bin, inject('runsheet'), dirname(process.execPath), process.env['PATH'] ?? '']
    const npm = Object.entries(process.env).filter(([name]) => /^npm_config_(registry|userconfig|cache)$/.test(name))
    return {
      ...(Object.fromEntries(npm) as Record<string, string>),
      HOME: this.home,
      PATH: path.join(delimiter),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ...this.driver.env(this.model.url),
    }
  }

  /** `runsheet …`, which has to end well; returns what it printed. */
  async runsheet(...args: readonly string[]): Promise<string> {
    const { code, printed } = await this.attempt(...args)
    expect(code, `runsheet ${args.join(' ')}\n${printed}`).toBe(0)
    return printed
  }

  /** `runsheet …`, however it ends. */
  attempt(...args: readonly string[]): Running['ended'] {
    const ours = { RUNSHEET_PORT: '0', RUNSHEET_BROWSER: 'off', RUNSHEET_IDLE_EXIT: '10m' }
    return this.start('runsheet', args, ours).ended
  }

  setup(...more: readonly string[]): Promise<string> {
    return this.runsheet('setup', this.driver.name, '--yes', ...more)
  }

  /** Runs the host with a prompt, in a new session or in this one. */
  run(prompt: string, session?: string, env?: Readonly<Record<string, string>>): Running {
    const args = this.driver.args(prompt, { modelUrl: this.model.url, session, server: this.#server })
    return this.start(this.driver.command, args, env)
  }

  /** Starts the host in a terminal, and waits until it can be asked. */
  async terminal({ args = [], env = {}, sees }: TerminalRun = {}): Promise<Terminal> {
    const { command, terminal } = this.driver
    const words = [command, ...terminal.args(this.model.url), ...args]
    const opened = new Terminal({ command: words, cwd: this.project, env: { ...this.env, ...env } })
    this.#terminals.push(opened)
    await opened.sees(sees ?? terminal.ready)
    return opened
  }

  /** Variables of a desktop whose browser only notes what it is told to open. */
  get browser(): Readonly<Record<string, string>> {
    const program = join(this.home, 'browser')
    writeFileSync(program, `#!/bin/sh\necho "$1" >> '${program}.opened'\n`, { mode: 0o755 })
    return { DISPLAY: ':9', BROWSER: program }
  }

  /** What the browser was told to open. */
  opened(): readonly string[] {
    return readOrNothing(join(this.home, 'browser.opened')).split('\n').filter(Boolean)
  }

  /** Starts the host's own server, for hosts whose gate works only there. Later runs use it. */
  async serve(): Promise<void> {
    const { server } = this.driver
    if (!server) return
    const running = this.start(this.driver.command, server.args)
    await expect.poll(() => server.urlIn(running.printed())).toBeDefined()
    this.#server = server.urlIn(running.printed())
  }

  start(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Running {
    const child = spawn(command, args, {
      cwd: this.project,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let text = `$ ${command} ${args.join(' ')}\n`
    const note = (chunk: unknown): void => void (text += String(chunk))
    child.stdout.on('data', note)
    child.stderr.on('data', note)
    child.on('error', error => note(error.message))
    const kill = (): void => signalGroup(child.pid)
    const timer = setTimeout(kill, RUN_MS)
    const ended = new Promise<{ code: number | null; printed: string }>(resolve => {
      child.once('close', code => {
        clearTimeout(timer)
        resolve({ code, printed: text })
      })
    })
    const running = { process: child, printed: () => text, ended, kill }
    this.#runs.push(running)
    return running
  }

  /** The next plan that waits for the person. Fails if all of these runs end first. */
  async review(...runs: readonly Running[]): Promise<ReviewRequest> {
    const over = new AbortController()
    const review = this.person.review(AbortSignal.any([over.signal, AbortSignal.timeout(REVIEW_MS)]))
    if (runs.length === 0) return review
    const ended = Promise.all(runs.map(run => run.ended)).then(() => {
      throw new Error(`${this.driver.label} ended without a plan`)
    })
    return Promise.race([review, ended]).finally(() => over.abort())
  }

  /** Puts settings into the home folder, by their path there. */
  addSettings(settings: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(settings)) {
      mkdirSync(dirname(join(this.home, path)), { recursive: true })
      writeFileSync(join(this.home, path), text)
    }
  }

  /** Writes a file into the project. */
  readonly write = (path: string, text: string): void => writeFileSync(join(this.project, path), text)

  /** The processes of this user: those whose home folder this is. */
  processes(): readonly number[] {
    const mark = `\0HOME=${this.home}\0`
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .filter(pid => `\0${readOrNothing(`/proc/${pid}/environ`)}`.includes(mark))
      .map(Number)
  }

  /** What happened, for a test that failed. */
  async story(): Promise<string> {
    const asked = this.model.asked.map(({ request, answer }, index) => {
      const heard = request.results.at(-1)?.text ?? request.said.at(-1) ?? ''
      return `${index + 1}. heard ${JSON.stringify(heard.slice(0, 400))}\n   answered ${JSON.stringify(answer).slice(0, 400)}`
    })
    const plans = await this.person.plans().catch(() => [])
    const parts = {
      'the model': asked.join('\n'),
      plans: plans.map(plan => [plan.title, ...outline(plan)].join('\n  ')).join('\n'),
      ...Object.fromEntries(this.#terminals.map(({ screen }, index) => [`terminal ${index + 1}`, screen])),
      ...Object.fromEntries(this.#runs.map((run, index) => [`program ${index + 1}`, tail(run.printed())])),
    }
    return Object.entries(parts)
      .map(([name, text]) => `--- ${name}\n${text}\n`)
      .join('')
  }

  /** Ends the page's server. */
  async endPage(): Promise<void> {
    const { pid } = this.person.server ?? {}
    if (pid === undefined) return
    process.kill(pid)
    await expect.poll(() => this.processes()).not.toContain(pid)
  }

  /** Ends everything that was started here, by its id, and removes the folder. */
  async end(): Promise<void> {
    await this.model.close()
    await expect
      .poll(() => {
        const left = this.processes()
        for (const pid of left) signal(pid)
        return left
      })
      .toEqual([])
    rmSync(this.#folder, { recursive: true, maxRetries: 5 })
  }
}

/** The first line, which is the command, and the end. */
const tail = (text: string): string => `${text.slice(0, text.indexOf('\n'))}\n…${text.slice(-3_000)}`

const signalGroup = (pid: number | undefined): void => {
  if (pid !== undefined) signal(-pid)
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
