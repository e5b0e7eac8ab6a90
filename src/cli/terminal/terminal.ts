import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { HOSTS } from '../../hosts/hosts.ts'
import { CliError } from '../cli-error.ts'
import type { Environment } from '../environment.ts'

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean; setRawMode?(mode: boolean): unknown }
  readonly output: Writable & { readonly isTTY?: boolean; readonly columns?: number }
}

const DRAIN_MS = 100

export const isInteractive = ({ input, output }: Terminal): boolean => input.isTTY === true && output.isTTY === true

/** Discards typeahead: input from before the question does not answer it. */
export async function dropTyped({ input }: Pick<Terminal, 'input'>): Promise<void> {
  input.setRawMode?.(true)
  input.resume()
  await delay(DRAIN_MS)
  input.pause()
  input.setRawMode?.(false)
}

/** Returns '' if the terminal closes, undefined after Ctrl-C. */
export async function ask(question: string, { input, output }: Terminal): Promise<string | undefined> {
  const reader = createInterface({ input, output })
  try {
    const closed = new Promise<string>(resolve => reader.once('close', () => resolve('')))
    return (await Promise.race([reader.question(question), closed])).trim()
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return undefined
    throw error
  } finally {
    reader.close()
  }
}

export interface Choice<T> {
  readonly value: T
  readonly label: string
}

/** The person's choice; Enter alone takes the first one. Undefined after Ctrl-C or if the terminal closes. */
export async function choose<T extends string>(
  message: string,
  choices: readonly Choice<T>[],
  terminal: Terminal,
): Promise<T | undefined> {
  const { isCancel, select } = await import('@clack/prompts')
  await dropTyped(terminal)
  const closed = new AbortController()
  const close = (): void => closed.abort()
  terminal.input.once('end', close)
  try {
    const options = choices as Parameters<typeof select<T>>[0]['options']
    const given = { message, options, ...terminal, withGuide: false, showInstructions: false }
    const answer = await select<T>({ ...given, signal: closed.signal })
    return isCancel(answer) ? undefined : answer
  } finally {
    terminal.input.off('end', close)
  }
}

/** Throws if the editor fails: the person has not finished then. */
export async function edit(file: string, environment: Environment): Promise<void> {
  const isWindows = process.platform === 'win32'
  const editor = environment['VISUAL'] || environment['EDITOR'] || (isWindows ? 'notepad' : 'vi')
  // Through a shell, because the variable may contain arguments.
  const [command, args] = isWindows ? [editor, [`"${file}"`]] : ['sh', ['-c', `${editor} "$@"`, editor, file]]
  // Editors need the user's environment, but none of our tokens.
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('RUNSHEET_')))
  // Ctrl-C belongs to the editor while it is open.
  const ignore = (): void => {}
  process.on('SIGINT', ignore).on('SIGQUIT', ignore)
  try {
    const problem = await new Promise<string | undefined>(resolve => {
      spawn(command, args, { stdio: 'inherit', env, shell: isWindows })
        .once('error', error => resolve(error.message))
        .once('exit', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`))
    })
    if (problem !== undefined) throw new CliError(`there was a problem with the editor ${editor}: ${problem}.`)
  } finally {
    process.off('SIGINT', ignore).off('SIGQUIT', ignore)
  }
}

/**
 * The agent whose shell this is, if it says so. This stops an agent from deciding by accident, not on purpose: it has
 * its user's rights.
 */
export const agentShell = (environment: Environment): string | undefined =>
  Object.values(HOSTS).find(({ shell = [] }) => shell.some(name => environment[name]))?.label
