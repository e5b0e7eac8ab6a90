import { spawn, spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Terminal } from '../../src/cli/terminal/terminal.ts'
import { BUILT, NO_SETTINGS } from './children.ts'

/** Why there are no pseudo terminals here; empty if there are. `script` is part of every Debian, and differs elsewhere. */
export const noPty: string =
  process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
    ? ''
    : ' (skipped: needs script of util-linux)'

export interface PtyOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly columns?: number
}

/** A person's terminal, in which one of our commands runs. */
export interface Pty {
  /** All that it has shown, as text. */
  shown(): string
  /** The same with its control sequences. */
  raw(): string
  /** Resolves once it has shown this after what was awaited last; rejects if the program ends first. */
  until(text: string): Promise<void>
  type(keys: string): void
  readonly ended: Promise<number | null>
}

export const CTRL_C = '\u0003'
export const DOWN = '\u001b[B'
export const ENTER = '\r'

/** Runs our command line in a pseudo terminal. */
export function inPty(args: readonly string[], { env = {}, cwd, columns = 100 }: PtyOptions = {}): Pty {
  const main = fileURLToPath(new URL(`../../${BUILT}`, import.meta.url))
  const words = [process.execPath, main, ...args].map(word => `'${word.replaceAll("'", String.raw`'\''`)}'`)
  const clean = Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|CLAUDE|NO_COLOR|VISUAL|EDITOR)/.test(name))
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows 40; exec ${words.join(' ')}`, '/dev/null'], {
    env: { ...Object.fromEntries(clean), ...NO_SETTINGS, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const screen = new Screen()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => screen.add(chunk))
  const ended = new Promise<number | null>(resolve => {
    child.once('close', code => {
      resolve(code)
      screen.end()
    })
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return screen.pty(keys => void child.stdin.write(keys), ended)
}

/** Runs a command of ours in this process, in a terminal in which a person types. */
export function typedInto(run: (terminal: Terminal) => Promise<number>): Pty {
  const screen = new Screen()
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 40 })
  output.setEncoding('utf8').on('data', (chunk: string) => screen.add(chunk))
  const ended = run({ input, output }).finally(() => screen.end())
  return screen.pty(keys => void input.write(keys), ended)
}

/** What a terminal has shown. */
class Screen {
  #output = ''
  #awaited = 0
  #hasEnded = false
  readonly #listeners = new Set<() => void>()

  add(chunk: string): void {
    this.#output += chunk
    for (const listener of this.#listeners) listener()
  }

  end(): void {
    this.#hasEnded = true
    this.add('')
  }

  pty(type: Pty['type'], ended: Pty['ended']): Pty {
    const shown = (): string => stripVTControlCharacters(this.#output).replaceAll('\r', '')
    return {
      shown,
      raw: () => this.#output,
      until: text =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const at = shown().indexOf(text, this.#awaited)
            if (at < 0 && !this.#hasEnded) return
            this.#listeners.delete(look)
            if (at < 0) return reject(new Error(`it ended without "${text}". It showed:\n${shown()}`))
            this.#awaited = at + text.length
            resolve()
          }
          this.#listeners.add(look)
          look()
        }),
      type,
      ended,
    }
  }
}
