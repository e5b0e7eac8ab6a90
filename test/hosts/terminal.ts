import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import { terminalSvg } from './terminal-svg.ts'

export interface TerminalOptions {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const SIZE = { columns: 110, lines: 36 }
const KEY_MS = 300
/** What comes sooner after a text counts as pasted with it. */
const PASTE_MS = 500
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))

/** A terminal at which a person sits: tmux, with a program in it. */
export class Terminal {
  readonly #name = `runsheet-${randomUUID()}`
  readonly #env: Readonly<Record<string, string>>

  constructor({ command, cwd, env }: TerminalOptions) {
    this.#env = { ...env, TERM: 'xterm-256color' }
    if (spawnSync('tmux', ['-V']).error) throw new Error('there is no tmux: install it, for example with apt')
    const line = command.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    const size = ['-x', String(SIZE.columns), '-y', String(SIZE.lines)]
    // The last screen stays in view.
    this.#tmux('new-session', '-d', ...size, '-c', cwd, `${line}; echo; echo "It ended: $?"; sleep 600`)
  }

  /** Keys by tmux's names, such as `Enter` and `Down`. */
  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.#tmux('send-keys', key)
      await delay(KEY_MS)
    }
  }

  /** Presses a key until the person sees this: a program that has just drawn something may not listen yet. */
  async press(key: string, text: string): Promise<void> {
    await expect
      .poll(
        async () => {
          await this.keys(key)
          return this.screen
        },
        { interval: 1_000 },
      )
      .toContain(text)
  }

  async type(text: string): Promise<void> {
    this.#tmux('send-keys', '-l', text)
    await this.sees(text)
    await delay(PASTE_MS)
  }

  /** Types a line. */
  async enter(text: string): Promise<void> {
    await this.type(text)
    await this.keys('Enter')
  }

  /** What the person sees. */
  get screen(): string {
    return this.#tmux('capture-pane', '-p')
  }

  /** Waits until the person sees all of this. */
  async sees(...texts: readonly string[]): Promise<void> {
    await expect.poll(() => texts.filter(text => !this.screen.includes(text))).toEqual([])
  }

  /** Draws the screen for the docs, from the line with this text on: only with RECORD=1. */
  record(name: string, from: string, known: Readonly<Record<string, string>> = {}): void {
    if (!process.env['RECORD']) return
    const lines = this.#tmux('capture-pane', '-p', '-e').trimEnd().split('\n')
    const shown = lines.slice(lines.findIndex(line => line.includes(from)))
    const isBlank = (line = ''): boolean => stripVTControlCharacters(line).trim() === ''
    const text = shown.filter((line, index) => !isBlank(line) || !isBlank(shown[index - 1])).join('\n')
    const replaced = Object.entries(known).reduce((all, [ours, docs]) => all.replaceAll(ours, docs), text)
    writeFileSync(`${IMAGES}${name}.svg`, terminalSvg(`${replaced}\n`))
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#name, '-f', '/dev/null', ...args], {
      env: this.#env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}
