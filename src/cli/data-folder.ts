import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { newToken, type Role } from '../http/credentials.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'

/** The data folder and the tokens in it. Created on first use, readable by its owner only. */
export class DataFolder {
  readonly path: string

  constructor(path: string) {
    this.path = path
    try {
      makeFolder(resolve(path))
    } catch (error) {
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
      if (!existsSync(file)) createToken(file)
      chmodSync(file, 0o600)
      const token = readFileSync(file, 'utf8').trim()
      if (token.length >= MIN_TOKEN_LENGTH) return token
    } catch (error) {
      throw new CliError(`cannot use the token file ${file}: ${causeOf(error)}.`)
    }
    throw new CliError(`the token in ${file} is too short. Delete the file to get a new one.`)
  }
}

const MIN_TOKEN_LENGTH = 16

function createToken(file: string): void {
  try {
    writeFileSync(file, `${newToken()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    // Another process created it first; its token counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Creates the folder and its parents. Node's recursive mkdir hangs where a parent cannot hold folders, as in /proc. */
function makeFolder(path: string): void {
  if (existsSync(path) && statSync(path).isDirectory()) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!existsSync(path) || !statSync(path).isDirectory()) throw error
  }
}
