import { existsSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SANDBOX_FILES } from '../runner/demo/sandbox.ts'
import { createPrivateFile, makePrivateFolder } from '../store/private-file.ts'
import { causeOf } from './cause.ts'
import { CliError } from './cli-error.ts'

export function knownSandbox(data: string): string | undefined {
  const folder = join(data, 'sandbox')
  return existsSync(folder) ? folder : undefined
}

/** Creates the demo's project once; existing files stay. */
export function sandboxIn(data: string): string {
  const folder = join(data, 'sandbox')
  if (existsSync(folder)) return folder
  // Created under a temporary name and renamed, so that it is complete or absent.
  const temporary = `${folder}.new-${process.pid}`
  try {
    rmSync(temporary, { recursive: true, force: true })
    makePrivateFolder(resolve(temporary))
    for (const [name, text] of Object.entries(SANDBOX_FILES)) createPrivateFile(join(temporary, name), text)
    renameSync(temporary, folder)
  } catch (error) {
    throw new CliError(`cannot make the demo's sandbox ${folder}: ${causeOf(error)}.`)
  }
  return folder
}
