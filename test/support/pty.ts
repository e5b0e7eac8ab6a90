import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
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

/** Runs our command line in a pseudo terminal. */
export function inPty(args: readonly string[], { env = {}, cwd, columns = 100 }: PtyOptions = {}): Pty {
  const main = fileURLToPath(new URL(`../../${BUILT}`, import.meta.url))
  const words = [process.execPath, main, ...args].map(word => `'${word.replaceAll("'", String.raw`'\''`)}'`)
  const clean = Object.entries(process.env).filter(([name]) => !/^(RUNSHEET|CLAUDE|NO_COLOR|VISUAL|EDITOR)/.test(name))
  const child = spawn('script', ['-qfec', `stty cols ${columns} rows 40; exec ${words.join(' ')}`, '/dev/null'], {
    env: { ...Object.fromEntries(clean), ...NO_SETTINGS, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  let output = ''
  let awaited = 0
  let hasEnded = false
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    tell()
  })
  const ended = new Promise<number | null>(resolve => {
    child.once('close', code => {
      hasEnded = true
      resolve(code)
      tell()
    })
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const shown = (): string => stripVTControlCharacters(output).replaceAll('\r', '')
  return {
    shown,
    raw: () => output,
    until: text =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const at = shown().indexOf(text, awaited)
          if (at < 0 && !hasEnded) return
          listeners.delete(look)
          if (at < 0) return reject(new Error(`it ended without "${text}". It showed:\n${shown()}`))
          awaited = at + text.length
          resolve()
        }
        listeners.add(look)
        look()
      }),
    type: keys => void child.stdin.write(keys),
    ended,
  }
}
