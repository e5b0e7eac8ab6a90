import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_DATA } from './default-paths.ts'
import { version } from './version.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const isSource = import.meta.url.endsWith('.ts')

export interface Shell {
  /** The PATH of the process. */
  readonly path: string
  /** The folder where the command will be typed; absent if that is unknown. */
  readonly cwd?: string
}

/** The command that runs this program again. It works as printed, so it depends on how the program was installed. */
export function invocation({ path, cwd }: Shell): string {
  if (isSource) return cwd !== undefined && isRoot(cwd) ? 'npm run -s runsheet --' : absolute('src/cli/main.ts')
  if (isOnPath(path)) return 'runsheet'
  return cwd !== undefined && isFoundByNpx(cwd) ? 'npx runsheet' : absolute('dist/cli/runsheet.js')
}

/** The file that Node runs for this program. */
export const programFile = (): string => join(ROOT, isSource ? 'src/cli/main.ts' : 'dist/cli/runsheet.js')

/** How to get `runsheet` onto the PATH. Not by name: the package is not published, and the name is open to strangers. */
export const installCommand = (): string =>
  `in a clone of Runsheet, npm ci && npm pack && npm install -g ./runsheet-${version}.tgz`

/** The command that writes a host's settings. */
export const setupCommand = (invocation: string, host: string, scope: string): string =>
  `${invocation} setup ${host}${scope === 'user' ? '' : ` --scope ${scope}`}`

/** The command that prints a sign-in link for the server of a data folder. */
export const urlCommand = (invocation: string, data: string): string => `${invocation} url${dataOption(data)}`

/** The command that serves a data folder. */
export const serveCommand = (invocation: string, data: string): string => `${invocation} serve${dataOption(data)}`

/** The command that decides what waits; it finds the folder by itself unless that was named. */
export const reviewCommand = (invocation: string, data = DEFAULT_DATA): string =>
  `${invocation} review${dataOption(data)}`

/** The command that saves what can be read of a damaged database. */
export const recoverCommand = (invocation: string, data: string): string => `${invocation} recover${dataOption(data)}`

/** The command that shows a settings file and asks to trust it. */
export const trustCommand = (invocation: string, file: string): string => `${invocation} trust ${shellWord(file)}`

const dataOption = (data: string): string => (data === DEFAULT_DATA ? '' : ` --data ${shellWord(data)}`)

/** The Node that runs now: a plain `node` may be too old. */
const absolute = (file: string): string => `${shellWord(process.execPath)} ${shellWord(join(ROOT, file))}`

/** A global install. npm and npx put folders named `node_modules/.bin` on our PATH that the user's shell lacks. */
function isOnPath(path: string): boolean {
  const folders = path.split(delimiter).filter(folder => folder && !folder.endsWith(join('node_modules', '.bin')))
  const found = folders.map(folder => join(folder, 'runsheet')).find(file => existsSync(file))
  return found !== undefined && !relative(ROOT, realpathSync(found)).startsWith(`..${sep}`)
}

/** npx runs the nearest install above the current folder. */
function isFoundByNpx(cwd: string): boolean {
  const installed = join(cwd, 'node_modules', 'runsheet')
  if (existsSync(installed)) return isRoot(installed)
  return dirname(cwd) !== cwd && isFoundByNpx(dirname(cwd))
}

const isRoot = (folder: string): boolean => relative(ROOT, realpathSync(folder)) === ''

export const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
