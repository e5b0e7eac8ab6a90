import { chmodSync, existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { newToken, type Role } from '../http/credentials.ts'
import { createPrivateFile, makePrivateFolder, readRegularFile, replacePrivateFile } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import type { Environment } from './clean-environment.ts'
import { CliError } from './cli-error.ts'
import { trackedIn } from './git-tracked.ts'
import { shellWord } from './invocation.ts'
import { MIN_TOKEN_LENGTH } from './token.ts'
import { visible } from '../domain/visible.ts'

const DATABASES = ['runsheet.db', 'server.lock', 'files.lock']
/** Excludes task files, which are meant to be committed and read by other programs. */
const PRIVATE_FILES: readonly string[] = [
  'person-token',
  'agent-token',
  ...DATABASES.flatMap(name => [name, `${name}-wal`, `${name}-shm`, `${name}-journal`]),
  'runsheet.db-head',
  'server.json',
  'serve.log',
  'made-here',
  'port',
  'opencode-secret',
]
/** The .gitignore of a folder that we create: `git add -A` adds only the task files. */
const GIT_RULES = '# Written by Runsheet: tokens and plans are not for others.\n*\n!/.agents/\n!/.agents/**\n'
const MAX_TOKEN_BYTES = 4_096

/** The data folder and its tokens. Created on first use, readable only by its owner. */
export class DataFolder {
  readonly path: string
  /** Print these after everything has opened, so that an error stays a single line. */
  readonly warnings: readonly string[]

  constructor(path: string, environment: Environment) {
    this.path = path
    try {
      const unclear = refuseTracked(path, environment)
      // Only in new folders: elsewhere the rules would hide a project's files from git.
      if (makePrivateFolder(resolve(path))) createPrivateFile(rulesFile(path), GIT_RULES)
      markAsMadeHere(path)
      this.warnings = [...(unclear ? [unclear] : []), ...exposedLines(path)]
    } catch (error) {
      if (error instanceof CliError) throw error
      throw new CliError(`cannot use the data folder ${path}: ${causeOf(error)}. Choose another with --data.`)
    }
  }

  /** Returns the given tokens; reads or creates the others in the folder. */
  tokens(given: Partial<Record<Role, string>>): Record<Role, string> {
    return {
      person: given.person ?? this.#token('person-token'),
      agent: given.agent ?? this.#token('agent-token'),
    }
  }

  personToken(): string | undefined {
    return existsSync(join(this.path, 'person-token')) ? this.#token('person-token') : undefined
  }

  agentToken(): string | undefined {
    return existsSync(join(this.path, 'agent-token')) ? this.#token('agent-token') : undefined
  }

  #token(name: string): string {
    const file = join(this.path, name)
    try {
      // Atomic, because another process may be about to read it.
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

export const hasGitRules = (data: string): boolean => existsSync(rulesFile(data))

/** For commands that must not create the folder. */
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
 * Refuses a folder that came with a clone or that the next push would share. If git fails, it accepts with a warning a
 * folder that this machine created or that has none of our files yet.
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

/** Device, inode and creation time: a clone or a copy cannot match them. */
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

export function exposedLines(data: string): readonly string[] {
  if (!isExposed(data)) return []
  const paths = [data, ...PRIVATE_FILES.map(name => join(data, name)).filter(isExposed)]
  const command = `chmod go= ${paths.map(shellWord).join(' ')}`
  return [visible(`Runsheet: other users of this machine may read ${paths.join(', ')}. Run: ${command}`)]
}

/** Windows does not use mode bits. */
function isExposed(path: string): boolean {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & 0o077) !== 0
}
