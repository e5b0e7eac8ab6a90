import { spawn } from 'node:child_process'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'

/** Chooses the editor as git does: a dumb terminal gets no full-screen one. */
export function editorIn(environment: Environment): string {
  const isDumb = (environment['TERM'] ?? 'dumb') === 'dumb'
  const editor = (isDumb ? undefined : environment['VISUAL']) || environment['EDITOR']
  if (editor) return editor
  if (isDumb) throw new CliError('this terminal is too simple for vi, and EDITOR is not set.')
  return process.platform === 'win32' ? 'notepad' : 'vi'
}

/** Throws if the editor fails: the person has not finished then. */
export async function edit(file: string, environment: Environment): Promise<void> {
  const editor = editorIn(environment)
  const [command, args] = started(editor, file)
  // Ctrl-C belongs to the editor while it is open.
  const ignore = (): void => {}
  process.on('SIGINT', ignore).on('SIGQUIT', ignore)
  try {
    const problem = await new Promise<string | undefined>(resolve => {
      spawn(command, args, { stdio: 'inherit', env: withoutOurs(environment), ...shellOnWindows })
        .once('error', error => resolve(error.message))
        .once('exit', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${code ?? signal}`))
    })
    if (problem !== undefined) throw new CliError(`there was a problem with the editor ${editor}: ${problem}.`)
  } finally {
    process.off('SIGINT', ignore).off('SIGQUIT', ignore)
  }
}

/** Through a shell, because the variable may contain arguments. */
const started = (editor: string, file: string): readonly [string, readonly string[]] =>
  process.platform === 'win32' ? [editor, [`"${file}"`]] : ['sh', ['-c', `${editor} "$@"`, editor, file]]

const shellOnWindows = process.platform === 'win32' ? { shell: true } : {}

/** Editors need the user's environment, but none of our tokens. */
const withoutOurs = (environment: Environment): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('RUNSHEET_')))
