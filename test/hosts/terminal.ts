import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { HostScene } from './scene.ts'

const SIZE = { columns: 110, lines: 40 }
const RECORDINGS = fileURLToPath(new URL('../../docs/terminals/', import.meta.url))

/** A terminal at which a person sits: tmux, with the host in it. */
export class Terminal {
  readonly #name = `runsheet-${randomUUID()}`
  readonly #env: Readonly<Record<string, string>>

  constructor(scene: HostScene, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#env = { ...scene.env, TERM: 'xterm-256color', ...env }
    const command = [scene.driver.command, ...args].map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    const size = ['-x', String(SIZE.columns), '-y', String(SIZE.lines)]
    // Programs here get this environment, by which the scene finds and ends them.
    this.#tmux('new-session', '-d', ...size, '-c', scene.project, `${command}; sleep 600`)
  }

  /** Keys by tmux's names, such as `Enter` and `Down`. */
  keys(...keys: readonly string[]): void {
    for (const key of keys) this.#tmux('send-keys', key)
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  /** What the person sees. */
  get screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  /** Waits until the person sees this. */
  async sees(...texts: readonly (string | RegExp)[]): Promise<string> {
    for (const text of texts) {
      const seen = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text)
      await expect.poll(() => this.screen).toEqual(seen)
    }
    return this.screen
  }

  /** Keeps the screen, with its colours, for the docs: only with RECORD=1. */
  record(name: string): void {
    if (!process.env['RECORD']) return
    mkdirSync(dirname(RECORDINGS), { recursive: true })
    writeFileSync(`${RECORDINGS}${name}.ansi`, this.#tmux('capture-pane', '-p', '-e').trimEnd().concat('\n'))
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#name, '-f', '/dev/null', ...args], {
      env: this.#env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}
