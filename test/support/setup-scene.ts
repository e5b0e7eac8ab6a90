import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { BUILT, type Child, runCli, runProcess } from './children.ts'
import { type Ran, runHere } from './in-process.ts'
import { scratchFolder } from './scratch.ts'

type Options = Parameters<typeof runCli>[1]

/** A home folder and a project of its own, in which our program runs. */
export class SetupScene {
  readonly folder = realpathSync(scratchFolder())
  readonly home = join(this.folder, 'home')
  readonly project = join(this.folder, 'project')
  readonly data: string
  readonly #children: Child[] = []

  /** `data`: a folder that is served already, so that nothing has to be started. */
  constructor(data?: string) {
    this.data = data ?? join(this.home, '.runsheet')
    for (const folder of [this.home, this.project]) mkdirSync(folder)
  }

  /** No display, no editor's settings, and a free port for the page. */
  get env(): NodeJS.ProcessEnv {
    const none = ['DISPLAY', 'WAYLAND_DISPLAY', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME', 'GEMINI_CLI_HOME', 'QWEN_HOME']
    return {
      ...Object.fromEntries(none.map(name => [name, ''])),
      HOME: this.home,
      XDG_CONFIG_HOME: join(this.home, '.config'),
      RUNSHEET_PORT: '0',
      RUNSHEET_DATA: this.data,
    }
  }

  start(args: readonly string[], { env, ...options }: Options = {}): Child {
    const child = runCli(args, { cwd: this.project, file: BUILT, env: { ...this.env, ...env }, ...options })
    this.#children.push(child)
    return child
  }

  /** In this process, unless it needs one of its own: with other permissions, or as another file. */
  async run(args: readonly string[], options: Options = {}): Promise<Ran> {
    const { env, cwd = this.project, heldBack, file } = options
    if (!heldBack && file === undefined) return runHere(args, { cwd, env: { ...this.env, ...env } })
    const child = this.start(args, options)
    child.process.stdin?.end()
    const { code, stderr } = await child.ended
    return { code: code ?? 0, out: child.lines.join('\n'), err: stderr }
  }

  /** In a terminal, where a person types this. */
  async atTerminal(args: readonly string[], typed: string): Promise<{ code: number | null; shown: string }> {
    const words = [process.execPath, join(import.meta.dirname, '../..', BUILT), ...args]
    const command = words.map(word => `'${word}'`).join(' ')
    const child = runProcess(['script', '-qec', command, '/dev/null'], {
      cwd: this.project,
      env: { ...process.env, ...this.env },
    })
    this.#children.push(child)
    let shown = ''
    child.process.stdout?.on('data', chunk => {
      shown += String(chunk)
      if (shown.includes('[y/N]')) child.process.stdin?.end(`${typed}\n`)
    })
    const { code } = await child.ended
    return { code, shown }
  }

  write(path: string, text: string, mode = 0o644): string {
    const file = join(this.home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
    return file
  }

  read(path: string): string {
    return readFileSync(join(this.home, path), 'utf8')
  }

  json(path: string): unknown {
    return JSON.parse(this.read(path))
  }

  /** Every file, folder and link but those of data folders: what it is, its mode, its bytes. */
  tree(folder = this.folder): Readonly<Record<string, string>> {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const ours = names.filter(name => !name.split('/').includes('.runsheet')).sort()
    return Object.fromEntries(
      ours.map(name => {
        const path = join(folder, name)
        const stat = lstatSync(path)
        const mode = (stat.mode & 0o7777).toString(8)
        if (stat.isSymbolicLink()) return [name, `link ${readlinkSync(path)}`]
        return [name, stat.isDirectory() ? `folder ${mode}` : `${mode} ${readFileSync(path, 'utf8')}`]
      }),
    )
  }

  /** Ends everything, the page's server included. */
  async end(): Promise<void> {
    for (const child of this.#children) child.process.kill('SIGKILL')
    await Promise.all(this.#children.map(child => child.ended))
    if (this.data.startsWith(this.folder)) await this.endPage()
    await this.endPage(join(this.project, '.runsheet'))
    rmSync(this.folder, { recursive: true })
  }

  async endPage(data = this.data): Promise<void> {
    const file = join(data, 'server.json')
    if (!existsSync(file)) return
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number }
    if (!isAlive(pid)) return
    process.kill(pid)
    await expect.poll(() => isAlive(pid)).toBe(false)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
