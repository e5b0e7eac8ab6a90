import { chmodSync, existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { newToken, type Role } from '../http/credentials.ts'
import { createPrivateFile, makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { SETTINGS_FILE } from './default-paths.ts'
import { trackedIn } from './git-tracked.ts'
import { shellWord } from './invocation.ts'
import { MIN_TOKEN_LENGTH } from './token.ts'
import { visible } from '../domain/visible.ts'

const DATABASES = ['runsheet.db', 'server.lock', 'files.lock']
/** Our own files in a data folder. Not the task files, which are made to be committed and read by other programs. */
const PRIVATE_FILES: readonly string[] = [
  'person-token',
  'agent-token',
  SETTINGS_FILE,
  ...DATABASES.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
  'runsheet.db-head',
  'server.json',
  'serve.log',
  'made-here',
  'port',
  'opencode-secret',
]
/** For git, in a folder that we make: `git add -A` takes the task files, which are made to be committed, and nothing else. */
const GIT_RULES = '# Written by Runsheet: tokens and plans are not for others.\n*\n!/.agents/\n!/.agents/**\n'
const MAX_TOKEN_BYTES = 4_096

/** The data folder and the tokens in it. Created on first use, readable by its owner only. */
export class DataFolder {
  readonly path: string
  /** Lines about what is not as it should be. To be printed once all is open: an error is one line. */
  readonly warnings: readonly string[]

  /** Git is asked about the folder in this environment. */
  constructor(path: string, environment: Environment) {
    this.path = path
    try {
      const unclear = refuseTracked(path, environment)
      // Only there: the rules would hide the files of a project from git.
      if (makePrivateFolder(resolve(path))) createPrivateFile(rulesFile(path), GIT_RULES)
      markAsMadeHere(path)
      this.warnings = [...(unclear ? [unclear] : []), ...exposedLines(path)]
    } catch (error) {
      if (error instanceof CliError) throw error
      throw new CliError(`cannot use the data folder ${path}: ${causeOf(error)}. Choose another with --data.`)
    }
  }

  /** The tokens: those given, and from the folder the others, created on first use. */
  tokens(given: Partial<Record<Role, string>>): Record<Role, string> {
    return {
      person: given.person ?? this.#token('person-token'),
      agent: given.agent ?? this.#token('agent-token'),
    }
  }

  /** The person's token, if the folder has one. */
  personToken(): string | undefined {
    return existsSync(join(this.path, 'person-token')) ? this.#token('person-token') : undefined
  }

  /** The agents' token, if the folder has one. */
  agentToken(): string | undefined {
    return existsSync(join(this.path, 'agent-token')) ? this.#token('agent-token') : undefined
  }

  #token(name: string): string {
    const file = join(this.path, name)
    try {
      // In one step: another process may be about to read it.
      if (!existsSync(file)) replacePrivateFile(file, `${newToken()}\n`)
      const token = readRegularFile(file, { maxBytes: MAX_TOKEN_BYTES, follow: false }).toString('utf8').trim()
      if (isExposed(file)) chmodSync(file, 0o600)
      if (token.length >= MIN_TOKEN_LENGTH) return token
    } catch (error) {
      throw new CliError(`cannot use the token file ${file}: ${causeOf(error)}.`)
    }
    throw new CliError(
      `the token in ${file} is shorter than ${MIN_TOKEN_LENGTH} characters. Delete the file to get a new one.`,
    )
  }
}

const rulesFile = (data: string): string => join(data, '.gitignore')

/** Whether the folder tells git what not to take. */
export const hasGitRules = (data: string): boolean => existsSync(rulesFile(data))

/** For commands that make no folder. */
export function existingFolder({
  data,
  environment,
}: {
  readonly data: string
  readonly environment: Environment
}): void {
  if (!existsSync(data)) throw new CliError(`the data folder ${data} does not exist. Set it with --data.`)
  refuseTracked(data, environment)
}

/**
 * Refuses a folder that came with a clone, or that the next push would share. If git cannot say, a folder that we made on
 * this machine, or that has none of our files yet, is used with a line about it.
 */
export function refuseTracked(data: string, environment: Environment): string | undefined {
  const tracked = trackedIn(data, PRIVATE_FILES, environment)
  if (!tracked) return undefined
  if ('unclear' in tracked) {
    const problem = `git cannot say whether it tracks files in ${data}: ${tracked.unclear}`
    if (isMadeHere(data) || !PRIVATE_FILES.some(name => existsSync(join(data, name)))) {
      return visible(`Runsheet: ${problem}`)
    }
    throw new CliError(`${problem}. The tokens there may not be yours. Choose another folder with --data.`)
  }
  const { repository, files } = tracked
  const words = files.map(shellWord).join(' ')
  throw new CliError(
    `git tracks ${files.join(', ')}: everybody with this repository has your tokens and plans, or made them. Choose another folder with --data; or, if it is yours: git -C ${shellWord(repository)} rm --cached ${words}, and delete the tokens, which are not secret any more.`,
  )
}

/** A clone or a copy cannot know the number of the folder that it ends up in. */
const markOf = (data: string): string => {
  const { dev, ino, birthtimeNs } = statSync(data, { bigint: true })
  return `${dev}-${ino}-${birthtimeNs}\n`
}

const markFile = (data: string): string => join(data, 'made-here')

function isMadeHere(data: string): boolean {
  try {
    return readRegularFile(markFile(data), { maxBytes: 200, follow: false }).toString('utf8') === markOf(data)
  } catch {
    return false
  }
}

function markAsMadeHere(data: string): void {
  if (!isMadeHere(data)) replacePrivateFile(markFile(data), markOf(data))
}

/** One line if others may enter the folder, with our files in it that they may read. */
export function exposedLines(data: string): readonly string[] {
  if (!isExposed(data)) return []
  const paths = [data, ...PRIVATE_FILES.map(name => join(data, name)).filter(isExposed)]
  const command = `chmod go= ${paths.map(shellWord).join(' ')}`
  return [visible(`Runsheet: other users of this machine may read ${paths.join(', ')}. Run: ${command}`)]
}

/** Whether its mode lets the group or others do anything. Windows has other ways to say so. */
function isExposed(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}
